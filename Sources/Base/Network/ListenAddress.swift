private import Core
import Glibc
private import System

/// Where a server listens: `tcp://127.0.0.1:10400`, `tcp://[::1]:10400` or `unix:///run/beckon/wyoming.socket`.
///
/// Hosts are addresses in numbers, or `localhost`: a server that looked names up would wait for name servers.
public enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IPv4 or IPv6 address in numbers, the latter without brackets; `0.0.0.0` or `::` for all of this machine's.
    case tcp(host: String, port: UInt16)
    case unix(path: String)

    /// - Throws: ``SocketError`` that says how an address looks, or what was meant.
    public init(_ text: String) throws(SocketError) {
        do throws(SocketError) {
            self = try Self.checked(text)
        } catch {
            let advice =
                Self.meant(by: text).map { "write \($0)" }
                ?? "an address looks like tcp://127.0.0.1:10400 or unix:///run/beckon/wyoming.socket"
            throw SocketError("'\(text)' \(error); \(advice)")
        }
    }

    /// - Throws: why the text is not an address, as the end of a sentence.
    private static func checked(_ text: String) throws(SocketError) -> ListenAddress {
        if text.hasPrefix("unix://") {
            let path = String(text.dropFirst(7))
            guard path.hasPrefix("/"), path.utf8.count <= 107, !path.contains("\0") else {
                throw SocketError("needs a path that begins with / and has at most 107 bytes")
            }
            return .unix(path: path)
        }
        guard text.hasPrefix("tcp://") else { throw SocketError("begins with neither tcp:// nor unix://") }
        let rest = text.dropFirst(6)
        guard let colon = rest.lastIndex(of: ":"), let port = UInt16(digits: rest[rest.index(after: colon)...]),
            port > 0
        else {
            throw SocketError("has no port from 1 to 65535")
        }
        var host = String(rest[..<colon])
        if host == "localhost" { host = "127.0.0.1" }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard host.contains(":"), let address = IPAddress(host), address.zone == nil else {
                throw SocketError("has no IPv6 address between [ and ]")
            }
        } else {
            guard !host.contains(":"), IPAddress(host) != nil else {
                throw SocketError("names no address in numbers, which is needed, as names are not looked up")
            }
        }
        return .tcp(host: host, port: port)
    }

    /// What a text that is not an address may have meant: one without its scheme, with that of the web, or a port alone; nil for no idea.
    public static func meant(by text: String) -> ListenAddress? {
        guard (try? checked(text)) == nil else { return nil }
        if text.hasPrefix("/") { return try? checked("unix://" + text) }
        var rest = text[...]
        for scheme in ["tcp://", "tcp:", "http://", "https://", "ws://", "mqtt://"] where rest.hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.count)
            break
        }
        while rest.hasPrefix("/") { rest = rest.dropFirst() }
        while rest.hasSuffix("/") { rest = rest.dropLast() }
        if rest.hasPrefix("*:") { rest = "0.0.0.0" + rest.dropFirst() }
        if rest.hasPrefix(":"), !rest.hasPrefix("::") { rest = rest.dropFirst() }
        if !rest.isEmpty, rest.utf8.allSatisfy({ (48...57).contains($0) }) { rest = "127.0.0.1:" + rest }
        // Of more than one colon without brackets the last is before the port.
        if !rest.hasPrefix("["), rest.utf8.count(where: { $0 == 58 }) > 1, let colon = rest.lastIndex(of: ":") {
            rest = "[\(rest[..<colon])]" + rest[colon...]
        }
        return try? checked("tcp://" + rest)
    }

    /// The machine that a text means which is no host alone: one with a scheme, a port, a path or brackets; nil for no idea.
    public static func host(meantBy text: String) -> String? {
        var rest = text[...]
        if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
        rest = rest.prefix { $0 != "/" }
        if rest.hasPrefix("[") {
            rest = rest.dropFirst().prefix { $0 != "]" }
        } else if rest.utf8.count(where: { $0 == 58 }) == 1 {
            rest = rest.prefix { $0 != ":" }
        }
        let host = String(rest)
        return IPAddress(host) != nil || HostName.isValid(host) ? host : nil
    }

    public var description: String {
        switch self {
        case .tcp(let host, let port): "tcp://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .unix(let path): "unix://\(path)"
        }
    }

    /// Whether only programs of this machine can connect.
    public var isLocal: Bool {
        switch self {
        case .tcp(let host, _): IPAddress(host)?.isLoopback ?? false
        case .unix: true
        }
    }

    /// The TCP port; nil for a unix socket.
    public var port: UInt16? {
        if case .tcp(_, let port) = self { port } else { nil }
    }

    /// Whether two servers cannot listen at both addresses: the same one, or the same port where one is for all addresses of this machine.
    public func overlaps(_ other: ListenAddress) -> Bool {
        guard case .tcp(let host, let port) = self, case .tcp(let otherHost, let otherPort) = other else {
            return self == other
        }
        let all = ["0.0.0.0", "::"]
        return port == otherPort && (host == otherHost || all.contains(host) || all.contains(otherHost))
    }

    /// Connects to a server there; may wait for its machine.
    ///
    /// - Returns: a blocking socket, which the caller closes; nil with `errno` set if that fails.
    public func connect() -> Int32? {
        guard let address = SocketAddress(self) else { return nil }
        let socket = address.makeSocket(isBlocking: true)
        guard socket.isOpen, address.call(Glibc.connect, socket) == 0 else {
            let failure = errno
            socket.close()
            errno = failure
            return nil
        }
        return socket.take()
    }
}
