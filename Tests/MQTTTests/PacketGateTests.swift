import Testing

@testable import MQTT

struct PacketGateTests {
    /// A PUBLISH with this many bytes after its header.
    private static func publish(_ length: Int, quality: UInt8 = 0) -> [UInt8] {
        header(0x30 | quality << 1, length) + [UInt8](repeating: 7, count: length)
    }

    private static func header(_ first: UInt8, _ length: Int) -> [UInt8] {
        var (bytes, left) = ([first], length)
        repeat {
            bytes.append(UInt8(left % 128) | (left >= 128 ? 0x80 : 0))
            left /= 128
        } while left > 0
        return bytes
    }

    /// What is passed of a stream that comes in parts; nil if it is refused.
    private static func passed(_ bytes: [UInt8], parts: Int) -> [UInt8]? {
        var gate = PacketGate()
        var passed: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: parts) {
            var part = bytes[start..<min(start + parts, bytes.count)]
            while !part.isEmpty {
                switch try? gate.take(part) {
                case .pass:
                    passed += part
                    part = []
                case .drop(let count)?:
                    guard (1...part.count).contains(count) else { return nil }
                    part = part.dropFirst(count)
                case nil: return nil
                }
            }
        }
        return passed
    }

    private static let pong: [UInt8] = [0xD0, 0]

    @Test(arguments: [0, 1, 127, 128, 16_383, 16_384]) func `short packets pass, however they are cut`(_ length: Int) {
        let stream = Self.pong + Self.publish(length) + Self.pong
        for parts in [1, 2, 3, 5, 100, 16_384, 100_000] { #expect(Self.passed(stream, parts: parts) == stream) }
    }

    @Test func `a message that is too long is dropped where its beginning is not passed`() {
        let stream = Self.publish(300_000) + Self.pong
        for parts in [5, 100, 16_384, 1_000_000] { #expect(Self.passed(stream, parts: parts) == Self.pong, "\(parts)") }
        // Its header came in two parts, and the library has the first.
        for parts in [1, 2, 3] { #expect(Self.passed(stream, parts: parts) == nil) }
        // Or it follows what the library has to read.
        #expect(Self.passed(Self.pong + stream, parts: 100) == nil)
    }

    @Test(arguments: [1, 2] as [UInt8]) func `a message of a quality that was not asked for is dropped`(
        _ quality: UInt8
    ) {
        #expect(Self.passed(Self.publish(20, quality: quality) + Self.pong, parts: 100) == Self.pong)
    }

    @Test(
        arguments: [
            // QoS 3, types of clients, wrong flags, a length of five bytes, HTTP, a TLS alert, and packets that cannot be dropped.
            [0x36, 0], [0x10, 0], [0x80, 0], [0xC0, 0], [0xE0 | 1, 0], [0x00, 0], [0x30, 0x80, 0x80, 0x80, 0x80, 1],
            Array("HTTP/1.1 400".utf8), [0x15, 3, 3, 0, 2], header(0x20, 20_000), header(0x90, 16_385),
            header(0xD0, 1 << 27),
        ] as [[UInt8]]
    )
    func `what no broker may send is refused`(_ bytes: [UInt8]) {
        #expect(Self.passed(bytes + [UInt8](repeating: 0, count: 20_000), parts: 100) == nil)
    }

    @Test func `the topic of a message is known from its first bytes`() {
        let payload: [UInt8] = [0, 3] + Array("a/b".utf8) + [1, 2]
        #expect(PacketGate.topic((Self.header(0x30, payload.count) + payload)[...]) == "a/b")
        #expect(PacketGate.topic([0x30, 0xFF, 0x7F, 0, 200, 65][...]) == "A")
        #expect(PacketGate.topic([0x30, 5, 0][...]) == nil && PacketGate.topic([0xD0, 0][...]) == nil)
    }
}
