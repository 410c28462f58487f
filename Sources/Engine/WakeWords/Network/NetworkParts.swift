/// What the steps of a network need, as it is put together.
struct NetworkParts {
    /// Limits above what any wake-word model needs: a step is computed some 30 times a second.
    enum Limits {
        static let memory = 1 << 20
        static let multiplyAdds = 1 << 24
        static let weights = 1 << 20
        static let channels = 1 << 16
    }

    private(set) var steps: [NetworkStep] = []
    private(set) var weights: [Int16] = []
    private(set) var biases: [Int32] = []
    private(set) var rescalings: [Rescaling] = []
    private(set) var tables: [Int8] = []
    private(set) var initial: [Int8] = []
    private(set) var longestRow = 0
    private(set) var mostChannels = 0
    private(set) var multiplyAdds = 0
    /// Bytes that a step copies and looks up, in vectors.
    private var moves = 0
    let budget: ModelBudget

    init(_ budget: ModelBudget) { self.budget = budget }

    /// Reserves memory for elements that are initially `value`, at a multiple of 16 bytes.
    mutating func reserve(_ count: Int, value: Int8 = 0) throws(WakeWordError) -> Int {
        let start = initial.count
        guard count <= Limits.memory - start else {
            throw .size.saying("its tensors need more than \(Limits.memory) bytes")
        }
        // The list grows, and is copied in the end.
        try budget.take(count, of: 4)
        initial += [Int8](repeating: value, count: count)
        initial += [Int8](repeating: 0, count: (16 - initial.count % 16) % 16)
        return start
    }

    /// Reserves memory for constants.
    mutating func reserve(_ constants: ArraySlice<UInt8>) throws(WakeWordError) -> Int {
        let start = try reserve(constants.count)
        for (index, byte) in constants.enumerated() { initial[start + index] = Int8(bitPattern: byte) }
        return start
    }

    /// Moves elements: those of a shape that lie at distances in memory, to other ones.
    mutating func move(
        _ shape: [Int],
        from input: Int,
        _ strides: [Int],
        to output: Int,
        _ targets: [Int]
    ) throws(WakeWordError) {
        let count = shape.reduce(1, *)
        guard count > 0 else { return }
        let loops = Loops(shape, a: strides, b: targets)
        // Sixteen bytes take as long as one, if they are adjacent.
        try self.count(moved: loops.isContiguous ? count : 16 * count)
        steps.append(.move(loops, input: input, output: output))
    }

    /// Adds weights, and returns the place of the first.
    mutating func add(weights added: [Int16]) throws(WakeWordError) -> Int {
        let first = weights.count
        guard added.count <= Limits.weights - first else {
            throw .size.saying("it has more than \(Limits.weights) weights")
        }
        try budget.take(added.count, of: 3 * MemoryLayout<Int16>.stride)
        weights += added
        return first
    }

    /// Adds the channels of a layer, and returns the place of the first.
    mutating func add(biases added: [Int32], _ scales: [Rescaling]) throws(WakeWordError) -> Int {
        let first = biases.count
        guard added.count == scales.count, added.count <= Limits.channels - first else {
            throw .size.saying("its layers have more than \(Limits.channels) channels")
        }
        try budget.take(added.count, of: 3 * (MemoryLayout<Int32>.stride + MemoryLayout<Rescaling>.stride))
        biases += added
        rescalings += scales
        return first
    }

    /// Adds a step that computes.
    mutating func add(_ step: NetworkStep) throws(WakeWordError) {
        switch step {
        case .dense(let positions, _):
            longestRow = max(longestRow, NetworkStep.rowLength(positions.count))
            try count(positions.output, inputs: positions.count)
        case .depthwise(let positions, _):
            mostChannels = max(mostChannels, positions.output.channels)
            try count(positions.output, inputs: positions.count)
        case .pool(_, let positions): try count(positions.output, inputs: positions.count)
        case .sum(let pairs, _, _, _), .product(let pairs, _): try count(pairs.output, inputs: 1)
        case .move, .lookUp: break
        }
        steps.append(step)
    }

    /// Counts what a step computes, each output of so many inputs.
    private mutating func count(_ output: LayerOutput, inputs: Int) throws(WakeWordError) {
        // Each factor is below 2²⁰.
        multiplyAdds += output.positions * output.channels * inputs
        guard multiplyAdds <= Limits.multiplyAdds else {
            throw .size.saying("a step needs more than \(Limits.multiplyAdds) multiplications")
        }
    }

    /// Counts bytes that a step moves, sixteen of which take about as long as a multiplication.
    private mutating func count(moved bytes: Int) throws(WakeWordError) {
        moves += bytes / 16
        guard moves <= Limits.multiplyAdds else {
            throw .size.saying("a step moves more than \(16 * Limits.multiplyAdds) bytes")
        }
    }

    /// Adds a step that looks elements up.
    ///
    /// - Parameter table: the result for each of 256 patterns of bits.
    mutating func lookUp(_ input: Int, _ output: Int, count: Int, table: [Int8]) throws(WakeWordError) {
        try budget.take(table.count, of: 3)
        try self.count(moved: 16 * count)
        steps.append(.lookUp(input: input, output: output, count: count, table: tables.count))
        tables += table
    }
}
