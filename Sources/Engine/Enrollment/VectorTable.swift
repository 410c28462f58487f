import Inference

/// Many vectors, of which only the direction counts, in four bits per number: hours of talk in a few megabytes.
struct VectorTable: Sendable {
    /// Numbers of a row, 1 … 15 around `zero`, two in a byte, the first in the low bits.
    private static let zero = 8

    /// Number of vectors.
    let count: Int
    private let dimensions: Int
    /// Values of a vector, by sixteen.
    private let blocks: Int
    /// `[count × blocks]`; what fills the last block of a vector is 0.
    private let values: [SIMD16<Int8>]
    /// What scales each vector to length 1.
    private let scales: [Float]
    /// The vector around which the values lie, as a multiple of their step, `[dimensions]`; zeros for values around zero.
    private let middle: [Float]

    /// Reads a tensor of bytes, `[vectors × dimensions / 2]`, rounded up.
    ///
    /// - Parameter middle: name of the tensor of what the values lie around, `[dimensions]`; nil for zeros.
    /// - Throws: a `ModelError` if one is missing or of other dimensions.
    init(_ file: SafeTensors, _ name: String, dimensions: Int, middle: String? = nil) throws(ModelError) {
        let zeros = [Float](repeating: 0, count: dimensions)
        let around = try middle.map { name throws(ModelError) in try file.floats(name, shape: [dimensions]) } ?? zeros
        self.middle = around
        let width = (dimensions + 1) / 2
        let count = file.shape(of: name)?.first ?? 0
        let bytes = try file.floats(name, shape: [count, width])
        let blocks = (dimensions + 15) / 16
        var values = [SIMD16<Int8>](repeating: .zero, count: count * blocks)
        var scales: [Float] = []
        scales.reserveCapacity(count)
        for row in 0..<count {
            var square: Float = 0
            for index in 0..<dimensions {
                let byte = Int(max(0, min(255, bytes[row * width + index / 2])))
                let value = (index % 2 == 0 ? byte & 15 : byte >> 4) - Self.zero
                values[row * blocks + index / 16][index % 16] = Int8(truncatingIfNeeded: value)
                let whole = Float(value) + around[index]
                square += whole * whole
            }
            scales.append(square > 0 ? 1 / square.squareRoot() : 0)
        }
        (self.count, self.dimensions, self.blocks) = (count, dimensions, blocks)
        (self.values, self.scales) = (values, scales)
    }

    /// A vector, scaled to length 1.
    subscript(row: Int) -> [Float] {
        (0..<dimensions).map { (Float(values[row * blocks + $0 / 16][$0 % 16]) + middle[$0]) * scales[row] }
    }

    /// The cosines of some vectors with a unit vector, `[rows]`.
    ///
    /// - Parameters:
    ///   - vector: `[dimensions]`; with another number all cosines are 0.
    ///   - rows: of this table.
    func cosines(with vector: [Float], _ rows: Range<Int>) -> [Float] {
        guard vector.count == dimensions else { return Array(repeating: 0, count: rows.count) }
        var factors = [SIMD16<Float>](repeating: .zero, count: blocks)
        for (index, value) in vector.enumerated() { factors[index / 16][index % 16] = value }
        let offset = dot(vector, middle)
        return rows.map { row in
            var sums = SIMD16<Float>()
            for block in 0..<blocks { sums += SIMD16<Float>(values[row * blocks + block]) * factors[block] }
            return (sums.sum() + offset) * scales[row]
        }
    }
}
