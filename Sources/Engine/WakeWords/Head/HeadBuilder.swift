private import Core
import KernelInterface

/// A tensor of a head, while the head is put together.
struct HeadValue {
    enum Content {
        /// Floats at a place of a stream's memory.
        case computed(Int)
        /// Constant floats.
        case floats([Float])
        /// Constant integers, such as extents and axes.
        case integers([Int])
    }

    var shape: [Int]
    var content: Content

    var count: Int { shape.reduce(1, *) }

    /// The constant integers; nil for other tensors.
    var integers: [Int]? { if case .integers(let integers) = content { integers } else { nil } }
}

/// Puts a head together, step by step. All extents are known before a step is added, so that the steps need not check them.
struct HeadBuilder {
    /// Limits above what any head needs: a step is computed 12.5 times a second.
    enum Limits {
        static let memory = 1 << 20
        static let weights = 1 << 22
        static let operations = 1 << 24
        static let steps = 4096
        static let dimensions = 6
        static let windows = 128
    }

    private(set) var steps: [FloatStep] = []
    /// Dense layers: where their packed weights begin, and what is packed there.
    private(set) var layers: [(place: Int, shape: ConvolutionShape, weights: [Float], bias: [Float])] = []
    private(set) var weightCount = 0
    /// The memory of a stream at its start.
    var initial: [Float] = []
    /// Operations of a probability, and of putting the head together.
    private var operations = 0
    /// What all that is copied or computed here is taken from.
    let budget: ModelBudget

    init(_ budget: ModelBudget) { self.budget = budget }

    /// Reserves memory for an input of this shape.
    mutating func input(_ shape: [Int]) throws(WakeWordError) -> HeadValue {
        try value(shape)
    }

    private mutating func reserve(_ count: Int) throws(WakeWordError) -> Int {
        let start = initial.count
        guard count <= Limits.memory - start - 16 else {
            throw .size.saying("its tensors need more than \(Limits.memory) numbers")
        }
        try budget.take(count, of: 2 * MemoryLayout<Float>.stride)
        initial += [Float](repeating: 0, count: (count + 15) & ~15)
        return start
    }

    mutating func value(_ shape: [Int]) throws(WakeWordError) -> HeadValue {
        let count = try Self.count(shape)
        try self.count(operations: count)
        return HeadValue(shape: shape, content: .computed(try reserve(count)))
    }

    /// The product of extents.
    ///
    /// - Throws: `WakeWordError.size` or `.damaged` for extents that no tensor of a head has.
    static func count(_ shape: [Int]) throws(WakeWordError) -> Int {
        guard shape.count <= Limits.dimensions else { throw .size.saying("a tensor has \(shape.count) dimensions") }
        var count = 1
        for extent in shape {
            guard extent > 0 else { throw .damaged.saying("a tensor has the extents \(shape)") }
            guard extent <= Limits.weights / count else { throw .size.saying("a tensor has the extents \(shape)") }
            count *= extent
        }
        return count
    }

    /// The place of a tensor's floats; constants get one.
    mutating func place(_ value: HeadValue) throws(WakeWordError) -> Int {
        guard value.count > 0 else { throw .damaged.saying("a tensor that is computed with is empty") }
        if case .computed(let place) = value.content { return place }
        let floats = try floats(value) ?? []
        let place = try reserve(floats.count)
        for (index, number) in floats.enumerated() { initial[place + index] = number }
        return place
    }

    mutating func add(_ step: FloatStep) throws(WakeWordError) {
        try budget.take(2 * MemoryLayout<FloatStep>.stride)
        guard steps.count < Limits.steps else { throw .size.saying("it has more than \(Limits.steps) steps") }
        steps.append(step)
    }

    /// Moves numbers: those of a shape that lie at distances in memory, to other ones.
    mutating func move(
        _ shape: [Int],
        from input: Int,
        _ strides: [Int],
        to output: Int,
        _ targets: [Int]
    ) throws(WakeWordError) {
        try add(.move(Loops(shape, a: strides, b: targets), input: input, output: output))
    }

    /// Counts operations.
    ///
    /// - Throws: `WakeWordError.size` for more than a head may take.
    mutating func count(operations added: Int) throws(WakeWordError) {
        // Each is below 2⁴⁴.
        operations += added
        guard operations <= Limits.operations else {
            throw .size.saying("a probability needs more than \(Limits.operations) operations")
        }
    }
}

// Constants.
extension HeadBuilder {
    /// The constant floats of a tensor; nil for one that is computed.
    func floats(_ value: HeadValue) throws(WakeWordError) -> [Float]? {
        switch value.content {
        case .computed: return nil
        case .floats(let floats): return floats
        case .integers(let integers):
            try budget.take(integers.count, of: MemoryLayout<Float>.stride)
            return integers.map(Float.init)
        }
    }

    /// A constant of as many equal numbers as its extents say.
    func constant(_ shape: [Int], _ number: Float) throws(WakeWordError) -> HeadValue {
        let count = try Self.count(shape)
        try budget.take(count, of: MemoryLayout<Float>.stride)
        return HeadValue(shape: shape, content: .floats([Float](repeating: number, count: count)))
    }

    func constant(_ shape: [Int], _ number: Int) throws(WakeWordError) -> HeadValue {
        let count = try Self.count(shape)
        try budget.take(count, of: MemoryLayout<Int>.stride)
        return HeadValue(shape: shape, content: .integers([Int](repeating: number, count: count)))
    }
}

// What computes.
extension HeadBuilder {
    /// A dense layer over the last extent.
    ///
    /// - Parameters:
    ///   - weights: `[outputs × depth]`.
    ///   - bias: `[outputs]`; empty for none.
    mutating func dense(
        _ input: HeadValue,
        weights: [Float],
        bias: [Float],
        depth: Int,
        outputs: Int
    ) throws(WakeWordError) -> HeadValue {
        guard depth > 0, outputs > 0, input.shape.last == depth, weights.count == depth * outputs,
            bias.isEmpty || bias.count == outputs
        else { throw .damaged.saying("a dense layer's weights do not fit its input of the extents \(input.shape)") }
        let rows = input.count / depth
        try count(operations: rows * depth * outputs)
        let output = try value(input.shape.dropLast() + [outputs])
        try budget.take(outputs, of: MemoryLayout<Float>.stride)
        let shape = ConvolutionShape(inputChannels: depth, outputChannels: outputs)
        let (from, to) = (try place(input), try place(output))
        let packed = try add(layer: weights, bias.isEmpty ? [Float](repeating: 0, count: outputs) : bias, shape)
        try add(.convolve(input: from, output: to, columns: rows, shape: shape, weights: packed))
        return output
    }

    /// Keeps the weights and biases of a layer.
    ///
    /// - Returns: where its packed weights begin.
    mutating func add(layer weights: [Float], _ bias: [Float], _ shape: ConvolutionShape) throws(WakeWordError) -> Int {
        let place = weightCount
        let packed = (packedConvolutionCount(shape) + 15) & ~15
        guard packed <= Limits.weights - place else {
            throw .size.saying("it has more than \(Limits.weights) weights")
        }
        try budget.take(packed, of: MemoryLayout<Float>.stride)
        try budget.take(MemoryLayout<(Int, ConvolutionShape, [Float], [Float])>.stride * 2)
        layers.append((place, shape, weights, bias))
        weightCount += packed
        return place
    }

    /// The product with a constant matrix, `[depth × outputs]`, or with its transpose.
    mutating func product(
        _ input: HeadValue,
        _ matrix: [Float],
        _ shape: [Int],
        isTransposed: Bool
    ) throws(WakeWordError) -> HeadValue {
        guard shape.count == 2, matrix.count == shape[0] * shape[1] else {
            throw .unsupported.saying("a product with a constant of the extents \(shape) is not supported")
        }
        if isTransposed {
            return try dense(input, weights: matrix, bias: [], depth: shape[1], outputs: shape[0])
        }
        let (depth, outputs) = (shape[0], shape[1])
        try budget.take(matrix.count, of: MemoryLayout<Float>.stride)
        var weights = matrix
        for output in 0..<outputs {
            for index in 0..<depth { weights[output * depth + index] = matrix[index * outputs + output] }
        }
        return try dense(input, weights: weights, bias: [], depth: depth, outputs: outputs)
    }

    mutating func apply(_ function: FloatFunction, _ input: HeadValue) throws(WakeWordError) -> HeadValue {
        let output = try value(input.shape)
        let (from, to) = (try place(input), try place(output))
        try add(.apply(function, input: from, output: to, count: output.count))
        return output
    }

    /// Combines two tensors; extents of 1, and such that are missing at the front, are repeated.
    mutating func combine(
        _ combination: FloatCombination,
        _ left: HeadValue,
        _ right: HeadValue
    ) throws(WakeWordError) -> HeadValue {
        let rank = max(left.shape.count, right.shape.count)
        func padded(_ shape: [Int]) -> [Int] { [Int](repeating: 1, count: rank - shape.count) + shape }
        var shape: [Int] = []
        for (a, b) in zip(padded(left.shape), padded(right.shape)) {
            guard a == b || a == 1 || b == 1 else {
                throw .damaged.saying("tensors of the extents \(left.shape) and \(right.shape) are combined")
            }
            shape.append(max(a, b))
        }
        let output = try value(shape)
        let loops = Loops(
            shape,
            a: Loops.strides(padded(left.shape), repeatsOnes: true),
            b: Loops.strides(padded(right.shape), repeatsOnes: true),
            c: Loops.strides(shape)
        )
        try add(.combine(combination, loops, left: place(left), right: place(right), output: place(output)))
        return output
    }

    /// Reduces extents to 1, or away.
    mutating func reduce(
        _ reduction: FloatReduction,
        _ input: HeadValue,
        axes: [Int],
        keeping: Bool
    ) throws(WakeWordError) -> HeadValue {
        let axes = try axes.map { (axis) throws(WakeWordError) in try Self.axis(axis, of: input.shape) }
        try count(operations: input.count)
        try budget.step(axes.count)
        let strides = Loops.strides(input.shape)
        let isReduced = input.shape.indices.map { axes.contains($0) }
        let kept = input.shape.indices.map { isReduced[$0] ? 1 : input.shape[$0] }
        let group = input.shape.indices.map { isReduced[$0] ? input.shape[$0] : 1 }
        let output = try value(kept)
        try add(
            .reduce(
                reduction,
                Loops(kept, a: strides, b: Loops.strides(kept)),
                members: Loops(group, a: strides),
                groupCount: group.reduce(1, *),
                input: place(input),
                output: place(output)
            )
        )
        guard !keeping else { return output }
        return HeadValue(shape: kept.indices.filter { !isReduced[$0] }.map { kept[$0] }, content: output.content)
    }

    /// Softmax over one extent.
    mutating func softmax(_ input: HeadValue, axis: Int, scale: Float = 1) throws(WakeWordError) -> HeadValue {
        let axis = try Self.axis(axis, of: input.shape)
        guard input.shape[(axis + 1)...].allSatisfy({ $0 == 1 }) else {
            var order = Array(input.shape.indices)
            order.swapAt(axis, order.count - 1)
            return try transpose(softmax(transpose(input, order: order), axis: -1, scale: scale), order: order)
        }
        let output = try value(input.shape)
        let (from, to, count) = (try place(input), try place(output), input.shape[axis])
        try add(.softmax(input: from, output: to, rows: output.count / count, count: count, scale: scale))
        return output
    }

    /// (x − mean) / √(variance + ε), times a scale, plus a shift, over the last extents.
    mutating func layerNorm(
        _ input: HeadValue,
        axes: [Int],
        epsilon: Float,
        scale: HeadValue,
        shift: HeadValue?
    ) throws(WakeWordError) -> HeadValue {
        let mean = try reduce(.mean, input, axes: axes, keeping: true)
        let centred = try combine(.subtract, input, mean)
        let variance = try reduce(.mean, combine(.multiply, centred, centred), axes: axes, keeping: true)
        let floor = HeadValue(shape: [], content: .floats([epsilon]))
        let root = try apply(.squareRoot, combine(.add, variance, floor))
        let scaled = try combine(.multiply, combine(.divide, centred, root), scale)
        guard let shift else { return scaled }
        return try combine(.add, scaled, shift)
    }

    /// Begins steps that are left out if a number is 0.
    ///
    /// - Returns: what `elseOf` needs.
    mutating func beginIf(_ condition: HeadValue) throws(WakeWordError) -> Int {
        guard condition.count == 1 else { throw .damaged.saying("the condition of IF is not one number") }
        try add(.skipUnless(condition: place(condition), count: 0))
        return steps.count - 1
    }

    /// Ends these steps, and begins others, for the case that it is 0.
    ///
    /// - Returns: what `endIf` needs: the output, a copy of the result of these steps.
    mutating func elseOf(_ choice: Int, _ result: HeadValue) throws(WakeWordError) -> (end: Int, output: HeadValue) {
        let output = try value(result.shape)
        try copy(result, to: output)
        try add(.skip(count: 0))
        let end = steps.count - 1
        if case .skipUnless(let condition, _) = steps[choice] {
            steps[choice] = .skipUnless(condition: condition, count: end - choice)
        }
        return (end, output)
    }

    /// Ends the other steps.
    ///
    /// - Returns: the output, of the steps that ran.
    mutating func endIf(
        _ branch: (end: Int, output: HeadValue),
        _ result: HeadValue
    ) throws(WakeWordError) -> HeadValue {
        guard result.shape == branch.output.shape else {
            throw .damaged.saying("the branches of IF have the extents \(branch.output.shape) and \(result.shape)")
        }
        try copy(result, to: branch.output)
        steps[branch.end] = .skip(count: steps.count - branch.end - 1)
        return branch.output
    }

    /// Copies a tensor to one of as many elements.
    mutating func copy(_ input: HeadValue, to output: HeadValue) throws(WakeWordError) {
        try move([output.count], from: place(input), [1], to: place(output), [1])
    }
}
