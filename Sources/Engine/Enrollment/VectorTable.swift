import Inference

/// Many vectors, of which only the direction counts, in four bits per number, or in two where they follow each other: hours of talk in a
/// few megabytes.
struct VectorTable: Sendable {
    /// Number of vectors.
    let count: Int
    private let dimensions: Int
    /// Values of a vector, by sixteen.
    private let blocks: Int
    /// `[count × blocks]`; what fills the last block of a vector is 0.
    private let values: [SIMD16<Int8>]
    /// What scales each vector to length 1.
    private let scales: [Float]
    /// What makes up for the cosines that coding has lowered.
    private let gain: Float
    /// The vector around which the values lie, as a multiple of their step, `[dimensions]`; zeros for values around zero.
    private let middle: [Float]

    /// Reads a tensor of bytes, `[vectors × dimensions / 2]`, or where the file has a tensor `<stem>.scale`, `[vectors × dimensions / 4]`,
    /// rounded up.
    ///
    /// - Parameter stem: what the names of further tensors begin with; nil for a table that has none.
    /// - Throws: a `ModelError` if one is missing or of other dimensions.
    init(_ file: SafeTensors, _ name: String, dimensions: Int, stem: String? = nil) throws(ModelError) {
        let stem = stem ?? name
        let hasMiddle = file.shape(of: stem + ".middle") != nil
        let middle =
            hasMiddle
            ? try file.floats(stem + ".middle", shape: [dimensions]) : [Float](repeating: 0, count: dimensions)
        let hasGain = file.shape(of: stem + ".gain") != nil
        gain = hasGain ? try file.floats(stem + ".gain", shape: [1]).first ?? 1 : 1
        let count = file.shape(of: name)?.first ?? 0
        (self.count, self.dimensions, blocks) = (count, dimensions, (dimensions + 15) / 16)
        if file.shape(of: stem + ".scale") == nil {
            let bytes = try file.bytes(name, shape: [count, (dimensions + 1) / 2])
            values = Self.fourBits(bytes, count: count, dimensions: dimensions)
            self.middle = middle
        } else {
            let scale = try file.floats(stem + ".scale", shape: [dimensions])
            let bytes = try file.bytes(name, shape: [count, (dimensions + 3) / 4])
            values = Self.twoBits(bytes, scale: scale, count: count)
            self.middle = middle.map { $0 * Self.fineness }
        }
        scales = Self.scales(values, count: count, self.middle)
    }

    /// Numbers of a row, 1 … 15 around 8, two in a byte, the first in the low bits.
    private static func fourBits(_ bytes: ArraySlice<UInt8>, count: Int, dimensions: Int) -> [SIMD16<Int8>] {
        let (blocks, width) = ((dimensions + 15) / 16, (dimensions + 1) / 2)
        var values = [SIMD16<Int8>](repeating: .zero, count: count * blocks)
        for row in 0..<count {
            for index in 0..<dimensions {
                let byte = bytes[bytes.startIndex + row * width + index / 2]
                let value = Int8(truncatingIfNeeded: index % 2 == 0 ? byte & 15 : byte >> 4) - 8
                values[row * blocks + index / 16][index % 16] = value
            }
        }
        return values
    }

    /// What is left of a number in the next row; what its codes of 0 … 3 add, in multiples of its scale; and the fineness of values.
    private static let (kept, fineness): (Float, Float) = (0.75, 8)
    private static let added: [Float] = [-10, -3, 3, 10]

    /// Four codes in a byte, the first in the low bits. A code is what a number adds to what is left of it in the row before.
    private static func twoBits(_ bytes: ArraySlice<UInt8>, scale: [Float], count: Int) -> [SIMD16<Int8>] {
        let (blocks, width) = ((scale.count + 15) / 16, (scale.count + 3) / 4)
        var values = [SIMD16<Int8>](repeating: .zero, count: count * blocks)
        var numbers = scale.map { _ in Float(0) }
        for row in 0..<count {
            for index in scale.indices {
                let code = bytes[bytes.startIndex + row * width + index / 4] >> (2 * UInt8(index % 4)) & 3
                numbers[index] = kept * numbers[index] + added[Int(code)] * scale[index]
                let value = (numbers[index] * fineness).rounded()
                values[row * blocks + index / 16][index % 16] = Int8(max(-127, min(127, value)))
            }
        }
        return values
    }

    private static func scales(_ values: [SIMD16<Int8>], count: Int, _ middle: [Float]) -> [Float] {
        let blocks = (middle.count + 15) / 16
        return (0..<count).map { row in
            var square: Float = 0
            for index in middle.indices {
                let whole = Float(values[row * blocks + index / 16][index % 16]) + middle[index]
                square += whole * whole
            }
            return square > 0 ? 1 / square.squareRoot() : 0
        }
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
            return min(1, (sums.sum() + offset) * scales[row] * gain)
        }
    }
}
