private import Core
import KernelInterface

/// The validated layers of a confirming network: a graph of tensors with their shapes.
struct PlaneLayers: Sendable {
    struct Layer: Sendable {
        var name: String
        var operation: ConfirmingLayerDescription.Operation
        /// Indices of tensors.
        var inputs: [Int]
    }

    /// The features, then the output of every layer: that of layer i is tensor i + 1.
    private(set) var planes: [Plane]
    private(set) var layers: [Layer] = []
    /// Index of the logits' tensor.
    private(set) var output = 0
    /// Names of the tensors.
    private(set) var names = ["features"]

    /// - Parameter place: the file and the network in it, in error messages.
    init(_ description: ConfirmingNetworkDescription, features: Plane, place: String) throws(ModelError) {
        planes = [features]
        guard (1...Limits.layers).contains(description.layers.count) else {
            throw .description.saying(
                "\(place): key “layers”: \(description.layers.count) layers, not from 1 to \(Limits.layers)"
            )
        }
        var indices = ["features": 0]
        var (activations, weights, multiplyAdds) = (features.count, 0, 0)
        for layer in description.layers {
            let inference = PlaneInference(layer: layer, place: place)
            guard indices[layer.name] == nil else { throw inference.wrong("the name is taken; rename it") }
            var inputs: [Int] = []
            for name in layer.inputs {
                guard let index = indices[name] else {
                    throw inference.wrong("no layer before it is called \(quoted(name))")
                }
                inputs.append(index)
            }
            let plane = try inference.output(of: inputs.map { planes[$0] })
            if case .convolution(let convolution, _) = layer.operation {
                let shape = convolution.shape(of: planes[inputs[0]])
                weights += shape.weightCount + shape.outputChannels
                multiplyAdds += shape.weightCount * plane.bands * plane.frames
            }
            activations += plane.count
            guard activations <= Limits.activations else { throw inference.tooLarge("activations of the window") }
            guard weights <= Limits.weights else { throw inference.tooLarge("weights") }
            guard multiplyAdds <= Limits.multiplyAdds else { throw inference.tooLarge("multiply-adds of a window") }
            indices[layer.name] = planes.count
            names.append(layer.name)
            planes.append(plane)
            layers.append(Layer(name: layer.name, operation: layer.operation, inputs: inputs))
        }
        guard let output = indices[description.output] else {
            throw .description.saying("\(place): key “output”: no layer is called \(quoted(description.output))")
        }
        let plane = planes[output]
        guard plane == Plane(bands: 1, frames: 1, channels: description.labels.count) else {
            throw .layer.saying(
                "\(place): layer \(quoted(description.output)): \(plane), but as “output” it must be one frame with a channel "
                    + "for each of \(description.labels.count) labels"
            )
        }
        self.output = output
    }

    /// Whether no value of a tensor can be negative, as after a ReLU.
    func isNonNegative(_ index: Int) -> Bool {
        guard index > 0 else { return false }
        let layer = layers[index - 1]
        switch layer.operation {
        case .convolution(_, let activation), .add(let activation): return activation == .relu
        case .meanBands, .meanFrames, .middleFrames: return isNonNegative(layer.inputs[0])
        case .bandScale: return false
        }
    }
}

/// The weights of a confirming network in the layout that the kernels read.
struct ConfirmingWeights: ~Copyable, Sendable {
    /// One layer's weights.
    struct Layer: Sendable {
        /// Offset of the weights in the arena, in floats.
        var offset = 0
        /// How the input is quantised; nil for a layer that computes in floats.
        var quantiser: Quantiser?
        /// Floats from the weights of one part of the bands to those of the next.
        var partStride = 0
    }

    private let arena: Arena
    /// One entry for each layer; unused for layers without weights.
    let layers: [Layer]

    var base: UnsafePointer<Float> { UnsafePointer(arena.base) }
    /// Floats.
    var count: Int { arena.count }

    /// Packs the weights `<name>.<layer>.weight` and so on of `file`.
    ///
    /// - Parameter ranges: the largest input of each layer to quantise, by the name of its input tensor.
    /// - Throws: `ModelError` if a tensor is missing or does not fit, or there are too many weights.
    init(
        _ network: PlaneLayers,
        name: String,
        ranges: [String: Double],
        layout quantisedLayout: QuantisedLayout,
        from file: SafeTensors
    ) throws(ModelError) {
        var layers = [Layer](repeating: Layer(), count: network.layers.count)
        var layout = Arena.Layout()
        for (index, layer) in network.layers.enumerated() {
            let (key, input) = ("\(name).\(layer.name)", layer.inputs[0])
            let count: Int
            switch layer.operation {
            case .convolution(let convolution, _):
                // The tensors must exist before memory is allocated for the sizes that the description claims.
                try file.requirePlaneWeights(of: key, shape: convolution.storedShape)
                try file.require(key + ".bias", shape: [convolution.outputChannels])
                let shape = convolution.shape(of: network.planes[input])
                if shape.canBeQuantised, let range = ranges[network.names[input]] {
                    layers[index].quantiser = Quantiser(
                        range: Float(range),
                        isNonNegative: network.isNonNegative(input)
                    )
                    count = packedQuantisedCount(shape)
                } else {
                    count = packedConvolutionCount(shape)
                }
            case .bandScale(let channels, let parts):
                try file.require(key + ".scale", shape: [channels, parts])
                try file.require(key + ".shift", shape: [channels, parts])
                layers[index].partStride = Arena.aligned(2 * channels)
                count = parts * layers[index].partStride
            case .meanBands, .meanFrames, .middleFrames, .add: continue
            }
            layers[index].offset = layout.reserve(count).offset
            guard layout.count <= Limits.weights else {
                throw .size.saying(
                    "\(file.file): layer \(quoted(key)): the packed weights exceed the limit; make the model smaller"
                )
            }
        }
        let arena = Arena(layout)
        for (index, layer) in network.layers.enumerated() {
            let (key, target) = ("\(name).\(layer.name)", arena.base + layers[index].offset)
            switch layer.operation {
            case .convolution(let convolution, _):
                let shape = convolution.shape(of: network.planes[layer.inputs[0]])
                let weights = try file.planeWeights(of: key, shape: convolution.storedShape)
                let bias = try file.floats(key + ".bias", shape: [convolution.outputChannels])
                if let quantiser = layers[index].quantiser {
                    packQuantisedConvolution(
                        weights: weights,
                        bias: bias,
                        shape: shape,
                        quantiser: quantiser,
                        layout: quantisedLayout,
                        into: target
                    )
                } else {
                    packConvolution(weights: weights, bias: bias, shape: shape, into: target)
                }
            case .bandScale(let channels, let parts):
                let scale = try file.floats(key + ".scale", shape: [channels, parts])
                let shift = try file.floats(key + ".shift", shape: [channels, parts])
                let shape = ConvolutionShape(inputChannels: channels, outputChannels: channels, groups: channels)
                for part in 0..<parts {
                    let every = stride(from: part, to: channels * parts, by: parts)
                    packConvolution(
                        weights: every.map { scale[$0] },
                        bias: every.map { shift[$0] },
                        shape: shape,
                        into: target + part * layers[index].partStride
                    )
                }
            case .meanBands, .meanFrames, .middleFrames, .add: continue
            }
        }
        self.arena = arena
        self.layers = layers
    }
}

extension PlaneConvolution {
    /// Shape of the stored weights.
    fileprivate var storedShape: [Int] { [outputChannels, kernel.bands, kernel.frames, inputChannels / groups] }
}
