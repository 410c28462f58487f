/// A FlatBuffers file in memory: tables of fields, and vectors, by their places. Every place is checked before it is read.
///
/// Numbers are little-endian. A table begins with the distance back to its list of fields, which has the offset of each field, or 0 for a
/// field that is not stored. Source: the format's description by Google.
struct FlatBuffer {
    /// The place of a table.
    struct Table {
        fileprivate let place: Int
    }

    /// The elements of a vector.
    struct Vector {
        /// The place of the first element.
        let start: Int
        let count: Int
    }

    let bytes: [UInt8]
    /// What all that is read is taken from: a list that several tables share counts each time.
    let budget: ModelBudget

    init(bytes: [UInt8], budget: ModelBudget = ModelBudget()) {
        self.bytes = bytes
        self.budget = budget
    }

    /// The most elements of a vector of tables or numbers that is read: models have some hundreds.
    private static let longestVector = 1 << 14

    /// The table that the file begins with.
    func root() throws(WakeWordError) -> Table { try Table(place: follow(0)) }

    func number<Number: FixedWidthInteger>(_ type: Number.Type, at place: Int) throws(WakeWordError) -> Number {
        let size = MemoryLayout<Number>.size
        guard place >= 0, place <= bytes.count - size else { throw .damaged.saying("a value lies outside of the file") }
        return Number(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: Number.self) })
    }

    /// A number in a field of a table; nil for a field that is not stored.
    func number<Number: FixedWidthInteger>(
        _ type: Number.Type,
        _ table: Table,
        field: Int
    ) throws(WakeWordError) -> Number? {
        guard let place = try place(table, field: field) else { return nil }
        return try number(type, at: place)
    }

    /// The table that a field refers to; nil for a field that is not stored.
    func table(_ table: Table, field: Int) throws(WakeWordError) -> Table? {
        guard let place = try place(table, field: field) else { return nil }
        return try Table(place: follow(place))
    }

    /// The tables of a vector in a field; none if it is not stored.
    func tables(_ table: Table, field: Int) throws(WakeWordError) -> [Table] {
        let vector = try vector(table, field: field, size: 4)
        guard vector.count <= Self.longestVector else { throw .size.saying("a list has \(vector.count) entries") }
        try budget.take(vector.count, of: MemoryLayout<Table>.stride)
        var tables: [Table] = []
        tables.reserveCapacity(vector.count)
        for index in 0..<vector.count { tables.append(Table(place: try follow(vector.start + 4 * index))) }
        return tables
    }

    /// The numbers of a vector in a field; none if it is not stored.
    func numbers<Number: FixedWidthInteger>(
        _ type: Number.Type,
        _ table: Table,
        field: Int
    ) throws(WakeWordError) -> [Number] {
        let size = MemoryLayout<Number>.size
        let vector = try vector(table, field: field, size: size)
        guard vector.count <= Self.longestVector else { throw .size.saying("a list has \(vector.count) numbers") }
        // As much again for a copy of other numbers.
        try budget.take(vector.count > 0 ? ModelBudget.object : 0)
        try budget.take(vector.count, of: size + MemoryLayout<Int>.size)
        var numbers: [Number] = []
        numbers.reserveCapacity(vector.count)
        for index in 0..<vector.count { numbers.append(try number(type, at: vector.start + size * index)) }
        return numbers
    }

    /// A vector in a field, whose elements have `size` bytes; an empty one if it is not stored.
    func vector(_ table: Table, field: Int, size: Int) throws(WakeWordError) -> Vector {
        guard let place = try place(table, field: field) else { return Vector(start: 0, count: 0) }
        let start = try follow(place)
        let count = Int(try number(UInt32.self, at: start))
        guard count <= (bytes.count - start - 4) / size else {
            throw .damaged.saying("a list ends outside of the file")
        }
        return Vector(start: start + 4, count: count)
    }

    /// The text of a field, of at most 200 bytes; an empty one if it is not stored.
    func text(_ table: Table, field: Int) throws(WakeWordError) -> String {
        let vector = try vector(table, field: field, size: 1)
        let count = min(vector.count, 200)
        try budget.take(ModelBudget.object + count)
        return String(decoding: bytes[vector.start..<vector.start + count], as: UTF8.self)
    }

    /// The place that a distance refers to, counted from where the distance is.
    private func follow(_ place: Int) throws(WakeWordError) -> Int {
        let target = place + Int(try number(UInt32.self, at: place))
        guard target <= bytes.count - 4 else { throw .damaged.saying("a reference leads out of the file") }
        return target
    }

    /// Where a field of a table lies; nil for a field that is not stored.
    func place(_ table: Table, field: Int) throws(WakeWordError) -> Int? {
        let fields = table.place - Int(try number(Int32.self, at: table.place))
        let entry = 4 + 2 * field
        guard entry + 2 <= Int(try number(UInt16.self, at: fields)) else { return nil }
        let offset = Int(try number(UInt16.self, at: fields + entry))
        return offset == 0 ? nil : table.place + offset
    }
}
