/// What is wrong with bytes that a client sent; the connection ends.
struct APIViolation: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Reads the fields of a message in the wire format of Protocol Buffers, one after the other.
///
/// By hand, because the protocol needs no more than four kinds of values: nothing is generated, and no byte is read outside its message.
struct ProtobufReader {
    /// A field's number and value. A value of another kind than the message expects reads as zero, as if the field were absent.
    struct Field {
        enum Value {
            case varint(UInt64)
            case fixed(UInt32)
            case bytes(ArraySlice<UInt8>)
            /// 64 bits, which no message here has.
            case wide
        }

        let number: Int
        let value: Value

        var isSet: Bool { integer != 0 }

        /// Numbers that need more than 32 bits are the largest of these: none has a meaning.
        var integer: Int { if case .varint(let value) = value { Int(min(value, UInt64(Int32.max))) } else { 0 } }

        var fixed: UInt32 { if case .fixed(let value) = value { value } else { 0 } }

        var float: Float { Float(bitPattern: fixed) }

        var bytes: ArraySlice<UInt8> { if case .bytes(let bytes) = value { bytes } else { [] } }

        /// Bytes that are not UTF-8 are replaced.
        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// The next field; nil at the end.
    mutating func next() throws(APIViolation) -> Field? {
        guard !rest.isEmpty else { return nil }
        let tag = try varint()
        let number = Int(truncatingIfNeeded: tag >> 3)
        guard (1...Self.mostFields).contains(tag >> 3) else { throw APIViolation("a field has no valid number") }
        switch tag & 7 {
        case 0: return Field(number: number, value: .varint(try varint()))
        case 1:
            _ = try take(8)
            return Field(number: number, value: .wide)
        case 2:
            let count = try varint()
            guard count <= UInt64(rest.count) else { throw APIViolation("a field is longer than its message") }
            return Field(number: number, value: .bytes(try take(Int(count))))
        case 5:
            let bytes = try take(4)
            let value = bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return Field(number: number, value: .fixed(value))
        default: throw APIViolation("a field is of an unknown kind")
        }
    }

    private static let mostFields: UInt64 = 536_870_911

    private mutating func take(_ count: Int) throws(APIViolation) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw APIViolation("a field is longer than its message") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    private mutating func varint() throws(APIViolation) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = rest.popFirst() else { throw APIViolation("a number is longer than its message") }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw APIViolation("a number has more than ten bytes")
    }
}

/// Writes a message in the same format. Values that are zero or empty are left out, as the format wants it.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ field: Int, _ number: Int) {
        guard number > 0 else { return }
        append(field, kind: 0)
        Self.append(UInt64(number), to: &bytes)
    }

    mutating func add(_ field: Int, _ flag: Bool) { add(field, flag ? 1 : 0) }

    mutating func add(_ field: Int, _ text: String) { add(field, Array(text.utf8)) }

    mutating func add(_ field: Int, _ data: [UInt8]) { if !data.isEmpty { always(field, data) } }

    mutating func add(_ field: Int, fixed value: UInt32) {
        append(field, kind: 5)
        for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func add(_ field: Int, _ value: Float) { if value != 0 { add(field, fixed: value.bitPattern) } }

    /// An element of a list, which may be empty.
    mutating func always(_ field: Int, _ data: [UInt8]) {
        append(field, kind: 2)
        Self.append(UInt64(data.count), to: &bytes)
        bytes += data
    }

    mutating func add(_ field: Int, message write: (inout ProtobufWriter) -> Void) {
        var inner = ProtobufWriter()
        write(&inner)
        always(field, inner.bytes)
    }

    private mutating func append(_ field: Int, kind: UInt64) { Self.append(UInt64(field) << 3 | kind, to: &bytes) }

    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
