import KernelInterface

/// All weights of a network in one buffer, laid out as the kernels read them.
struct PackedWeights: ~Copyable, Sendable {
    /// One layer's weights.
    struct Place: Sendable {
        /// Where they begin, in floats.
        var offset = 0
        /// How the layer's inputs are rounded; nil where it computes with floats.
        var quantiser: Quantiser?
    }

    let buffer: AlignedBuffer
    let layout: QuantisedLayout
    /// By layer; those without weights are at 0.
    let places: [Place]

    /// - Parameter ranges: the largest inputs by tensor: those of the layers that shall be quantised.
    init(
        _ network: Network,
        ranges: [String: Double],
        layout: QuantisedLayout,
        from file: SafeTensors
    ) throws(ModelError) {
        var places = [Place](repeating: Place(), count: network.layers.count)
        var count = 0
        func quantiser(_ layer: Network.Layer, _ shape: ConvolutionShape) -> Quantiser? {
            let input = network.tensors[layer.inputs[0]]
            guard shape.canBeQuantised, let range = ranges[input.name] else { return nil }
            return Quantiser(range: Float(range), isNonNegative: input.isNonNegative)
        }
        for (index, layer) in network.layers.enumerated() {
            guard case .convolution(let numbers, let dense, _) = layer.operation else { continue }
            // Present and of the right shape, before memory is asked for on the description's word alone.
            try file.require(layer.name + ".weight", shape: PackedWeights.shape(numbers, dense: dense))
            try file.require(layer.name + ".bias", shape: [numbers.outputChannels])
            places[index].offset = count
            let shape = numbers.shape
            places[index].quantiser = quantiser(layer, shape)
            let isFloat = places[index].quantiser == nil
            count += aligned(isFloat ? packedConvolutionCount(shape) : packedQuantisedCount(shape))
            guard count <= Limits.weights else {
                throw .size.saying("\(file.file): layer \(quoted(layer.name)): the packed weights are too many")
            }
        }
        let buffer = AlignedBuffer(count: count)
        for (index, layer) in network.layers.enumerated() {
            guard case .convolution(let numbers, let dense, _) = layer.operation else { continue }
            let shape = numbers.shape
            let stored = PackedWeights.shape(numbers, dense: dense)
            let weights = try file.floats(layer.name + ".weight", shape: stored)
            let bias = try file.floats(layer.name + ".bias", shape: [numbers.outputChannels])
            let target = buffer.base + places[index].offset
            if let quantiser = places[index].quantiser {
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
        self.buffer = buffer
        self.layout = layout
        self.places = places
    }

    private static func shape(_ numbers: LayerDescription.ConvolutionNumbers, dense: Bool) -> [Int] {
        dense
            ? [numbers.outputChannels, numbers.inputChannels]
            : [numbers.outputChannels, numbers.kernel, numbers.inputChannels / numbers.groups]
    }
}
