/// Finds the frames in what a client sends: each is a marker, a length and a message. Bytes may be cut anywhere.
struct FrameParser {
    /// A message with its type; encrypted frames have the type in what they encrypt.
    struct Frame: Equatable {
        /// Nil in an encrypted frame.
        var type: Int?
        var bytes: [UInt8]
    }

    /// The longest message: Home Assistant's are some kilobytes, and an encrypted frame cannot be longer.
    static let longest = 0xFFFF

    private let isEncrypted: Bool
    /// Bytes of the header that is read, of which `body` follows.
    private var header: [UInt8] = []
    private var body: [UInt8] = []
    /// What the header says, once it is complete.
    private var expected: (type: Int?, count: Int)?

    init(isEncrypted: Bool) { self.isEncrypted = isEncrypted }

    /// Whether the client is in the middle of a frame.
    var isWithinFrame: Bool { !header.isEmpty }

    /// The next whole frame.
    ///
    /// - Parameter input: what was used is removed from its beginning.
    /// - Returns: nil where all bytes were used.
    mutating func next(_ input: inout UnsafeBufferPointer<UInt8>) throws(APIViolation) -> Frame? {
        while expected == nil {
            guard let byte = input.first else { return nil }
            input = UnsafeBufferPointer(rebasing: input.dropFirst())
            header.append(byte)
            expected = try readHeader()
        }
        guard let (type, count) = expected else { return nil }
        let taken = input.prefix(count - body.count)
        body += taken
        input = UnsafeBufferPointer(rebasing: input.dropFirst(taken.count))
        guard body.count == count else { return nil }
        defer { (header, body, expected) = ([], [], nil) }
        return Frame(type: type, bytes: body)
    }

    /// The type and length of a complete header; nil of one that goes on.
    private func readHeader() throws(APIViolation) -> (type: Int?, count: Int)? {
        guard header.first == (isEncrypted ? 1 : 0) else { throw APIViolation("Bad indicator byte") }
        if isEncrypted {
            guard header.count == 3 else { return nil }
            return (nil, Int(header[1]) << 8 | Int(header[2]))
        }
        var rest = header.dropFirst()
        guard let count = try Self.varint(&rest) else { return nil }
        guard count <= Self.longest else { throw APIViolation("a message is too long") }
        guard let type = try Self.varint(&rest) else { return nil }
        return (type, count)
    }

    /// A number of at most three bytes; nil where more follow.
    private static func varint(_ bytes: inout ArraySlice<UInt8>) throws(APIViolation) -> Int? {
        var value = 0
        for shift in stride(from: 0, to: 21, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            value |= Int(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw APIViolation("a message is too long")
    }

    /// A message as a frame without encryption.
    static func plain(_ type: Int, _ message: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = [0]
        ProtobufWriter.append(UInt64(message.count), to: &frame)
        ProtobufWriter.append(UInt64(type), to: &frame)
        return frame + message
    }

    /// Bytes as a frame of an encrypted connection.
    ///
    /// - Parameter bytes: at most ``longest``.
    static func encrypted(_ bytes: [UInt8]) -> [UInt8] {
        [1, UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }
}
