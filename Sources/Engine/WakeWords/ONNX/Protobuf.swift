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
    /// What all that is read is taken from.
    let budget: ModelBudget

    init(_ bytes: [UInt8], _ range: Range<Int>, _ budget: ModelBudget) {
        self.bytes = bytes
        self.range = range
        self.budget = budget
    }

    /// The next field: its number in the schema, and its content; nil at the end.
    mutating func next() throws(WakeWordError) -> (field: Int, content: Content)? {
        guard !range.isEmpty else { return nil }
        try budget.step()
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
    func text(_ content: Content) throws(WakeWordError) -> String {
        guard case .bytes(let place) = content else { return "" }
        try budget.take(ModelBudget.object + min(place.count, 200))
        return String(decoding: bytes[place.prefix(200)], as: UTF8.self)
    }

    /// The message that a field holds.
    func message(_ content: Content) throws(WakeWordError) -> Protobuf {
        guard case .bytes(let place) = content else { throw .damaged.saying("a part is not of the expected kind") }
        return Protobuf(bytes, place, budget)
    }

    /// The numbers that a field holds: one, or several packed.
    func numbers(_ content: Content) throws(WakeWordError) -> [Int] {
        try budget.take(ModelBudget.object)
        switch content {
        case .number(let number): return [Int(Int64(bitPattern: number))]
        case .bytes(let place):
            // Each ends with a byte below 128.
            let count = bytes[place].count { $0 < 128 }
            try budget.take(count, of: MemoryLayout<Int>.stride)
            try budget.step(place.count)
            var (packed, numbers): (Protobuf, [Int]) = (Protobuf(bytes, place, budget), [])
            numbers.reserveCapacity(count)
            while !packed.range.isEmpty { numbers.append(Int(Int64(bitPattern: try packed.number()))) }
            return numbers
        }
    }

    /// Adds the numbers that a field holds to those of fields before.
    func append(_ content: Content, to all: inout [Int]) throws(WakeWordError) {
        let more = try numbers(content)
        // A list that grows is twice as long for a while.
        try budget.take(more.count, of: 2 * MemoryLayout<Int>.stride)
        if all.isEmpty { all = more } else { all += more }
    }

    /// The numbers of a fixed size that a field holds, little-endian: one, or several packed.
    func elements<Bits: FixedWidthInteger, Element>(
        _ type: Bits.Type,
        _ content: Content,
        _ element: (Bits) -> Element
    ) throws(WakeWordError) -> [Element] {
        guard case .bytes(let place) = content else { throw .damaged.saying("a part is not of the expected kind") }
        let size = MemoryLayout<Bits>.size
        guard place.count % size == 0 else { throw .damaged.saying("a list of numbers has \(place.count) bytes") }
        try budget.take(ModelBudget.object)
        try budget.take(place.count / size, of: MemoryLayout<Element>.stride)
        return bytes.withUnsafeBytes { all in
            (0..<place.count / size).map {
                element(
                    Bits(littleEndian: all.loadUnaligned(fromByteOffset: place.lowerBound + size * $0, as: Bits.self))
                )
            }
        }
    }

    /// The integers of a fixed size that a field holds.
    func integers<Bits: FixedWidthInteger>(_ type: Bits.Type, _ content: Content) throws(WakeWordError) -> [Int] {
        try elements(type, content) { Int(truncatingIfNeeded: $0) }
    }

    /// The floats of 32 bits that a field holds.
    func floats(_ content: Content) throws(WakeWordError) -> [Float] {
        try elements(UInt32.self, content) { Float(bitPattern: $0) }
    }
}
