/// A message of Protocol Buffers in memory: its fields, one after the other. Every length is checked before it is used.
///
/// Source: the format's description by Google.
struct Protobuf {
    enum Content {
        /// A number of up to 64 bits.
        case number(UInt64)
        /// Four or eight bytes, or a text, a message or packed numbers: their places.
        case bytes(Range<Int>)
    }

    let bytes: [UInt8]
    private(set) var range: Range<Int>

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        self.range = range
    }

    /// The next field: its number in the schema, and its content; nil at the end.
    mutating func next() throws(WakeWordError) -> (field: Int, content: Content)? {
        guard !range.isEmpty else { return nil }
        let tag = try number()
        let field = Int(truncatingIfNeeded: tag >> 3 & 0x1FFF_FFFF)
        switch tag & 7 {
        case 0: return (field, .number(try number()))
        case 1: return (field, .bytes(try take(8)))
        case 2:
            let count = try number()
            guard count <= UInt64(range.count) else { throw .damaged.saying("a part ends outside of the file") }
            return (field, .bytes(try take(Int(count))))
        case 5: return (field, .bytes(try take(4)))
        default:
            throw .damaged.saying(
                "not an ONNX file, or damaged",
                advice: "name a head, a file that ends in .tflite or .onnx"
            )
        }
    }

    /// A number of seven bits a byte.
    mutating func number() throws(WakeWordError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            let byte = bytes[try take(1).lowerBound]
            number |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
        }
        throw .damaged.saying("a number has more than 64 bits")
    }

    private mutating func take(_ count: Int) throws(WakeWordError) -> Range<Int> {
        guard count <= range.count else { throw .damaged.saying("the file ends too early") }
        let taken = range.lowerBound..<range.lowerBound + count
        range = taken.upperBound..<range.upperBound
        return taken
    }

    /// A text of at most 200 bytes.
    func text(_ content: Content) -> String {
        guard case .bytes(let place) = content else { return "" }
        return String(decoding: bytes[place.prefix(200)], as: UTF8.self)
    }

    /// The message that a field holds.
    func message(_ content: Content) throws(WakeWordError) -> Protobuf {
        guard case .bytes(let place) = content else { throw .damaged.saying("a part is not of the expected kind") }
        return Protobuf(bytes, place)
    }

    /// The numbers that a field holds: one, or several packed.
    func numbers(_ content: Content) throws(WakeWordError) -> [Int] {
        switch content {
        case .number(let number): return [Int(Int64(bitPattern: number))]
        case .bytes(let place):
            var (packed, numbers): (Protobuf, [Int]) = (Protobuf(bytes, place), [])
            while !packed.range.isEmpty { numbers.append(Int(Int64(bitPattern: try packed.number()))) }
            return numbers
        }
    }

    /// The integers of a fixed size that a field holds, little-endian.
    func integers<Number: FixedWidthInteger>(_ type: Number.Type, _ content: Content) throws(WakeWordError) -> [Number]
    {
        guard case .bytes(let place) = content else { throw .damaged.saying("a part is not of the expected kind") }
        let size = MemoryLayout<Number>.size
        guard place.count % size == 0 else { throw .damaged.saying("a list of numbers has \(place.count) bytes") }
        return bytes.withUnsafeBytes { all in
            stride(from: place.lowerBound, to: place.upperBound, by: size).map {
                Number(littleEndian: all.loadUnaligned(fromByteOffset: $0, as: Number.self))
            }
        }
    }

    /// The floats of 32 bits that a field holds: one, or several packed.
    func floats(_ content: Content) throws(WakeWordError) -> [Float] {
        try integers(UInt32.self, content).map { Float(bitPattern: $0) }
    }
}
