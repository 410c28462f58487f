private let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

/// Base64 of bytes (RFC 4648), with padding.
public func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let part = bytes[start..<min(start + 3, bytes.count)]
        var group = part.reduce(0) { $0 << 8 | Int($1) }
        group <<= 8 * (3 - part.count)
        for index in 0..<4 {
            text.append(index <= part.count ? alphabet[group >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
        }
    }
    return String(decoding: text, as: UTF8.self)
}

/// The bytes of a text that ``base64(_:)`` gives, and of no other; nil for others.
public func bytes(base64 text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (group, count) = (0, 0)
    for character in text.utf8.prefix(while: { $0 != UInt8(ascii: "=") }) {
        guard let value = alphabet.firstIndex(of: character) else { return nil }
        (group, count) = (group << 6 | value, count + 1)
        guard count == 4 else { continue }
        bytes += [16, 8, 0].map { UInt8(truncatingIfNeeded: group >> $0) }
        (group, count) = (0, 0)
    }
    if count > 1 {
        group <<= 6 * (4 - count)
        bytes += [16, 8].prefix(count - 1).map { UInt8(truncatingIfNeeded: group >> $0) }
    }
    return base64(bytes) == text ? bytes : nil
}
