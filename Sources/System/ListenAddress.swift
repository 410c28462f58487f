private import CSystem
private import Core
import Glibc

/// Where a server listens: `tcp://127.0.0.1:10400`, `tcp://[::1]:10400` or `unix:///run/beckon/wyoming.socket`.
///
/// Hosts are addresses in numbers, or `localhost`: a server that looked names up would wait for name servers.
public enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IPv4 or IPv6 address in numbers, the latter without brackets; `0.0.0.0` or `::` for all of this machine's.
    case tcp(host: String, port: UInt16)
    case unix(path: String)

    /// - Throws: ``SocketError`` that says how an address looks.
    public init(_ text: String) throws(SocketError) {
        func refuse(_ reason: String) -> SocketError {
            SocketError(
                "'\(text)' \(reason); an address looks like tcp://127.0.0.1:10400 or unix:///run/beckon/wyoming.socket"
            )
        }
        if text.hasPrefix("unix://") {
            let path = String(text.dropFirst(7))
            guard path.hasPrefix("/"), path.utf8.count <= 107, !path.contains("\0") else {
                throw refuse("needs a path that begins with / and has at most 107 bytes")
            }
            self = .unix(path: path)
            return
        }
        guard text.hasPrefix("tcp://") else { throw refuse("begins with neither tcp:// nor unix://") }
        let rest = text.dropFirst(6)
        guard let colon = rest.lastIndex(of: ":"), let port = UInt16(digits: rest[rest.index(after: colon)...]),
            port > 0
        else {
            throw refuse("has no port from 1 to 65535")
        }
        var host = String(rest[..<colon])
        if host == "localhost" { host = "127.0.0.1" }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard host.contains(":"), let address = IPAddress(host), address.zone == nil else {
                throw refuse("has no IPv6 address between [ and ]")
            }
        } else {
            guard !host.contains(":"), IPAddress(host) != nil else {
                throw refuse("names no address in numbers, which is needed, as names are not looked up")
            }
        }
        self = .tcp(host: host, port: port)
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

    /// Connects to a server there; may wait for its machine.
    ///
    /// - Returns: a blocking socket, which the caller closes; nil with `errno` set if that fails.
    public func connect() -> Int32? {
        switch self {
        case .unix(let path):
            guard let address = UnixSocket.address(path) else { return nil }
            return Self.connect(AF_UNIX, address)
        case .tcp(let host, let port):
            if host.contains(":") {
                var address = sockaddr_in6()
                address.sin6_family = sa_family_t(AF_INET6)
                address.sin6_port = port.bigEndian
                inet_pton(AF_INET6, host, &address.sin6_addr)
                return Self.connect(AF_INET6, address)
            }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            inet_pton(AF_INET, host, &address.sin_addr)
            return Self.connect(AF_INET, address)
        }
    }

    private static func connect<Address>(_ family: Int32, _ address: Address) -> Int32? {
        let number = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return nil }
        var address = address
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(number, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard result == 0 else {
            let failure = errno
            close(number)
            errno = failure
            return nil
        }
        return number
    }

    /// The address in numbers of the other end of a TCP connection; nil for other sockets. IPv4 through an IPv6 socket is IPv4.
    public static func peer(of descriptor: Int32) -> String? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard getpeername(descriptor, pointer, &length) == 0, pointer.pointee.sa_family != AF_UNIX else {
                    return EAI_FAMILY
                }
                return getnameinfo(pointer, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            }
        }
        guard result == 0 else { return nil }
        let peer = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return peer.hasPrefix("::ffff:") && peer.contains(".") ? String(peer.dropFirst("::ffff:".count)) : peer
    }
}

/// A stream socket that accepts connections, TCP or unix; non-blocking. Its file, if it has one, goes with it.
public final class ListeningSocket: Sendable {
    /// With the port that the system chose, where 0 was asked for.
    public let address: ListenAddress
    public let descriptor: FileDescriptor
    /// Device and inode of a unix socket's file, so that only its own is removed.
    private let file: [UInt64]

    /// Most connections that wait to be accepted.
    private static let backlog: Int32 = 256

    /// - Throws: ``SocketError``, for instance if another program listens there.
    public init(_ address: ListenAddress) throws(SocketError) {
        switch address {
        case .unix(let path):
            descriptor = try UnixSocket.listen(path, mode: 0o660)
            file = Self.identity(of: path)
            self.address = address
        case .tcp(let host, let port):
            descriptor = try Self.listen(host, port, address)
            self.address = .tcp(host: host, port: Self.port(of: descriptor.rawValue))
            file = []
        }
    }

    deinit { removeFile() }

    /// Removes the file of a unix socket, unless another program has replaced it. Nobody can connect any more.
    public func removeFile() {
        if case .unix(let path) = address, !file.isEmpty, Self.identity(of: path) == file { unlink(path) }
    }

    private static func identity(of path: String) -> [UInt64] {
        var status = stat()
        return lstat(path, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : []
    }

    private static func listen(
        _ host: String,
        _ port: UInt16,
        _ address: ListenAddress
    ) throws(SocketError) -> FileDescriptor {
        func failure(_ function: String) -> SocketError {
            let advice =
                switch errno {
                case EADDRINUSE: "another program listens there; stop it or choose another port"
                case EADDRNOTAVAIL: "this machine does not have the address; ip address shows those it has"
                case EACCES: "choose a port from 1024 on"
                default: "check the address"
                }
            return SocketError("cannot listen at \(address): \(function): \(SystemError.text(errno)); \(advice)")
        }
        let isSix = host.contains(":")
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = FileDescriptor(socket(isSix ? AF_INET6 : AF_INET, type, 0))
        guard descriptor.isOpen else { throw failure("socket") }
        let number = descriptor.rawValue
        // A service that starts again finds its port free, though connections of the one before linger.
        set(number, SOL_SOCKET, SO_REUSEADDR, 1)
        var storage = sockaddr_storage()
        let length: socklen_t
        if isSix {
            // `::` also takes IPv4.
            set(number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0)
            var target = sockaddr_in6()
            target.sin6_family = sa_family_t(AF_INET6)
            target.sin6_port = port.bigEndian
            inet_pton(AF_INET6, host, &target.sin6_addr)
            length = store(target, in: &storage)
        } else {
            var target = sockaddr_in()
            target.sin_family = sa_family_t(AF_INET)
            target.sin_port = port.bigEndian
            inet_pton(AF_INET, host, &target.sin_addr)
            length = store(target, in: &storage)
        }
        let isBound = withAddress(&storage) { bind(number, $0, length) } == 0
        guard isBound else { throw failure("bind") }
        guard Glibc.listen(number, backlog) == 0 else { throw failure("listen") }
        return descriptor
    }

    /// The port that a socket is bound to.
    private static func port(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        guard withAddress(&storage, { getsockname(descriptor, $0, &length) }) == 0 else { return 0 }
        // It stands at the same place in addresses of IPv4 and IPv6.
        let port = withUnsafeBytes(of: &storage) { $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self) }
        return UInt16(bigEndian: port)
    }

    private static func store<Address>(_ address: Address, in storage: inout sockaddr_storage) -> socklen_t {
        withUnsafeBytes(of: address) { bytes in
            withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: bytes) }
        }
        return socklen_t(MemoryLayout<Address>.size)
    }

    private static func withAddress(
        _ storage: inout sockaddr_storage,
        _ body: (UnsafeMutablePointer<sockaddr>) -> Int32
    ) -> Int32 {
        withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

extension ListeningSocket {
    /// What ``accept()`` found.
    public enum Accepted: ~Copyable {
        case connection(FileDescriptor)
        /// No connection waits.
        case none
        /// The system has no descriptor or memory for it; try again later.
        case exhausted
    }

    /// Accepts the next connection, non-blocking and closed on exec. Never waits.
    public func accept() -> Accepted {
        let connection = FileDescriptor(CSystem_accept(descriptor.rawValue))
        guard connection.isOpen else {
            return [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(errno) ? .exhausted : .none
        }
        if case .tcp = address { Self.prepare(connection.rawValue) }
        return .connection(connection)
    }

    /// Small answers leave at once; a peer that is gone without a word is noticed within a minute.
    private static func prepare(_ descriptor: Int32) {
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, 30)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPCNT, 3)
    }
}
