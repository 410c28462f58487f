import Inference

/// Many unit vectors in four bits per number: hours of talk in a few megabytes.
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

    /// Reads a tensor of bytes, `[vectors × dimensions / 2]`, rounded up.
    ///
    /// - Throws: a `ModelError` if it is missing or of other dimensions.
    init(_ file: SafeTensors, _ name: String, dimensions: Int) throws(ModelError) {
        let width = (dimensions + 1) / 2
        let count = file.shape(of: name)?.first ?? 0
        let bytes = try file.floats(name, shape: [count, width])
        let blocks = (dimensions + 15) / 16
        var values = [SIMD16<Int8>](repeating: .zero, count: count * blocks)
        var scales: [Float] = []
        scales.reserveCapacity(count)
        for row in 0..<count {
            var square = 0
            for index in 0..<dimensions {
                let byte = Int(max(0, min(255, bytes[row * width + index / 2])))
                let value = (index % 2 == 0 ? byte & 15 : byte >> 4) - Self.zero
                values[row * blocks + index / 16][index % 16] = Int8(truncatingIfNeeded: value)
                square += value * value
            }
            scales.append(square > 0 ? 1 / Float(square).squareRoot() : 0)
        }
        (self.count, self.dimensions, self.blocks) = (count, dimensions, blocks)
        (self.values, self.scales) = (values, scales)
    }

    /// A vector, scaled to length 1.
    subscript(row: Int) -> [Float] {
        (0..<dimensions).map { Float(values[row * blocks + $0 / 16][$0 % 16]) * scales[row] }
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
        return rows.map { row in
            var sums = SIMD16<Float>()
            for block in 0..<blocks { sums += SIMD16<Float>(values[row * blocks + block]) * factors[block] }
            return sums.sum() * scales[row]
        }
    }
}
