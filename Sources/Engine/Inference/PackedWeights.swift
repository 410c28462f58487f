private import Core
package import KernelInterface

/// All weights of a network in the layout that the kernels read.
package struct PackedWeights: ~Copyable, Sendable {
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
        /// Floats from the weights of one part of the bands to those of the next.
        var partStride = 0
        /// Whether the weights are packed by ``packLate(_:from:)``.
        var isLate = false
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
    ///   - late: for each layer, whether ``packLate(_:from:)`` packs its weights; nil for none.
    ///   - prefix: of the tensors' names in the file.
    ///   - ranges: the largest input of each layer to quantise, by the name of its input tensor.
    ///   - kernels: the kernels that will read the weights.
    /// - Throws: `ModelError` if a tensor is missing or does not fit, or there are too many weights.
    package init(
        _ network: Network,
        late: [Bool]? = nil,
        prefix: String = "",
        ranges: [String: Double],
        kernels: borrowing KernelSet,
        from file: SafeTensors
    ) throws(ModelError) {
        var layers = [Layer](repeating: Layer(), count: network.layers.count)
        var arenaLayout = Arena.Layout()
        let quantisers = PackedWeights.quantisers(network, ranges)
        let layout = kernels.quantisedLayout
        let isLate = late ?? Array(repeating: false, count: layers.count)
        // Late ones last, so that their pages stay untouched.
        for (index, layer) in network.layers.enumerated().sorted(by: { !isLate[$0.offset] && isLate[$1.offset] }) {
            layers[index].isLate = isLate[index]
            let key = prefix + layer.name
            let input = network.tensors[layer.inputs[0]]
            // The tensors must exist before memory is allocated for the sizes that the description claims.
            switch layer.operation {
            case .convolution(let convolution, _):
                try file.requireWeights(of: key, shape: convolution.storedShape)
                try file.require(key + ".bias", shape: [convolution.outputChannels])
                let shape = convolution.shape(of: input.plane)
                let isQuantised = shape.canBeQuantised && ranges[input.name] != nil
                layers[index].isQuantised = isQuantised
                if !isQuantised, convolution.isLine(input.plane) {
                    layers[index].foldedColumns = PackedWeights.foldedColumns(of: index, shape, network)
                }
                let computed = shape.folded(layers[index].foldedColumns)
                let count = isQuantised ? packedQuantisedCount(shape) : packedConvolutionCount(computed)
                layers[index].offset = arenaLayout.reserve(count).offset
                // Whether the fast algorithm can compute a layer is known when it is packed, which is too late for the plans of others.
                if isQuantised, !isLate[index], kernels.convolveFast != nil, convolution.isLine(input.plane),
                    shape.isFast(columns: network.tensors[index + 1].columns)
                {
                    layers[index].fastOffset = arenaLayout.reserve(FastConvolution(shape).packedCount).offset
                }
            case .bandScale(let channels, let parts):
                try file.require(key + ".scale", shape: [channels, parts])
                try file.require(key + ".shift", shape: [channels, parts])
                layers[index].partStride = Arena.aligned(packedConvolutionCount(.channelScale(channels)))
                layers[index].offset = arenaLayout.reserve(parts * layers[index].partStride).offset
            case .normalise(isScaled: true):
                for part in [".weight", ".bias"] { try file.require(key + part, shape: [input.channels]) }
                layers[index].offset = arenaLayout.reserve(2 * input.channels).offset
            default: continue
            }
            guard arenaLayout.count <= Limits.weights else {
                throw .size.saying(
                    "\(file.file): layer \(quoted(key)): the packed weights exceed the limit; make the model smaller"
                )
            }
        }
        let arena = Arena(writtenLater: arenaLayout)
        for (index, layer) in network.layers.enumerated() where !isLate[index] {
            let target = arena.base + layers[index].offset
            try Self.pack(layer, network, layers[index], quantisers, layout, prefix + layer.name, file, target)
            if let offset = layers[index].fastOffset, case .convolution(let convolution, _) = layer.operation {
                let shape = convolution.shape(of: network.tensors[layer.inputs[0]].plane)
                if !packFastConvolution(target, shape: shape, into: arena.base + offset) {
                    layers[index].fastOffset = nil
                }
            }
        }
        self.arena = arena
        self.layout = layout
        self.layers = layers
        self.quantisers = quantisers
    }

    /// Packs the weights of the late layers, once, before they are used.
    ///
    /// - Throws: `ModelError` if a tensor cannot be read or is not finite.
    func packLate(_ network: Network, from file: SafeTensors) throws(ModelError) {
        for (index, layer) in network.layers.enumerated() where layers[index].isLate {
            let target = arena.base + layers[index].offset
            try Self.pack(layer, network, layers[index], quantisers, layout, layer.name, file, target)
        }
    }

    private static func pack(
        _ layer: Network.Layer,
        _ network: Network,
        _ packed: Layer,
        _ quantisers: [Quantiser?],
        _ layout: QuantisedLayout,
        _ key: String,
        _ file: SafeTensors,
        _ target: UnsafeMutablePointer<Float>
    ) throws(ModelError) {
        switch layer.operation {
        case .convolution(let convolution, _):
            let input = network.tensors[layer.inputs[0]]
            let quantiser = packed.isQuantised ? quantisers[input.root] : nil
            try pack(convolution, input.plane, packed, quantiser, layout, key, file, target)
        case .bandScale(let channels, let parts):
            let scale = try file.floats(key + ".scale", shape: [channels, parts])
            let shift = try file.floats(key + ".shift", shape: [channels, parts])
            for part in 0..<parts {
                let every = stride(from: part, to: channels * parts, by: parts)
                packConvolution(
                    weights: every.map { scale[$0] },
                    bias: every.map { shift[$0] },
                    shape: .channelScale(channels),
                    into: target + part * packed.partStride
                )
            }
        case .normalise(isScaled: true):
            let channels = network.tensors[layer.inputs[0]].channels
            let factors = try file.floats(key + ".weight", shape: [channels])
            let summands = try file.floats(key + ".bias", shape: [channels])
            for (place, number) in (factors + summands).enumerated() { target[place] = number }
        default: break
        }
    }

    /// Packs one convolution, in integers if there is a quantiser for its input.
    private static func pack(
        _ convolution: PlaneConvolution,
        _ input: Plane,
        _ layer: Layer,
        _ quantiser: Quantiser?,
        _ layout: QuantisedLayout,
        _ key: String,
        _ file: SafeTensors,
        _ target: UnsafeMutablePointer<Float>
    ) throws(ModelError) {
        let (shape, stored) = (convolution.shape(of: input), convolution.storedShape)
        let bias = try file.floats(key + ".bias", shape: [shape.outputChannels])
        if let quantiser, let integers = try file.integers(of: key, shape: stored, computed: shape) {
            packQuantisedConvolution(
                integers: integers.weights,
                steps: integers.steps,
                bias: bias,
                shape: shape,
                quantiser: quantiser,
                layout: layout,
                into: target
            )
            return
        }
        if let quantiser, let quaternions = try file.quaternions(of: key, shape: stored) {
            // Row by row: all weights at once would be memory that is used once.
            withUnsafeTemporaryAllocation(of: Float.self, capacity: quaternions.depth) { row in
                guard let row = row.baseAddress else { return }
                packQuantisedConvolution(bias: bias, shape: shape, quantiser: quantiser, layout: layout, into: target) {
                    quaternions.write($0, to: row)
                    return UnsafePointer(row)
                }
            }
            return
        }
        let weights = try file.weights(of: key, shape: stored)
        if let quantiser {
            packQuantisedConvolution(
                weights: weights,
                bias: bias,
                shape: shape,
                quantiser: quantiser,
                layout: layout,
                into: target
            )
            return
        }
        let count = layer.foldedColumns
        let folded =
            count == 1 ? (weights, bias) : foldConvolution(weights: weights, bias: bias, shape: shape, columns: count)
        packConvolution(weights: folded.0, bias: folded.1, shape: shape.folded(count), into: target)
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

    package var base: UnsafePointer<Float> { UnsafePointer(arena.base) }
    /// Floats.
    var count: Int { arena.count }
}

extension ConvolutionShape {
    /// A factor and a summand for each channel.
    static func channelScale(_ channels: Int) -> ConvolutionShape {
        ConvolutionShape(inputChannels: channels, outputChannels: channels, groups: channels)
    }
}
