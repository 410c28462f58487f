import Inference
import Kernels

/// Many vectors, of which only the direction counts, in 8 bits per number: hours of talk in some megabytes.
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
    /// The vector around which the values lie, `[dimensions]`.
    private let middle: [Float]
    /// What a value of each component adds to a vector, `[components × dimensions]`; nil where it adds 1 to a dimension of its own.
    private let basis: [[Float]]?

    /// Reads a table that ``RowCode`` codes, or one of bytes with two numbers each.
    ///
    /// - Parameter middle: of the latter, the name of the tensor of what the values lie around, `[dimensions]`; nil for zeros.
    /// - Throws: a `ModelError` if a tensor is missing, of other dimensions, or damaged.
    init(_ file: SafeTensors, _ name: String, dimensions: Int, middle: String? = nil) throws(ModelError) {
        if file.shape(of: name)?.count == 1 {
            try self.init(coded: file, name, dimensions)
        } else {
            try self.init(halves: file, name, dimensions, middle)
        }
    }

    private init(coded file: SafeTensors, _ name: String, _ dimensions: Int) throws(ModelError) {
        let (code, whole) = try RowCode.read(file, name, components: dimensions)
        let count = whole.rows
        let blocks = (dimensions + 15) / 16
        var values = [SIMD16<Int8>](repeating: .zero, count: count * blocks)
        let isWhole = values.withUnsafeMutableBytes { target in
            whole.bytes.withUnsafeBytes { bytes in
                target.baseAddress.map {
                    code.decode(bytes, rows: count, to: $0.assumingMemoryBound(to: Int8.self), stride: 16 * blocks)
                } ?? (count == 0)
            }
        }
        guard isWhole else { throw RowCode.damaged(file, name) }
        let middle = try file.floats(name + ".middle", shape: [dimensions])
        let rows = try file.floats(name + ".basis", shape: [dimensions, dimensions])
        let basis = code.units.enumerated().map { component, unit in
            rows[component * dimensions..<(component + 1) * dimensions].map { $0 * unit }
        }
        (self.count, self.dimensions, self.blocks, self.values) = (count, dimensions, blocks, values)
        (self.middle, self.basis) = (middle, basis)
        // The basis is orthonormal: a vector's square is that of its components.
        scales = inverseLengths(
            values,
            count: count,
            blocks: blocks,
            units: code.units,
            middle: basis.map { dot($0, middle) },
            square: dot(middle, middle)
        )
    }

    private init(
        halves file: SafeTensors,
        _ name: String,
        _ dimensions: Int,
        _ middle: String?
    ) throws(ModelError) {
        let zeros = [Float](repeating: 0, count: dimensions)
        let around = try middle.map { name throws(ModelError) in try file.floats(name, shape: [dimensions]) } ?? zeros
        let width = (dimensions + 1) / 2
        let count = file.shape(of: name)?.first ?? 0
        let bytes = try file.bytes(name, shape: [count, width])
        let blocks = (dimensions + 15) / 16
        var values = [SIMD16<Int8>](repeating: .zero, count: count * blocks)
        for row in 0..<count {
            for index in 0..<dimensions {
                let byte = bytes[row * width + index / 2]
                // 1 … 15 around 8, the first in the low bits.
                let value = Int8(index % 2 == 0 ? byte & 15 : byte >> 4) - 8
                values[row * blocks + index / 16][index % 16] = value
            }
        }
        (self.count, self.dimensions, self.blocks, self.values) = (count, dimensions, blocks, values)
        (self.middle, basis) = (around, nil)
        scales = inverseLengths(
            values,
            count: count,
            blocks: blocks,
            units: zeros.map { _ in 1 },
            middle: around,
            square: dot(around, around)
        )
    }

    /// A vector, scaled to length 1.
    subscript(row: Int) -> [Float] {
        let components = (0..<dimensions).map { Float(values[row * blocks + $0 / 16][$0 % 16]) }
        var vector = middle
        if let basis {
            for (value, direction) in zip(components, basis) {
                for index in vector.indices { vector[index] += value * direction[index] }
            }
        } else {
            for index in vector.indices { vector[index] += components[index] }
        }
        return vector.map { $0 * scales[row] }
    }

    /// A vector as this table compares it with its own: turned into the table's components once, which is more work than many rows are.
    struct Direction {
        /// Factors of a row's values, by sixteen; empty for a vector of other dimensions.
        fileprivate let factors: [SIMD16<Float>]
        /// What the middle adds.
        fileprivate let offset: Float
    }

    /// - Parameter vector: a unit vector, `[dimensions]`; with another number all cosines are 0.
    func direction(of vector: [Float]) -> Direction {
        guard vector.count == dimensions else { return Direction(factors: [], offset: 0) }
        let turned = basis.map { $0.map { dot($0, vector) } } ?? vector
        var factors = [SIMD16<Float>](repeating: .zero, count: blocks)
        for (index, value) in turned.enumerated() { factors[index / 16][index % 16] = value }
        return Direction(factors: factors, offset: dot(vector, middle))
    }

    /// The cosines of some vectors with a direction, `[rows]`.
    ///
    /// - Parameter rows: of this table.
    func cosines(with direction: Direction, _ rows: Range<Int>) -> [Float] {
        let factors = direction.factors
        guard factors.count == blocks else { return Array(repeating: 0, count: rows.count) }
        return rows.map { row in
            var sums = SIMD16<Float>()
            for block in 0..<blocks { sums += SIMD16<Float>(values[row * blocks + block]) * factors[block] }
            return (sums.sum() + direction.offset) * scales[row]
        }
    }

    /// The same with a vector.
    func cosines(with vector: [Float], _ rows: Range<Int>) -> [Float] { cosines(with: direction(of: vector), rows) }
}

/// What scales each vector to length 1, 0 for one of length 0.
///
/// - Parameters:
///   - units: of each component; a vector's components are its values times these.
///   - middle: what is added to the vectors: its product with what a value of each component adds.
///   - square: the square of the middle's length.
private func inverseLengths(
    _ values: [SIMD16<Int8>],
    count: Int,
    blocks: Int,
    units: [Float],
    middle: [Float],
    square: Float
) -> [Float] {
    var (squares, products) = (
        [SIMD16<Float>](repeating: .zero, count: blocks), [SIMD16<Float>](repeating: .zero, count: blocks)
    )
    for index in units.indices {
        squares[index / 16][index % 16] = units[index] * units[index]
        products[index / 16][index % 16] = 2 * middle[index]
    }
    return (0..<count).map { row in
        var sums = SIMD16<Float>()
        for block in 0..<blocks {
            let value = SIMD16<Float>(values[row * blocks + block])
            sums += value * (value * squares[block] + products[block])
        }
        let square = sums.sum() + square
        return square > 0 ? 1 / square.squareRoot() : 0
    }
}

extension RowCode {
    /// The code of a table, its rows and their number; see Models/FORMAT.md.
    fileprivate static func read(
        _ file: SafeTensors,
        _ name: String,
        components: Int
    ) throws(ModelError) -> (code: RowCode, whole: (bytes: [UInt8], rows: Int)) {
        let bytes = try file.bytes(name, shape: file.shape(of: name) ?? [])
        let predictor = try file.floats(name + ".predictor", shape: [2, components])
        let symbols = file.shape(of: name + ".frequencies")?.last ?? 0
        let code = RowCode(
            predictor: (Array(predictor.prefix(components)), Array(predictor.suffix(components))),
            step: try file.floats(name + ".step", shape: [1]).first ?? 0,
            units: try file.floats(name + ".units", shape: [components]),
            reach: symbols / 2,
            frequencies: try file.floats(name + ".frequencies", shape: [components, symbols]).compactMap {
                Int(exactly: $0)
            }
        )
        let rows = Int(exactly: try file.floats(name + ".rows", shape: [1]).first ?? 0)
        // A short code must not claim memory without limit.
        guard let code, let rows, rows >= 0, rows <= 64 * bytes.count / max(1, components) else {
            throw damaged(file, name)
        }
        return (code, (bytes, rows))
    }

    fileprivate static func damaged(_ file: SafeTensors, _ name: String) -> ModelError {
        file.damaged(name, "its code and the tensors beside it do not fit each other")
    }
}
