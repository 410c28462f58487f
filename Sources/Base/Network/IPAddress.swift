private import Core
import Glibc

/// An IPv4 or IPv6 address, read from numbers: every spelling of an address is the same address.
///
/// IPv4 in IPv6 (`::ffff:127.0.0.1`) is IPv4. Numbers in other forms than those of RFC 4291 and four decimal bytes, such as `1.2.3.+4`,
/// `127.1`, `0x7f.0.0.1` or `010.0.0.1`, are no address: other programs take them for names.
public struct IPAddress: Equatable, Sendable, CustomStringConvertible {
    /// 4 or 16, in the order of the network.
    public let bytes: [UInt8]
    /// The network of a link-local address, such as `eth0`; nil where none is named.
    public let zone: String?
    /// As it was written.
    public let text: String

    /// Nil for any other text.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let number = parts.first, number.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        if number.contains(":") {
            guard let bytes = Self.bytes(String(number), AF_INET6, count: 16) else { return nil }
            // inet_pton writes them as the network does: ten bytes 0, two bytes 255, then IPv4.
            let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10..<12].allSatisfy { $0 == 0xFF }
            self.bytes = isMapped ? Array(bytes[12...]) : bytes
        } else {
            guard parts.count == 1, let bytes = Self.bytes(String(number), AF_INET, count: 4) else { return nil }
            self.bytes = bytes
        }
        if parts.count == 2 {
            let zone = String(parts[1])
            guard !zone.isEmpty, zone.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
            self.zone = zone
        } else {
            zone = nil
        }
        self.text = String(text)
    }

    /// The address at the other end of a connected socket; nil on a unix socket.
    public init?(peerOf descriptor: Int32) {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let found: IPAddress? = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard getpeername(descriptor, pointer, &length) == 0 else { return nil }
                return IPAddress(pointer, length: length)
            }
        }
        guard let found else { return nil }
        self = found
    }

    /// An address of a socket; nil for one that is not of IP.
    init?(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard [AF_INET, AF_INET6].contains(Int32(address.pointee.sa_family)),
            getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        self.init(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    public static func == (left: IPAddress, right: IPAddress) -> Bool {
        left.bytes == right.bytes && left.zone == right.zone
    }

    public var description: String { text }

    /// Whether only programs of this machine can use it.
    public var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// Whether `other` is this address; without a zone, in any zone.
    public func includes(_ other: IPAddress) -> Bool { bytes == other.bytes && (zone == nil || zone == other.zone) }

    private static func bytes(_ text: String, _ family: Int32, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
}
