import KernelInterface
import Kernels

/// The two plans of a model, with or without its embedding.
struct ExecutionPlans: Sendable {
    /// Computes a whole window.
    let window: ExecutionPlan
    /// Computes one hop; nil where the model does not stream.
    let hop: ExecutionPlan?

    init(_ network: Network, weights: borrowing PackedWeights, embeds: Bool) {
        window = ExecutionPlan.window(network, weights: weights, embeds: embeds)
        hop = network.streams ? ExecutionPlan.hops(1, network, weights: weights, embeds: embeds) : nil
    }

    /// Floats of scratch memory that either plan needs.
    var scratchCount: Int { max(window.scratchCount, hop?.scratchCount ?? 0) }
}

/// The steps of one run through a network, with every address resolved to a float offset into one block of memory, the state.
///
/// `window` computes all columns. `hops` computes the new columns of some hops; each tensor's buffer then holds the old columns
/// that its readers still need, its history, followed by the new ones.
struct ExecutionPlan: Sendable {
    /// A tensor's memory: `historyCount` floats of old columns, then `newCount` floats that a run computes.
    struct TensorBuffer: Sendable {
        var offset = 0
        var historyCount = 0
        var newCount = 0

        /// Offset of the first new column.
        var newOffset: Int { offset + historyCount }
        /// Offset after the last column.
        var end: Int { newOffset + newCount }
    }

    private struct Convolution: Sendable {
        var shape: ConvolutionShape
        var weights: Int
        var quantiser: Quantiser?
        var residual: Int?
        var relu: Bool
    }

    private enum Operation: Sendable {
        case convolution(Convolution)
        case add(right: Int, relu: Bool)
        case mean(width: Int)
    }

    private struct Step: Sendable {
        var operation: Operation
        var input: Int
        var output: Int
        var columns: Int
        var channels: Int
    }

    /// The buffer of each tensor; views have no memory of their own, so theirs stay empty.
    private(set) var buffers: [TensorBuffer]
    private var steps: [Step] = []
    /// Floats of the state.
    private(set) var count = 0
    /// Floats of scratch memory that a run needs per stream.
    private(set) var scratchCount = 0
    /// Offset of the newest logits.
    private(set) var output = 0
    /// Offset of the newest embedding.
    private(set) var embedding = 0
    /// Offset of the newest hop's activity logits.
    private(set) var activity = 0
    /// Input columns that the front end computes for a run.
    let inputColumns: Int
    /// Offset at which the front end writes them.
    let inputOffset: Int

    /// A plan that computes all columns of the window.
    ///
    /// - Parameter embeds: whether to compute the embedding, which may need layers of its own.
    static func window(_ network: Network, weights: borrowing PackedWeights, embeds: Bool) -> ExecutionPlan {
        ExecutionPlan(
            network,
            weights: weights,
            embeds: embeds,
            byHops: false,
            newColumns: { $0.columns },
            historyColumns: { _ in 0 }
        )
    }

    /// A plan that computes the new columns of `hops` hops: one for a live stream, more for a chunk of a file.
    static func hops(_ hops: Int, _ network: Network, weights: borrowing PackedWeights, embeds: Bool) -> ExecutionPlan {
        let required = network.required(embeds: embeds)
        // Columns that a buffer must hold. Readers need the newest columns of a view, and a cropped view may end before
        // the buffer does.
        var columnsRead = [Int](repeating: 0, count: network.tensors.count)
        func read(_ index: Int, columns: Int) {
            let tensor = network.tensors[index]
            columnsRead[tensor.root] = max(columnsRead[tensor.root], tensor.columnsAfter + columns)
        }
        for (index, layer) in network.layers.enumerated() where required[index + 1] {
            let tensor = network.tensors[index + 1]
            switch layer.operation {
            case .convolution(let numbers, _, _):
                read(layer.inputs[0], columns: numbers.shape.inputColumns(for: hops * tensor.newColumns))
            case .mean(let width): read(layer.inputs[0], columns: hops * tensor.newColumns + width - 1)
            case .add: for input in layer.inputs { read(input, columns: hops * tensor.newColumns) }
            case .crop, .flatten: break
            }
        }
        read(network.output, columns: hops)
        if embeds, let index = network.embedding { read(index, columns: hops) }
        if let index = network.activity { read(index, columns: hops * network.tensors[index].columnsPerHop) }
        return ExecutionPlan(
            network,
            weights: weights,
            embeds: embeds,
            byHops: true,
            newColumns: { hops * $0.newColumns },
            historyColumns: { max(0, columnsRead[$0.root] - hops * $0.newColumns) }
        )
    }

    private init(
        _ network: Network,
        weights: borrowing PackedWeights,
        embeds: Bool,
        byHops: Bool,
        newColumns: (Network.Tensor) -> Int,
        historyColumns: (Network.Tensor) -> Int
    ) {
        buffers = Array(repeating: TensorBuffer(), count: network.tensors.count)
        let required = network.required(embeds: embeds)
        for (index, tensor) in network.tensors.enumerated() where tensor.root == index && required[index] {
            let buffer = TensorBuffer(
                offset: count,
                historyCount: historyColumns(tensor) * tensor.channels,
                newCount: newColumns(tensor) * tensor.channels
            )
            buffers[index] = buffer
            count += Arena.aligned(buffer.historyCount + buffer.newCount)
        }
        inputColumns = newColumns(network.tensors[0])
        inputOffset = buffers[0].newOffset

        let buffers = self.buffers
        /// Offset of the `columns` columns of a tensor that a run reads: in a hop the newest ones, counted from the
        /// end; in a window the first ones, since a stride may leave some columns at the end unread.
        func offset(of index: Int, columns: Int) -> Int {
            let tensor = network.tensors[index]
            let channels = network.tensors[tensor.root].channels
            let buffer = buffers[tensor.root]
            guard byHops else { return buffer.offset + tensor.columnsBefore * channels }
            return buffer.end - (tensor.columnsAfter + columns) * channels
        }
        for (index, layer) in network.layers.enumerated() where required[index + 1] {
            let tensor = network.tensors[index + 1]
            let columns = newColumns(tensor)
            let inputColumns: Int
            let operation: Operation
            switch layer.operation {
            case .convolution(let numbers, _, let relu):
                let packed = weights.layers[index]
                operation = .convolution(
                    Convolution(
                        shape: numbers.shape,
                        weights: packed.offset,
                        quantiser: packed.quantiser,
                        residual: nil,
                        relu: relu
                    )
                )
                inputColumns = numbers.shape.inputColumns(for: columns)
                if packed.quantiser != nil {
                    // The kernels may read up to the end of a group.
                    let count = inputColumns * numbers.inputChannels + quantisedGroupSize
                    scratchCount = max(scratchCount, Arena.aligned(count * weights.layout.inputBytes / 4))
                }
            case .mean(let width):
                operation = .mean(width: width)
                inputColumns = columns + width - 1
            case .add(let relu):
                if let residual = network.fusedAddend(of: index), newColumns(network.tensors[index]) == columns,
                    let last = steps.last, case .convolution(var convolution) = last.operation, !convolution.relu
                {
                    convolution.residual = offset(of: residual, columns: columns)
                    convolution.relu = relu
                    steps[steps.count - 1].operation = .convolution(convolution)
                    steps[steps.count - 1].output = buffers[index + 1].newOffset
                    continue
                }
                operation = .add(right: offset(of: layer.inputs[1], columns: columns), relu: relu)
                inputColumns = columns
            case .crop, .flatten: continue
            }
            let step = Step(
                operation: operation,
                input: offset(of: layer.inputs[0], columns: inputColumns),
                output: buffers[index + 1].newOffset,
                columns: columns,
                channels: tensor.channels
            )
            steps.append(step)
        }
        output = offset(of: network.output, columns: 1)
        embedding = offset(of: embeds ? network.embedding ?? network.output : network.output, columns: 1)
        if let index = network.activity {
            let tensor = network.tensors[index]
            let oldColumns = byHops ? 0 : tensor.columns - tensor.columnsPerHop
            activity = offset(of: index, columns: tensor.columnsPerHop) + oldColumns * tensor.channels
        }
    }

    // The loops below count indices: an array's iterator allocates in builds without optimisation, and tests require
    // that these builds do not allocate either.

    /// Moves the newest columns of every buffer into its history, before a hop computes new ones.
    func shiftHistory(_ state: UnsafeMutablePointer<Float>) {
        for index in buffers.indices {
            let buffer = buffers[index]
            guard buffer.historyCount > 0 else { continue }
            let start = state + buffer.offset
            start.update(from: start + buffer.newCount, count: buffer.historyCount)
        }
    }

    /// Runs all steps, after the front end has written the input columns.
    ///
    /// - Parameters:
    ///   - state: `count` floats of each stream, 64-byte aligned.
    ///   - scratch: `scratchCount` floats per stream, 64-byte aligned.
    ///   - streams: number of states; each layer runs over all of them before the next, so that its weights are read once.
    ///   - streamStride: floats from one stream's state to the next.
    func run(
        _ state: UnsafeMutablePointer<Float>,
        weights: UnsafePointer<Float>,
        kernels: borrowing KernelSet,
        scratch: UnsafeMutablePointer<Float>,
        streams: Int = 1,
        streamStride: Int = 0
    ) {
        for index in steps.indices {
            let step = steps[index]
            let input = UnsafePointer(state + step.input)
            let output = state + step.output
            switch step.operation {
            case .convolution(let convolution):
                let memory = Memory(
                    state: state,
                    weights: weights,
                    scratch: scratch,
                    streams: streams,
                    streamStride: streamStride
                )
                convolve(step, convolution, memory, kernels)
            case .add(let right, let relu):
                for offset in stride(from: 0, through: (streams - 1) * streamStride, by: max(streamStride, 1)) {
                    kernels.add(
                        input + offset,
                        state + right + offset,
                        output + offset,
                        step.columns * step.channels,
                        relu
                    )
                }
            case .mean(let width):
                for offset in stride(from: 0, through: (streams - 1) * streamStride, by: max(streamStride, 1)) {
                    kernels.mean(input + offset, output + offset, step.columns, width, step.channels)
                }
            }
        }
    }

    private struct Memory {
        var state: UnsafeMutablePointer<Float>
        var weights: UnsafePointer<Float>
        var scratch: UnsafeMutablePointer<Float>
        var streams: Int
        var streamStride: Int
    }

    /// One stream: all columns in one call. Several: one call per column, for that column of all streams.
    private func convolve(
        _ step: Step,
        _ convolution: Convolution,
        _ memory: Memory,
        _ kernels: borrowing KernelSet
    ) {
        let shape = convolution.shape
        let input = UnsafePointer(memory.state + step.input)
        let output = memory.state + step.output
        let residual = convolution.residual.map { UnsafePointer(memory.state + $0) }
        let packed = memory.weights + convolution.weights
        let adjacent = shape.adjacentColumns(step.columns)
        var columns = adjacent
        var calls = 1
        if memory.streams > 1 {
            let stride = memory.streamStride
            columns = StridedColumns(count: memory.streams, inputStride: stride, outputStride: stride)
            calls = step.columns
        }
        guard let quantiser = convolution.quantiser else {
            for call in 0..<calls {
                let target = call * adjacent.outputStride
                kernels.convolve(
                    input + call * adjacent.inputStride,
                    output + target,
                    columns,
                    packed,
                    shape,
                    residual.map { $0 + target },
                    convolution.relu
                )
            }
            return
        }
        let count = shape.inputColumns(for: step.columns) * shape.inputChannels
        let inputBytes = kernels.quantisedLayout.inputBytes
        let quantised = UnsafeMutableRawPointer(memory.scratch)
        var isFinite = true
        for stream in 0..<memory.streams {
            let target = quantised + 4 * stream * scratchCount
            if !kernels.quantise(input + stream * memory.streamStride, target, count, quantiser) { isFinite = false }
        }
        if memory.streams > 1 { columns.inputStride = 4 * scratchCount / inputBytes }
        for call in 0..<calls {
            let target = call * adjacent.outputStride
            kernels.convolveQuantised(
                UnsafeRawPointer(quantised + call * adjacent.inputStride * inputBytes),
                output + target,
                columns,
                packed,
                shape,
                residual.map { $0 + target },
                convolution.relu
            )
        }
        guard !isFinite else { return }
        for stream in 0..<memory.streams {
            let start = stream * memory.streamStride
            propagateNonFinite(input + start, output + start, step.columns, shape)
        }
    }

    /// Sets each output column to NaN that depends on a NaN or infinite input, because integers cannot represent these.
    private func propagateNonFinite(
        _ input: UnsafePointer<Float>,
        _ output: UnsafeMutablePointer<Float>,
        _ columns: Int,
        _ shape: ConvolutionShape
    ) {
        let adjacent = shape.adjacentColumns(columns)
        for column in 0..<columns {
            let first = input + column * adjacent.inputStride
            guard firstNonFinite(first, count: shape.span * shape.inputChannels) != nil else { continue }
            for channel in 0..<shape.outputChannels { output[column * adjacent.outputStride + channel] = .nan }
        }
    }
}
