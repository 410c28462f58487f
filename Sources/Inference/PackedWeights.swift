import KernelInterface

/// All weights of a network in the layout that the kernels read.
struct PackedWeights: ~Copyable, Sendable {
    /// One layer's weights.
    struct Layer: Sendable {
        /// Offset of the weights in the arena, in floats.
        var offset = 0
        /// How the layer's inputs are quantised; nil for a layer that computes in floats.
        var quantiser: Quantiser?
    }

    private let arena: Arena
    let layout: QuantisedLayout
    /// One entry for each layer of the network; unused for layers without weights.
    let layers: [Layer]

    /// Packs the weights of `file`.
    ///
    /// - Parameter ranges: the largest input of each layer to quantise, by the name of its input tensor.
    /// - Throws: `ModelError` if a tensor is missing or does not fit, or there are too many weights.
    init(
        _ network: Network,
        ranges: [String: Double],
        layout: QuantisedLayout,
        from file: SafeTensors
    ) throws(ModelError) {
        var layers = [Layer](repeating: Layer(), count: network.layers.count)
        var arenaLayout = Arena.Layout()
        func quantiser(_ layer: Network.Layer, _ shape: ConvolutionShape) -> Quantiser? {
            let input = network.tensors[layer.inputs[0]]
            guard shape.canBeQuantised, let range = ranges[input.name] else { return nil }
            return Quantiser(range: Float(range), isNonNegative: input.isNonNegative)
        }
        for (index, layer) in network.layers.enumerated() {
            guard case .convolution(let numbers, let dense, _) = layer.operation else { continue }
            // The tensors must exist before memory is allocated for the sizes that the description claims.
            try file.require(layer.name + ".weight", shape: PackedWeights.storedShape(numbers, dense: dense))
            try file.require(layer.name + ".bias", shape: [numbers.outputChannels])
            let shape = numbers.shape
            layers[index].quantiser = quantiser(layer, shape)
            let isFloat = layers[index].quantiser == nil
            let count = isFloat ? packedConvolutionCount(shape) : packedQuantisedCount(shape)
            layers[index].offset = arenaLayout.reserve(count).offset
            guard arenaLayout.count <= Limits.weights else {
                throw .size.saying(
                    "\(file.file): layer \(quoted(layer.name)): the packed weights exceed the limit; make the model smaller"
                )
            }
        }
        let arena = Arena(arenaLayout)
        for (index, layer) in network.layers.enumerated() {
            guard case .convolution(let numbers, let dense, _) = layer.operation else { continue }
            let shape = numbers.shape
            let stored = PackedWeights.storedShape(numbers, dense: dense)
            let weights = try file.floats(layer.name + ".weight", shape: stored)
            let bias = try file.floats(layer.name + ".bias", shape: [numbers.outputChannels])
            let target = arena.base + layers[index].offset
            if let quantiser = layers[index].quantiser {
                packQuantisedConvolution(
                    weights: weights,
                    bias: bias,
                    shape: shape,
                    quantiser: quantiser,
                    layout: layout,
                    into: target
                )
            } else {
                packConvolution(weights: weights, bias: bias, shape: shape, into: target)
            }
        }
        self.arena = arena
        self.layout = layout
        self.layers = layers
    }

    var base: UnsafePointer<Float> { UnsafePointer(arena.base) }
    /// Floats.
    var count: Int { arena.count }

    private static func storedShape(_ numbers: LayerDescription.ConvolutionNumbers, dense: Bool) -> [Int] {
        dense
            ? [numbers.outputChannels, numbers.inputChannels]
            : [numbers.outputChannels, numbers.kernel, numbers.inputChannels / numbers.groups]
    }
}
