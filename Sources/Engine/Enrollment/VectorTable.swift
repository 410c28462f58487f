import Inference

/// Many unit vectors in four bits per number: hours of talk in a few megabytes.
struct VectorTable: Sendable {
    /// Numbers of a row, 1 … 15 around `zero`, two in a byte, the first in the low bits.
    private static let zero: Float = 8

    /// Number of vectors.
    let count: Int
    private let dimensions: Int
    /// `[count × dimensions]`.
    private let values: [Int8]
    /// What scales each vector to length 1.
    private let scales: [Float]

    /// Reads a tensor of bytes, `[vectors × dimensions / 2]`, rounded up.
    ///
    /// - Throws: a `ModelError` if it is missing or of other dimensions.
    init(_ file: SafeTensors, _ name: String, dimensions: Int) throws(ModelError) {
        let width = (dimensions + 1) / 2
        let count = file.shape(of: name)?.first ?? 0
        let bytes = try file.floats(name, shape: [count, width])
        var values: [Int8] = []
        values.reserveCapacity(count * dimensions)
        var scales: [Float] = []
        scales.reserveCapacity(count)
        for row in 0..<count {
            var square: Float = 0
            for index in 0..<dimensions {
                let byte = bytes[row * width + index / 2]
                let high = (byte / 16).rounded(.down)
                let value = (index % 2 == 0 ? byte - 16 * high : high) - Self.zero
                values.append(Int8(max(-8, min(7, value))))
                square += value * value
            }
            scales.append(square > 0 ? 1 / square.squareRoot() : 0)
        }
        (self.count, self.dimensions, self.values, self.scales) = (count, dimensions, values, scales)
    }

    /// A vector, scaled to length 1.
    subscript(row: Int) -> [Float] {
        values[row * dimensions..<(row + 1) * dimensions].map { Float($0) * scales[row] }
    }

    /// The cosines of some vectors with a unit vector, `[rows]`.
    ///
    /// - Parameters:
    ///   - vector: `[dimensions]`; with another number all cosines are 0.
    ///   - rows: of this table.
    func cosines(with vector: [Float], _ rows: Range<Int>) -> [Float] {
        guard vector.count == dimensions else { return Array(repeating: 0, count: rows.count) }
        return rows.map { row in
            var sum: Float = 0
            let start = row * dimensions
            for index in 0..<dimensions { sum += Float(values[start + index]) * vector[index] }
            return sum * scales[row]
        }
    }
}
