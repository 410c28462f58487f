import KernelContract

/// All weights of a network in one buffer, laid out as the kernels read them.
struct PackedWeights: ~Copyable, Sendable {
    let buffer: AlignedBuffer
    /// Where each layer's weights begin, in floats; layers without weights have 0.
    let offsets: [Int]

    init(_ network: Network, from file: SafeTensors) throws(ModelError) {
        var offsets: [Int] = []
        var count = 0
        for layer in network.layers {
            guard case .convolution(let numbers, let dense, _) = layer.operation else {
                offsets.append(0)
                continue
            }
            // Present and of the right shape, before memory is asked for on the description's word alone.
            let shape = PackedWeights.shape(numbers, dense: dense)
            try file.require(layer.name + ".weight", shape: shape)
            try file.require(layer.name + ".bias", shape: [numbers.outputChannels])
            offsets.append(count)
            count += aligned(packedConvolutionCount(numbers.shape))
            guard count <= Limits.weights else {
                throw .size.saying("\(file.file): layer \(quoted(layer.name)): the packed weights are too many")
            }
        }
        let buffer = AlignedBuffer(count: count)
        for (layer, offset) in zip(network.layers, offsets) {
            guard case .convolution(let numbers, let dense, _) = layer.operation else { continue }
            let shape = PackedWeights.shape(numbers, dense: dense)
            let weights = try file.floats(layer.name + ".weight", shape: shape)
            let bias = try file.floats(layer.name + ".bias", shape: [numbers.outputChannels])
            packConvolution(weights: weights, bias: bias, shape: numbers.shape, into: buffer.base + offset)
        }
        self.buffer = buffer
        self.offsets = offsets
    }

    private static func shape(_ numbers: LayerDescription.ConvolutionNumbers, dense: Bool) -> [Int] {
        dense
            ? [numbers.outputChannels, numbers.inputChannels]
            : [numbers.outputChannels, numbers.kernel, numbers.inputChannels / numbers.groups]
    }
}
