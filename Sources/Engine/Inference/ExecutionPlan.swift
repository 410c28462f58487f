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
package struct ExecutionPlan: Sendable {
    struct Convolution: Sendable {
        var shape: ConvolutionShape
        /// Floats from the start of the weights.
        var weights: Int
        var isQuantised = false
        /// Floats from the start of the weights to those for `KernelSet.ConvolveFast`; nil without.
        var fastWeights: Int?
        /// Adjacent output columns that are computed as one.
        var foldedColumns = 1
        var residual: Int?
        var relu = false
        /// The results as floats; nil where nothing reads them.
        var floats: Int?
        /// The quantised results; nil where nothing reads them, or another step quantises.
        var quantised: Int?
        var quantiser: Quantiser?
        /// Bands of the output that are computed one after the other, and inputs from those of one to those of the next.
        var bands = 1
        var bandStride = 0
    }

    /// A copy of a tensor with zeros around it.
    struct Surround: Sendable {
        var from: Plane
        var convolution: PlaneConvolution
        var inputBytes: Int
        var zero: Int
    }

    enum Operation: Sendable {
        case convolution(Convolution)
        case surround(Surround, output: Int)
        /// - Parameter bands: to each of which the right addend is added.
        case add(right: Int, bands: Int, relu: Bool, output: Int)
        case mean(width: Int, output: Int)
        /// In place.
        case silu, gelu
        /// - Parameter scale: floats from the start of the weights to the factors and the summands after them; nil without.
        case normalise(scale: Int?, output: Int)
        /// - Parameter scratch: memory for as many floats as the output has.
        case gate(output: Int, scratch: Int)
        case attention(Attention, output: Int, scratch: Int)
        case quantise(Quantiser, output: Int)
    }

    struct Step: Sendable {
        var operation: Operation
        var input: Int
        /// Columns that it computes, of a band if bands are computed one after the other, and their channels.
        var columns: Int
        var channels: Int
    }

    /// Where the tensors are in the state.
    let layout: TensorLayout
    /// Whether columns of earlier runs are read.
    let hasHistory: Bool
    private(set) var steps: [Step] = []
    /// Floats of the state: the tensors, then scratch memory of kernels.
    package var count: Int { layout.count + scratchCount }
    private var scratchCount = 0
    /// Multiply-adds of a run.
    private(set) var multiplyAdds = 0
    /// Offset of the newest logits, in floats as all offsets below.
    package let output: Int
    /// Where the embedding is; nothing unless the plan computes it.
    let embedding: EmbeddingOutput?
    /// Offset of the newest hop's activity logits.
    let activity: Int
    /// Input columns that the front end computes for a run.
    let inputColumns: Int
    /// Offset at which the front end writes them.
    package let inputOffset: Int

    /// - Parameters:
    ///   - embeds: whether to compute the embedding, which may need layers of its own.
    ///   - hops: one for a live stream, more for a chunk of a file; nil for a whole window.
    ///   - stream: of a window, the plan of hops that may follow it, and needs its newest columns.
    package init(
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
            let channels = network.tensors[output].channels
            let target = layout.tensors[output].floats.newOffset
            let from = network.tensors[layer.inputs[0]].plane
            func input(_ columns: Int) -> Int { layout.floats(layer.inputs[0], columns: columns, network) }
            func append(_ operation: Operation, _ input: Int, columns: Int = columns, channels: Int = channels) {
                steps.append(Step(operation: operation, input: input, columns: columns, channels: channels))
            }
            switch layer.operation {
            case .convolution(let convolution, let activation):
                let isHop = hops != nil
                var step = self.convolution(
                    convolution,
                    from,
                    layout.tensors[output],
                    weights.layers[index],
                    columns,
                    isHop
                )
                step.relu = activation == .relu
                if isFused, let residual = network.fusedAddend(of: index + 1),
                    case .add(let activation) = network.layers[index + 1].operation
                {
                    step.residual = layout.floats(residual, columns: columns, network)
                    step.relu = activation == .relu
                }
                let inputColumns = step.shape.inputColumns(for: columns)
                var source =
                    step.isQuantised
                    ? layout.quantised(layer.inputs[0], columns: inputColumns, network) : input(inputColumns)
                if convolution.isPadded {
                    let quantiser = step.isQuantised ? layout.quantiser(of: layer.inputs[0], network) : nil
                    let surround = Surround(
                        from: from,
                        convolution: convolution,
                        inputBytes: step.isQuantised ? weights.layout.inputBytes : 4,
                        zero: Int(quantiser?.zeroPoint ?? 0)
                    )
                    append(.surround(surround, output: 4 * layout.count), source)
                    source = 4 * layout.count
                }
                append(.convolution(step), source, columns: columns / step.bands)
                if activation == .silu { append(.silu, target) }
                if activation == .gelu { append(.gelu, target) }
                multiplyAdds += step.shape.weightCount * columns
            case .bandScale(_, let parts):
                let packed = weights.layers[index]
                let size = 4 * columns / parts * channels
                for part in 0..<parts {
                    var scale = Convolution(
                        shape: .channelScale(channels),
                        weights: packed.offset + part * packed.partStride
                    )
                    scale.floats = target + part * size
                    append(.convolution(scale), input(columns) + part * size, columns: columns / parts)
                }
            case .mean(let width): append(.mean(width: width, output: target), input(columns + width - 1))
            case .meanFrames: append(.mean(width: from.frames, output: target), input(columns))
            case .meanBands:
                let width = from.frames * from.channels
                append(.mean(width: from.bands, output: target), input(columns), columns: 1, channels: width)
            case .add(let activation):
                if layout.isFusedAdd[index] { continue }
                for (number, other) in layer.inputs.enumerated().dropFirst() {
                    let isLast = number + 1 == layer.inputs.count
                    // One band is added to every band.
                    let bands = network.tensors[other].plane == from ? 1 : from.bands
                    let right = layout.floats(other, columns: columns / bands, network)
                    append(
                        .add(right: right, bands: bands, relu: isLast && activation == .relu, output: target),
                        number == 1 ? input(columns) : target,
                        columns: columns / bands
                    )
                }
            case .normalise(let isScaled):
                let scale = isScaled ? weights.layers[index].offset : nil
                append(.normalise(scale: scale, output: target), input(columns))
            case .gate:
                scratchCount = max(scratchCount, Arena.aligned(columns * channels))
                append(.gate(output: target, scratch: 4 * layout.count), input(columns))
            case .attention(let heads):
                let attention = Attention(columns: columns, width: channels, heads: heads)
                scratchCount = max(scratchCount, attention.scratchCount)
                append(.attention(attention, output: target, scratch: 4 * layout.count), input(columns))
            case .crop, .middleFrames, .flatten: continue
            }
            quantise(output, network)
        }
    }

    /// A convolution, but for what follows it.
    private mutating func convolution(
        _ convolution: PlaneConvolution,
        _ from: Plane,
        _ output: TensorLayout.Tensor,
        _ packed: PackedWeights.Layer,
        _ columns: Int,
        _ isHop: Bool
    ) -> Convolution {
        let padded = convolution.padded(from)
        var step = Convolution(shape: convolution.shape(of: from), weights: packed.offset)
        step.isQuantised = packed.isQuantised
        step.foldedColumns = packed.foldedColumns
        if output.floats.newCount > 0 { step.floats = output.floats.newOffset }
        if output.isFused { (step.quantised, step.quantiser) = (output.quantised.newOffset, output.quantiser) }
        if !convolution.isLine(from) {
            step.bands = (padded.bands - convolution.kernel.bands) / convolution.stride.bands + 1
            step.bandStride = convolution.stride.bands * step.shape.bandStride
        }
        if convolution.isPadded {
            // As many floats suffice for integers; kernels may read some inputs beyond the last one.
            scratchCount = max(scratchCount, Arena.aligned(padded.count + quantisedGroupSize))
        }
        // A stream's history may hold columns that are not finite.
        if !isHop, step.shape.isFast(columns: columns), packed.fastOffset != nil {
            step.fastWeights = packed.fastOffset
            let scratch = (FastConvolution(step.shape).scratchBytes(columns: columns) + 3) / 4
            scratchCount = max(scratchCount, Arena.aligned(scratch))
        }
        return step
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
}
