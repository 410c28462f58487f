import KernelInterface

/// One direction of a recurrent layer over the steps of a sequence. Places are offsets of floats in a stream's memory.
///
/// The inputs' part of all gates is computed before, `[steps × gates · hidden]`.
struct Recurrence: Sendable {
    enum Kind: Sendable {
        /// Gates: input, output, forget, cell.
        case lstm
        /// Gates: update, reset, hidden; the reset gate follows the product of the hidden one.
        case gru

        var gates: Int { self == .lstm ? 4 : 3 }
    }

    let kind: Kind
    let hidden: Int
    let steps: Int
    /// Whether it begins with the last step.
    let isReversed: Bool
    let inputs: Int
    /// The recurrent part: its packed weights, with biases, and their shape, `[gates · hidden × hidden]`.
    let weights: Int
    let shape: ConvolutionShape
    /// What it remembers, `[hidden]` each; `cell` is of an LSTM alone.
    let state: Int
    let cell: Int
    /// `[gates · hidden]`.
    let scratch: Int
    /// The output of step 0, and floats from there to that of the next.
    let output: Int
    let outputStride: Int

    /// - Parameters:
    ///   - memory: of the stream.
    ///   - weights: of all layers of the head.
    func run(
        _ memory: UnsafeMutablePointer<Float>,
        _ weights: UnsafePointer<Float>,
        _ kernels: borrowing KernelSet
    ) {
        for index in 0..<steps {
            let step = isReversed ? steps - 1 - index : index
            let (state, recurrent) = (memory + state, memory + scratch)
            kernels.convolve(state, recurrent, shape.adjacentColumns(1), weights + self.weights, shape, nil, false)
            let gates = memory + inputs + step * kind.gates * hidden
            switch kind {
            case .lstm: lstm(gates, recurrent, state, memory + cell)
            case .gru: gru(gates, recurrent, state)
            }
            (memory + output + step * outputStride).update(from: state, count: hidden)
        }
    }

    private func lstm(
        _ gates: UnsafePointer<Float>,
        _ recurrent: UnsafePointer<Float>,
        _ state: UnsafeMutablePointer<Float>,
        _ cell: UnsafeMutablePointer<Float>
    ) {
        for unit in 0..<hidden {
            func gate(_ number: Int) -> Float { gates[number * hidden + unit] + recurrent[number * hidden + unit] }
            let kept = FloatFunction.logistic.value(gate(2)) * cell[unit]
            cell[unit] = kept + FloatFunction.logistic.value(gate(0)) * FloatFunction.tanh.value(gate(3))
            state[unit] = FloatFunction.logistic.value(gate(1)) * FloatFunction.tanh.value(cell[unit])
        }
    }

    private func gru(
        _ gates: UnsafePointer<Float>,
        _ recurrent: UnsafePointer<Float>,
        _ state: UnsafeMutablePointer<Float>
    ) {
        for unit in 0..<hidden {
            let update = FloatFunction.logistic.value(gates[unit] + recurrent[unit])
            let reset = FloatFunction.logistic.value(gates[hidden + unit] + recurrent[hidden + unit])
            let new = FloatFunction.tanh.value(gates[2 * hidden + unit] + reset * recurrent[2 * hidden + unit])
            state[unit] = (1 - update) * new + update * state[unit]
        }
    }
}

extension HeadBuilder {
    /// The weights of one direction: `[gates · hidden × inputs]`, `[gates · hidden × hidden]`, and both biases.
    struct RecurrentWeights {
        var input: [Float]
        var recurrent: [Float]
        var inputBias: [Float]
        var recurrentBias: [Float]
        var isReversed: Bool
    }

    /// A recurrent layer.
    ///
    /// - Parameters:
    ///   - input: `[steps, 1, inputs]`.
    ///   - directions: weights of one or two directions.
    ///   - initial: what it remembers at first, `[directions, 1, hidden]`: state and cell; nil for zeros.
    /// - Returns: the outputs `[steps, directions, 1, hidden]`, the last state and the last cell, `[directions, 1, hidden]`.
    mutating func recur(
        _ kind: Recurrence.Kind,
        _ input: HeadValue,
        _ directions: [RecurrentWeights],
        hidden: Int,
        initial: (state: HeadValue?, cell: HeadValue?)
    ) throws(WakeWordError) -> [HeadValue] {
        guard input.shape.count == 3, input.shape[1] == 1, hidden > 0 else {
            throw .unsupported.saying("a recurrent layer over the extents \(input.shape) is not supported")
        }
        let (steps, depth, width) = (input.shape[0], input.shape[2], kind.gates * hidden)
        let output = try value([steps, directions.count, 1, hidden])
        let state = try start(initial.state, [directions.count, 1, hidden])
        let cell = try start(initial.cell, [directions.count, 1, hidden])
        let places = (output: try place(output), state: try place(state), cell: try place(cell))
        for (index, direction) in directions.enumerated() {
            guard direction.recurrent.count == width * hidden, direction.inputBias.count == width,
                direction.recurrentBias.count == width
            else { throw .damaged.saying("the weights of a recurrent layer do not fit") }
            let inputs = try dense(
                input,
                weights: direction.input,
                bias: direction.inputBias,
                depth: depth,
                outputs: width
            )
            try count(operations: steps * width * hidden)
            let shape = ConvolutionShape(inputChannels: hidden, outputChannels: width)
            let weights = try add(layer: direction.recurrent, direction.recurrentBias, shape)
            let recurrence = Recurrence(
                kind: kind,
                hidden: hidden,
                steps: steps,
                isReversed: direction.isReversed,
                inputs: try place(inputs),
                weights: weights,
                shape: shape,
                state: places.state + index * hidden,
                cell: places.cell + index * hidden,
                scratch: try place(value([width])),
                output: places.output + index * hidden,
                outputStride: directions.count * hidden
            )
            try add(.recur(recurrence))
        }
        return [output, state, cell]
    }

    /// A tensor that begins as another one, or with zeros, each time.
    private mutating func start(_ initial: HeadValue?, _ shape: [Int]) throws(WakeWordError) -> HeadValue {
        let output = try value(shape)
        let first: HeadValue
        if let initial { first = initial } else { first = try constant(shape, 0 as Float) }
        guard first.count == output.count else {
            throw .damaged.saying("a recurrent layer begins with the extents \(first.shape), not \(shape)")
        }
        try copy(first, to: output)
        return output
    }
}
