import KernelInterface
import Kernels

/// The two plans of a model, with or without its embedding.
struct ExecutionPlans: Sendable {
    /// Computes a whole window.
    let window: ExecutionPlan
    /// Computes one hop; nil where the model does not stream.
    let hop: ExecutionPlan?

    init(_ network: Network, weights: borrowing PackedWeights, embeds: Bool) {
        hop = network.streams ? ExecutionPlan(network, weights: weights, embeds: embeds, hops: 1) : nil
        window = ExecutionPlan(network, weights: weights, embeds: embeds, hops: nil, stream: hop)
    }
}

/// The steps of one run through a network, with every address resolved to a byte offset into one block of memory, the state.
///
/// The plan of a window computes what the newest outputs need. A plan of hops computes their new columns; the state then holds the old
/// columns that layers still read. Between quantised layers, columns are kept as their 7-bit integers only.
struct ExecutionPlan: Sendable {
    private struct Convolution: Sendable {
        var shape: ConvolutionShape
        /// Floats from the start of the weights.
        var weights: Int
        var isQuantised: Bool
        /// Floats from the start of the weights to those for `KernelSet.ConvolveFast`; nil without.
        var fastWeights: Int?
        /// Adjacent output columns that are computed as one.
        var foldedColumns: Int
        var residual: Int?
        var relu: Bool
        /// The results as floats; nil where nothing reads them.
        var floats: Int?
        /// The quantised results; nil where nothing reads them, or another step quantises.
        var quantised: Int?
        var quantiser: Quantiser?
    }

    private enum Operation: Sendable {
        case convolution(Convolution)
        case add(right: Int, relu: Bool, output: Int)
        case mean(width: Int, output: Int)
        case quantise(Quantiser, output: Int)
    }

    private struct Step: Sendable {
        var operation: Operation
        var input: Int
        /// Columns that it computes, and their channels.
        var columns: Int
        var channels: Int
    }

    /// Where the tensors are in the state.
    let layout: TensorLayout
    /// Whether columns of earlier runs are read.
    private let hasHistory: Bool
    private var steps: [Step] = []
    /// Floats of the state: the tensors, then scratch memory of kernels.
    var count: Int { layout.count + scratchCount }
    private var scratchCount = 0
    /// Multiply-adds of a run.
    private(set) var multiplyAdds = 0
    /// Offset of the newest logits, in floats as all offsets below.
    let output: Int
    /// Where the embedding is; nothing unless the plan computes it.
    let embedding: EmbeddingOutput?
    /// Offset of the newest hop's activity logits.
    let activity: Int
    /// Input columns that the front end computes for a run.
    let inputColumns: Int
    /// Offset at which the front end writes them.
    let inputOffset: Int

    /// - Parameters:
    ///   - embeds: whether to compute the embedding, which may need layers of its own.
    ///   - hops: one for a live stream, more for a chunk of a file; nil for a whole window.
    ///   - stream: of a window, the plan of hops that may follow it, and needs its newest columns.
    init(
        _ network: Network,
        weights: borrowing PackedWeights,
        embeds: Bool,
        hops: Int?,
        stream: ExecutionPlan? = nil
    ) {
        let layout = TensorLayout(network, weights: weights, embeds: embeds, hops: hops, stream: stream?.layout)
        self.layout = layout
        hasHistory = hops != nil
        inputColumns = layout.computed[0]
        inputOffset = layout.tensors[0].floats.newOffset / 4
        output = layout.floats(network.output, columns: 1, network) / 4
        embedding = embeds ? EmbeddingOutput(network) { layout.floats($0, columns: 1, network) / 4 } : nil
        activity =
            network.activity.map { layout.floats($0, columns: network.tensors[$0].columnsPerHop, network) / 4 } ?? 0

        let required = network.required(embeds: embeds)
        quantise(0, network)
        for (index, layer) in network.layers.enumerated() where required[index + 1] {
            // A sum that the convolution before it computes takes that one's place.
            let isFused = index + 1 < network.layers.count && layout.isFusedAdd[index + 1]
            let output = isFused ? index + 2 : index + 1
            let columns = layout.computed[output]
            let buffers = layout.tensors[output]
            let operation: Operation
            let input: Int
            switch layer.operation {
            case .convolution(let shape, _, let relu):
                let packed = weights.layers[index]
                var convolution = Convolution(
                    shape: shape,
                    weights: packed.offset,
                    isQuantised: packed.isQuantised,
                    foldedColumns: packed.foldedColumns,
                    relu: relu,
                    floats: buffers.floats.newCount > 0 ? buffers.floats.newOffset : nil
                )
                if isFused, let residual = network.fusedAddend(of: index + 1),
                    case .add(let relu) = network.layers[index + 1].operation
                {
                    convolution.residual = layout.floats(residual, columns: columns, network)
                    convolution.relu = relu
                }
                // A stream's history may hold columns that are not finite.
                if hops == nil, shape.isFast(columns: columns), packed.fastOffset != nil {
                    convolution.fastWeights = packed.fastOffset
                    let scratch = (FastConvolution(shape).scratchBytes(columns: columns) + 3) / 4
                    scratchCount = max(scratchCount, Arena.aligned(scratch))
                }
                if buffers.isFused {
                    convolution.quantised = buffers.quantised.newOffset
                    convolution.quantiser = buffers.quantiser
                }
                let inputColumns = shape.inputColumns(for: columns)
                input =
                    packed.isQuantised
                    ? layout.quantised(layer.inputs[0], columns: inputColumns, network)
                    : layout.floats(layer.inputs[0], columns: inputColumns, network)
                operation = .convolution(convolution)
                multiplyAdds += shape.weightCount * columns
            case .mean(let width):
                input = layout.floats(layer.inputs[0], columns: columns + width - 1, network)
                operation = .mean(width: width, output: buffers.floats.newOffset)
            case .add(let relu):
                if layout.isFusedAdd[index] { continue }
                input = layout.floats(layer.inputs[0], columns: columns, network)
                let right = layout.floats(layer.inputs[1], columns: columns, network)
                operation = .add(right: right, relu: relu, output: buffers.floats.newOffset)
            case .crop, .flatten: continue
            }
            steps.append(
                Step(operation: operation, input: input, columns: columns, channels: network.tensors[output].channels)
            )
            quantise(output, network)
        }
    }

    /// Appends the step that quantises a tensor's new columns, where no convolution does.
    private mutating func quantise(_ index: Int, _ network: Network) {
        let tensor = layout.tensors[index]
        guard let quantiser = tensor.quantiser, !tensor.isFused else { return }
        steps.append(
            Step(
                operation: .quantise(quantiser, output: tensor.quantised.newOffset),
                input: tensor.floats.newOffset,
                columns: layout.computed[index],
                channels: network.tensors[index].channels
            )
        )
    }

    /// Runs all steps, after the front end has written the input columns.
    ///
    /// - Parameters:
    ///   - state: `count` floats of each stream, 64-byte aligned.
    ///   - streams: number of states; each layer runs over all of them before the next, so that its weights are read once.
    ///   - streamStride: floats from one stream's state to the next.
    func run(
        _ state: UnsafeMutablePointer<Float>,
        weights: UnsafePointer<Float>,
        kernels: borrowing KernelSet,
        streams: Int = 1,
        streamStride: Int = 0
    ) {
        let memory = Memory(
            state: UnsafeMutableRawPointer(state),
            weights: weights,
            streams: streams,
            streamStride: 4 * streamStride
        )
        // Columns may be marked that an earlier run marked, or this one.
        var mayBeMarked = hasHistory
        // Counts indices: an array's iterator allocates in builds without optimisation, and tests require that these builds do not
        // allocate either.
        for index in steps.indices {
            let step = steps[index]
            if case .convolution(let convolution) = step.operation {
                convolve(step, convolution, memory, kernels, isFinite: !mayBeMarked)
                if mayBeMarked, convolution.isQuantised {
                    propagateNonFinite(step, convolution, memory, kernels.quantisedLayout.inputBytes)
                }
                continue
            }
            for stream in 0..<streams {
                let state = memory.state + stream * memory.streamStride
                let input = UnsafePointer(floats(state, step.input))
                let count = step.columns * step.channels
                switch step.operation {
                case .add(let right, let relu, let output):
                    kernels.add(input, floats(state, right), floats(state, output), count, relu)
                case .mean(let width, let output):
                    kernels.mean(input, floats(state, output), step.columns, width, step.channels)
                case .quantise(let quantiser, let output):
                    if !kernels.quantise(input, state + output, count, quantiser) {
                        markNonFinite(input, state + output, step, kernels.quantisedLayout)
                        mayBeMarked = true
                    }
                case .convolution: break
                }
            }
        }
    }

    private struct Memory {
        var state: UnsafeMutableRawPointer
        var weights: UnsafePointer<Float>
        var streams: Int
        /// In bytes.
        var streamStride: Int
    }

    private func floats(_ state: UnsafeMutableRawPointer, _ offset: Int) -> UnsafeMutablePointer<Float> {
        (state + offset).assumingMemoryBound(to: Float.self)
    }

    /// One stream: all columns in one call. Several: one call per column, for that column of all streams.
    ///
    /// Where the columns that are computed as one do not divide all columns, the last ones overlap those before.
    ///
    /// - Parameter isFinite: whether no column is marked as not finite, as the fast algorithm requires.
    private func convolve(
        _ step: Step,
        _ convolution: Convolution,
        _ memory: Memory,
        _ kernels: borrowing KernelSet,
        isFinite: Bool
    ) {
        let folded = convolution.foldedColumns
        let (whole, rest) = step.columns.quotientAndRemainder(dividingBy: folded)
        if memory.streams > 1 {
            let inputBytes = convolution.isQuantised ? kernels.quantisedLayout.inputBytes : 4
            let stride = memory.streamStride
            var streams = convolution.shape.adjacentColumns(memory.streams)
            (streams.inputStride, streams.outputStride) = (stride / inputBytes, stride / 4)
            for index in 0..<whole {
                convolve(step, convolution, from: index * folded, streams, quantisedStride: stride, memory, kernels)
            }
            if rest > 0 {
                let first = step.columns - folded
                convolve(step, convolution, from: first, streams, quantisedStride: stride, memory, kernels)
            }
        } else if isFinite, let weights = convolution.fastWeights, let kernel = kernels.convolveFast {
            let stride = convolution.shape.outputChannels * kernels.quantisedLayout.inputBytes
            kernel(
                memory.state + step.input,
                output(convolution, from: 0, quantisedStride: stride, memory, kernels),
                step.columns,
                memory.weights + convolution.weights,
                memory.weights + weights,
                convolution.shape,
                convolution.residual.map { UnsafePointer(floats(memory.state, $0)) },
                convolution.relu,
                memory.state + 4 * layout.count
            )
        } else {
            let shape = convolution.shape.folded(folded)
            let stride = shape.outputChannels * kernels.quantisedLayout.inputBytes
            let columns = shape.adjacentColumns(whole)
            convolve(step, convolution, from: 0, columns, quantisedStride: stride, memory, kernels)
            if rest > 0 {
                let last = shape.adjacentColumns(1)
                let first = step.columns - folded
                convolve(step, convolution, from: first, last, quantisedStride: stride, memory, kernels)
            }
        }
    }

    /// One call of the kernel, beginning with the step's column `first`.
    private func convolve(
        _ step: Step,
        _ convolution: Convolution,
        from first: Int,
        _ columns: StridedColumns,
        quantisedStride: Int,
        _ memory: Memory,
        _ kernels: borrowing KernelSet
    ) {
        let quantisedBytes = kernels.quantisedLayout.inputBytes
        let adjacent = convolution.shape.adjacentColumns(1)
        let shape = convolution.shape.folded(convolution.foldedColumns)
        let target = first * adjacent.outputStride
        let inputBytes = convolution.isQuantised ? quantisedBytes : 4
        let input = memory.state + step.input + first * adjacent.inputStride * inputBytes
        let residual = convolution.residual.map { UnsafePointer(floats(memory.state, $0) + target) }
        let output = output(convolution, from: target, quantisedStride: quantisedStride, memory, kernels)
        let (weights, relu) = (memory.weights + convolution.weights, convolution.relu)
        if convolution.isQuantised {
            kernels.convolveQuantised(input, output, columns, weights, shape, residual, relu)
        } else if let result = output.floats {
            kernels.convolve(floats(input, 0), result, columns, weights, shape, residual, relu)
        }
    }

    /// Where a call writes its results, beginning with the float `target` of the output.
    private func output(
        _ convolution: Convolution,
        from target: Int,
        quantisedStride: Int,
        _ memory: Memory,
        _ kernels: borrowing KernelSet
    ) -> QuantisedOutput {
        var output = QuantisedOutput()
        output.quantisedStride = quantisedStride
        if let quantiser = convolution.quantiser { output.quantiser = quantiser }
        if let offset = convolution.floats { output.floats = floats(memory.state, offset) + target }
        if let offset = convolution.quantised {
            output.quantised = memory.state + offset + target * kernels.quantisedLayout.inputBytes
        }
        return output
    }

    // Integers cannot represent NaN and infinity. A quantised column that holds one has all bits of its first channel set, which
    // the quantiser never makes, and every column that depends on it is marked the same way, or NaN.

    /// Marks the quantised columns whose floats are not all finite.
    private func markNonFinite(
        _ input: UnsafePointer<Float>,
        _ output: UnsafeMutableRawPointer,
        _ step: Step,
        _ layout: QuantisedLayout
    ) {
        for column in 0..<step.columns {
            guard firstNonFinite(input + column * step.channels, count: step.channels) != nil else { continue }
            mark(output + column * step.channels * layout.inputBytes, layout.inputBytes)
        }
    }

    private func mark(_ column: UnsafeMutableRawPointer, _ inputBytes: Int) {
        for byte in 0..<inputBytes { column.storeBytes(of: 0xFF, toByteOffset: byte, as: UInt8.self) }
    }

    /// Whether a quantised column is marked.
    private func isMarked(_ column: UnsafeRawPointer) -> Bool { column.load(as: UInt8.self) > 127 }

    /// Marks each output column that depends on a marked one.
    private func propagateNonFinite(
        _ step: Step,
        _ convolution: Convolution,
        _ memory: Memory,
        _ inputBytes: Int
    ) {
        for stream in 0..<memory.streams {
            propagateNonFinite(step, convolution, in: memory.state + stream * memory.streamStride, inputBytes)
        }
    }

    private func propagateNonFinite(
        _ step: Step,
        _ convolution: Convolution,
        in state: UnsafeMutableRawPointer,
        _ inputBytes: Int
    ) {
        let shape = convolution.shape
        let input = state + step.input
        let columnBytes = shape.inputChannels * inputBytes
        let residual = convolution.residual.map { floats(state, $0) }
        var isFinite = true
        for column in 0..<shape.inputColumns(for: step.columns) where isMarked(input + column * columnBytes) {
            isFinite = false
        }
        if let residual {
            for column in 0..<step.columns where !residual[column * step.channels].isFinite { isFinite = false }
        }
        guard !isFinite else { return }
        for column in 0..<step.columns {
            var isMarked = residual.map { !$0[column * step.channels].isFinite } ?? false
            for tap in 0..<shape.kernel {
                let place = column * shape.stride + tap * shape.dilation
                if self.isMarked(input + place * columnBytes) { isMarked = true }
            }
            guard isMarked else { continue }
            if let offset = convolution.floats {
                for channel in 0..<step.channels { floats(state, offset)[column * step.channels + channel] = .nan }
            }
            if let offset = convolution.quantised {
                mark(state + offset + column * step.channels * inputBytes, inputBytes)
            }
        }
    }
}
