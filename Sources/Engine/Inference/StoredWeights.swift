private import Core
import KernelInterface
import Kernels

/// The shorter forms in which a file may hold the weights of a layer; see Models/FORMAT.md.
extension SafeTensors {
    /// Weights of 8 bits, with a step per output channel.
    struct Integers {
        var weights: [Int8]
        /// `[outputs]`.
        var steps: [Float]
    }

    /// The weights `<layer>.weight` of this shape, outputs first and inputs last, as floats; or those that `<layer>.quaternion` stands for.
    ///
    /// - Throws: `ModelError.tensor` where a tensor is missing, has another shape, or holds a NaN or infinity.
    func weights(of layer: String, shape: [Int]) throws(ModelError) -> [Float] {
        if let stored = try quaternions(of: layer, shape: shape) {
            return (0..<shape[0]).flatMap { output in
                Array(unsafeUninitializedCapacity: stored.depth) { row, count in
                    if let first = row.baseAddress { stored.write(output, to: first) }
                    count = stored.depth
                }
            }
        }
        let name = layer + ".weight"
        var floats = try floats(name, shape: shape)
        guard entries[name]?.type == .signed8 else { return floats }
        let steps = try steps(layer + ".step", count: shape[0])
        let count = floats.count / max(1, shape[0])
        for index in floats.indices { floats[index] *= steps[index / count] }
        return floats
    }

    /// The same as integers; nil where the file has floats.
    ///
    /// - Throws: `ModelError.tensor`, also where sums of these weights would not fit 16 bits in a kernel.
    func integers(of layer: String, shape: [Int], computed: ConvolutionShape) throws(ModelError) -> Integers? {
        guard entries[layer + ".quaternion"] == nil else { return nil }
        let name = layer + ".weight"
        let entry = try entry(name, shape: shape)
        guard entry.type == .signed8 else { return nil }
        let weights = try content.withBytes(entry.bytes) { Array($0.bindMemory(to: Int8.self)) }
        let steps = try steps(layer + ".step", count: shape[0])
        let fit = weights.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { fitLanes($0, shape: computed) } ?? true
        }
        guard fit else {
            throw .tensor.saying(
                "\(file): tensor \(quoted(name)): weights of eight neighbouring inputs add up to more than 16 bits hold; "
                    + "export the model again"
            )
        }
        return Integers(weights: weights, steps: steps)
    }

    private func steps(_ name: String, count: Int) throws(ModelError) -> [Float] {
        let steps = try floats(name, shape: [count])
        guard steps.allSatisfy({ $0 > 0 }) else {
            throw .tensor.saying("\(file): tensor \(quoted(name)): a step is not above 0; export the model again")
        }
        return steps
    }

    /// Weights that are stored as a quarter of them.
    struct Quaternions {
        /// Weights of an output.
        let depth: Int
        fileprivate let outputs: Int
        fileprivate let inputs: Int
        /// The weights of the first quarter of the outputs.
        fileprivate let rows: [Float]
        /// `[outputs]`; nil for ones.
        fileprivate let factors: [Float]?
        /// Whether the rows, and so all weights without factors, are halves.
        fileprivate let areHalves: Bool

        /// Writes an output's weights, `[depth]`.
        func write(_ output: Int, to row: UnsafeMutablePointer<Float>) {
            let (block, source) = (output / (outputs / 4), output % (outputs / 4) * depth)
            let quarter = inputs / 4
            rows.withUnsafeBufferPointer { rows in
                guard let first = rows.baseAddress else { return }
                for place in stride(from: 0, to: depth, by: inputs) {
                    for part in 0..<4 {
                        // The product of two units is the unit whose number has the bits that differ.
                        let from = first + source + place + (block ^ part) * quarter
                        scale(
                            from,
                            by: SafeTensors.signs[block][part],
                            to: row + place + part * quarter,
                            count: quarter
                        )
                    }
                }
            }
            if areHalves, factors == nil { return }
            scaleToHalf(row, by: factors?[output] ?? 1, to: row, count: depth)
        }
    }

    /// What `<layer>.quaternion` holds for weights of this shape; nil where there is no such tensor.
    func quaternions(of layer: String, shape: [Int]) throws(ModelError) -> Quaternions? {
        guard let stored = try quaternionShape(layer, shape) else { return nil }
        let rows = try floats(layer + ".quaternion", shape: stored)
        let hasFactors = entries[layer + ".factor"] != nil
        let factors = hasFactors ? try floats(layer + ".factor", shape: [shape[0]]) : nil
        return Quaternions(
            depth: shape.dropFirst().reduce(1, *),
            outputs: shape[0],
            inputs: shape[shape.count - 1],
            rows: rows,
            factors: factors,
            areHalves: entries[layer + ".quaternion"]?.type == .float16
        )
    }

    /// Throws `ModelError.tensor` unless there are weights for `weights`.
    func requireWeights(of layer: String, shape: [Int]) throws(ModelError) {
        let stored = try quaternionShape(layer, shape)
        try require(layer + (stored == nil ? ".weight" : ".quaternion"), shape: stored ?? shape)
    }

    /// Signs of the units 1, i, j, k in the block of a plain kernel, by the quarter of the outputs and that of the inputs.
    fileprivate static let signs: [[Float]] = [[1, 1, 1, 1], [-1, 1, 1, -1], [-1, -1, 1, 1], [-1, 1, -1, 1]]

    /// The shape of `<layer>.quaternion` for weights of this shape; nil where there is no such tensor.
    private func quaternionShape(_ layer: String, _ shape: [Int]) throws(ModelError) -> [Int]? {
        guard entries[layer + ".quaternion"] != nil else { return nil }
        let inputs = shape[shape.count - 1]
        guard shape[0] % 4 == 0, inputs % 4 == 0 else {
            throw .tensor.saying(
                "\(file): tensor \(quoted(layer + ".quaternion")): \(inputs) inputs and \(shape[0]) outputs, not multiples of four"
            )
        }
        return [shape[0] / 4] + shape.dropFirst()
    }
}
