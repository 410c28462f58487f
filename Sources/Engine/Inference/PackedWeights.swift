private import Core
import KernelInterface

/// All weights of a network in the layout that the kernels read.
struct PackedWeights: ~Copyable, Sendable {
    /// One layer's weights.
    struct Layer: Sendable {
        /// Offset of the weights in the arena, in floats.
        var offset = 0
        /// Whether the layer computes in integers.
        var isQuantised = false
        /// Offset of the weights for `KernelSet.ConvolveFast`; nil without.
        var fastOffset: Int?
        /// Adjacent output columns that are computed as one; see `ConvolutionShape.folded`.
        var foldedColumns = 1
    }

    private let arena: Arena
    let layout: QuantisedLayout
    /// One entry for each layer of the network; unused for layers without weights.
    let layers: [Layer]
    /// How each tensor is quantised for the layers that read it or a view of it; nil where all of them compute in floats.
    let quantisers: [Quantiser?]

    /// Packs the weights of `file`.
    ///
    /// - Parameters:
    ///   - ranges: the largest input of each layer to quantise, by the name of its input tensor.
    ///   - kernels: the kernels that will read the weights.
    /// - Throws: `ModelError` if a tensor is missing or does not fit, or there are too many weights.
    init(
        _ network: Network,
        ranges: [String: Double],
        kernels: borrowing KernelSet,
        from file: SafeTensors
    ) throws(ModelError) {
        var layers = [Layer](repeating: Layer(), count: network.layers.count)
        var arenaLayout = Arena.Layout()
        let quantisers = PackedWeights.quantisers(network, ranges)
        let layout = kernels.quantisedLayout
        for (index, layer) in network.layers.enumerated() {
            guard case .convolution(let shape, let dense, _) = layer.operation else { continue }
            // The tensors must exist before memory is allocated for the sizes that the description claims.
            try file.require(layer.name + ".weight", shape: PackedWeights.storedShape(shape, dense: dense))
            try file.require(layer.name + ".bias", shape: [shape.outputChannels])
            let isQuantised = shape.canBeQuantised && ranges[network.tensors[layer.inputs[0]].name] != nil
            layers[index].isQuantised = isQuantised
            if !isQuantised { layers[index].foldedColumns = PackedWeights.foldedColumns(of: index, shape, network) }
            let computed = shape.folded(layers[index].foldedColumns)
            let count = isQuantised ? packedQuantisedCount(shape) : packedConvolutionCount(computed)
            layers[index].offset = arenaLayout.reserve(count).offset
            if isQuantised, kernels.convolveFast != nil, shape.isFast(columns: network.tensors[index + 1].columns) {
                layers[index].fastOffset = arenaLayout.reserve(FastConvolution(shape).packedCount).offset
            }
            guard arenaLayout.count <= Limits.weights else {
                throw .size.saying(
                    "\(file.file): layer \(quoted(layer.name)): the packed weights exceed the limit; make the model smaller"
                )
            }
        }
        let arena = Arena(arenaLayout)
        for (index, layer) in network.layers.enumerated() {
            guard case .convolution(let shape, let dense, _) = layer.operation else { continue }
            let stored = PackedWeights.storedShape(shape, dense: dense)
            let bias = try file.floats(layer.name + ".bias", shape: [shape.outputChannels])
            let target = arena.base + layers[index].offset
            if layers[index].isQuantised, let quantiser = quantisers[network.tensors[layer.inputs[0]].root] {
                if let integers = try file.integers(of: layer.name, shape: stored, computed: shape) {
                    packQuantisedConvolution(
                        integers: integers.weights,
                        steps: integers.steps,
                        bias: bias,
                        shape: shape,
                        quantiser: quantiser,
                        layout: layout,
                        into: target
                    )
                } else {
                    packQuantisedConvolution(
                        weights: try file.weights(of: layer.name, shape: stored),
                        bias: bias,
                        shape: shape,
                        quantiser: quantiser,
                        layout: layout,
                        into: target
                    )
                }
                if let offset = layers[index].fastOffset,
                    !packFastConvolution(target, shape: shape, into: arena.base + offset)
                {
                    layers[index].fastOffset = nil
                }
            } else {
                let weights = try file.weights(of: layer.name, shape: stored)
                let count = layers[index].foldedColumns
                let folded =
                    count == 1
                    ? (weights, bias) : foldConvolution(weights: weights, bias: bias, shape: shape, columns: count)
                packConvolution(weights: folded.0, bias: folded.1, shape: shape.folded(count), into: target)
            }
        }
        self.arena = arena
        self.layout = layout
        self.layers = layers
        self.quantisers = quantisers
    }

    /// Floats of a folded layer at most: it may take eight times the memory of the layer.
    private static let largestFold = 1 << 20

    /// Columns of a layer that are computed as one.
    ///
    /// A column's result then depends on its neighbours' inputs where these are not finite. So columns of a stream are not folded:
    /// its hops would differ from a whole window.
    private static func foldedColumns(of index: Int, _ shape: ConvolutionShape, _ network: Network) -> Int {
        let count = shape.foldableColumns
        guard !network.streams, network.tensors[index + 1].columns >= count else { return 1 }
        return packedConvolutionCount(shape.folded(count)) > largestFold ? 1 : count
    }

    /// A tensor and its views are quantised alike, by the largest of their ranges.
    private static func quantisers(_ network: Network, _ ranges: [String: Double]) -> [Quantiser?] {
        var largest = [Double](repeating: 0, count: network.tensors.count)
        for tensor in network.tensors { largest[tensor.root] = max(largest[tensor.root], ranges[tensor.name] ?? 0) }
        return zip(network.tensors, largest).map { tensor, range in
            range > 0 ? Quantiser(range: Float(range), isNonNegative: tensor.isNonNegative) : nil
        }
    }

    var base: UnsafePointer<Float> { UnsafePointer(arena.base) }
    /// Floats.
    var count: Int { arena.count }

    private static func storedShape(_ shape: ConvolutionShape, dense: Bool) -> [Int] {
        dense
            ? [shape.outputChannels, shape.inputChannels]
            : [shape.outputChannels, shape.kernel, shape.inputChannels / shape.groups]
    }
}
