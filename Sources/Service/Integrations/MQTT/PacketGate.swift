/// Checks the framing of what a broker sends, before libmosquitto reads it.
///
/// The library (2.0.11) allocates whatever length a packet declares, up to 256 MiB, and keeps messages of QoS 2 until they are
/// released. So a message that is longer than any command, or that is sent with another quality than Beckon asked for (0), is
/// dropped here byte by byte; anything else that is too long ends the connection.
///
/// A pure value: it takes the bytes as they come, in parts of any size.
public struct PacketGate: Equatable, Sendable {
    /// Most bytes of a packet after its fixed header. Commands have some dozens, and topics at most some hundreds.
    public static let longest = 16_384

    /// The fixed header of a packet: type, flags and length.
    struct Head: Equatable, Sendable {
        /// Bytes of the header itself, 2 to 5.
        var size: Int
        /// Bytes that follow it.
        var length: Int
        var type: UInt8
        /// Of a PUBLISH; 0 for others.
        var quality: Int

        private static let publish: UInt8 = 3
        /// PUBREL, the one other packet with a flag.
        private static let release: UInt8 = 6
        /// Types that a client alone sends: CONNECT, SUBSCRIBE, UNSUBSCRIBE, PINGREQ; and 0, which nobody does.
        private static let ofClients: [UInt8] = [0, 1, 8, 10, 12]

        /// Reads a header from the first bytes of a packet; nil if more bytes are needed.
        ///
        /// - Throws: if no packet begins so.
        init?(_ bytes: some RandomAccessCollection<UInt8>) throws(MQTTError) {
            guard let first = bytes.first else { return nil }
            (type, length, size) = (first >> 4, 0, 1)
            quality = type == Self.publish ? Int(first >> 1 & 3) : 0
            let areFlagsRight = type == Self.publish ? quality < 3 : first & 15 == (type == Self.release ? 2 : 0)
            guard areFlagsRight, !Self.ofClients.contains(type) else { throw .notMQTT }
            var factor = 1
            for byte in bytes.dropFirst().prefix(4) {
                size += 1
                length += Int(byte & 0x7F) * factor
                if byte < 0x80 { return }
                factor *= 128
            }
            guard size < 5 else { throw .notMQTT }
            return nil
        }

        /// Whether the library may read the packet.
        var isPassed: Bool { length <= PacketGate.longest && quality == 0 }
        /// Whether the packet can be dropped without the broker waiting for an answer.
        var isDroppable: Bool { type == Self.publish }
    }

    /// What to do with the bytes.
    public enum Verdict: Equatable, Sendable {
        /// The library may read all of them.
        case pass
        /// The first ones belong to a message that is dropped.
        case drop(Int)
    }

    /// Bytes that are still to come of the packet that is passed or dropped.
    private var rest = 0
    private var isDropping = false
    /// The beginning of a header whose end is to come.
    private var partial: [UInt8] = []
    /// Messages that were dropped.
    public private(set) var dropped = 0

    public init() {}

    /// Whether a packet has begun and not ended.
    var isInside: Bool { rest > 0 || !partial.isEmpty }

    /// Decides about the next bytes. After ``Verdict/drop(_:)`` it is asked again with those that follow the dropped ones.
    ///
    /// - Throws: if they are not MQTT, or hold the beginning of a packet that is neither short nor can be dropped.
    public mutating func take(_ bytes: ArraySlice<UInt8>) throws(MQTTError) -> Verdict {
        if isDropping {
            let count = min(rest, bytes.count)
            rest -= count
            isDropping = rest > 0
            if count > 0 { return .drop(count) }
        }
        var left = bytes
        while !left.isEmpty {
            if rest > 0 {
                let count = min(rest, left.count)
                rest -= count
                left = left.dropFirst(count)
                continue
            }
            let known = partial.count
            guard let head = try Head(partial + left.prefix(5 - known)) else {
                partial += left
                break
            }
            partial = []
            if head.isPassed {
                left = left.dropFirst(head.size - known)
                rest = head.length
                continue
            }
            // Bytes that the library has to read come before it, or it has read the beginning.
            guard head.isDroppable, known == 0, left.startIndex == bytes.startIndex else { throw .tooLong(head) }
            dropped += 1
            let size = head.size + head.length
            let count = min(size, left.count)
            (rest, isDropping) = (size - count, size > count)
            return .drop(count)
        }
        return .pass
    }

    /// The topic of a PUBLISH, as far as its first bytes show it; for messages.
    static func topic(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let head = try? Head(bytes), head.isDroppable else { return nil }
        let rest = bytes.dropFirst(head.size)
        guard let high = rest.first, let low = rest.dropFirst().first else { return nil }
        return String(decoding: rest.dropFirst(2).prefix(min(200, Int(high) << 8 | Int(low))), as: UTF8.self)
    }
}
