private import Core
private import Network

/// The address that a webhook posts to: `http://host[:port]/path`, or the same with `https`.
public struct WebAddress: Equatable, Sendable {
    /// As the user wrote it.
    public let text: String
    /// Whether it is one of https.
    public let isSecure: Bool
    /// A name or an address in lower case; IPv6 without brackets.
    public let host: String
    public let port: UInt16
    /// Path and query, as sent in the request line.
    public let target: String

    /// - Throws: ``InvalidValue``.
    public init(_ text: String) throws(InvalidValue) {
        func refuse(_ reason: String) -> InvalidValue {
            InvalidValue("'\(text)' \(reason); an address looks like http://127.0.0.1:8123/path")
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw refuse(
                "has blanks, control characters or letters beyond ASCII, which must be written as %20 and so on"
            )
        }
        let start = text.lowercased()
        isSecure = start.hasPrefix("https://")
        guard isSecure || start.hasPrefix("http://") else { throw refuse("begins with neither http:// nor https://") }
        let rest = text.dropFirst(isSecure ? 8 : 7)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else {
            throw refuse("holds a user's name or password, which is not supported")
        }
        let tail = rest[end...].prefix { $0 != "#" }
        target = tail.hasPrefix("/") ? String(tail) : "/" + tail

        var host = authority
        var port: Substring?
        if authority.hasPrefix("[") {
            guard let close = authority.firstIndex(of: "]") else { throw refuse("has a [ without its ]") }
            host = authority[authority.index(after: authority.startIndex)..<close]
            let after = authority[authority.index(after: close)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw refuse("has something between ] and the port") }
            port = after.isEmpty ? nil : after.dropFirst()
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        guard !host.isEmpty else { throw refuse("names no host") }
        guard let number = UInt16(digits: port ?? (isSecure ? "443" : "80")), number > 0 else {
            throw refuse("has no port from 1 to 65535")
        }
        self.text = text
        self.host = host.lowercased()
        self.port = number
    }

    /// Whether the host is this machine, judged by its text alone, without a name lookup.
    public var isLoopback: Bool {
        host == "localhost" || IPAddress(host)?.isLoopback ?? false
    }

    /// Whether both are of the same service: scheme, host and port are the same (RFC 6454).
    public func isSameOrigin(as other: WebAddress) -> Bool {
        isSecure == other.isSecure && host == other.host && port == other.port
    }

    /// Whether this is the other one's host by TLS, both on the usual ports: where servers send those who come without TLS.
    public func isSecured(_ other: WebAddress) -> Bool {
        isSecure && port == 443 && !other.isSecure && other.port == 80 && host == other.host
    }
}
