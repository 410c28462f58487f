private import Core

/// The validated layers of a model: a graph of tensors with their shapes.
public struct Network: Sendable {
    /// The output of a layer, or the network's input: `[columns × channels]`.
    ///
    /// `crop` and `flatten` compute nothing: their tensors are views of the memory of the tensor `root`.
    public struct Tensor: Sendable {
        public internal(set) var name: String
        /// Shape for the whole window.
        var plane: Plane
        /// New columns per hop; 0 where the model does not stream.
        public let columnsPerHop: Int
        /// Index of the tensor that owns the memory.
        let root: Int
        /// Whether no value can be negative, as after a ReLU.
        let isNonNegative: Bool
        /// Columns of the root before the view; 0 if this is not a view.
        var columnsBefore = 0
        /// Columns of the root after the view; 0 if this is not a view.
        var columnsAfter = 0

        public var channels: Int { plane.channels }
        /// Columns of the whole window, in each band.
        public var columns: Int { plane.frames }
        /// New columns of a hop, but no more than the window has.
        var newColumns: Int { min(columnsPerHop, columns) }
    }

    public struct Layer: Sendable {
        public let name: String
        package let operation: LayerDescription.Operation
        /// Indices of tensors.
        public let inputs: [Int]

        private var convolution: PlaneConvolution? {
            if case .convolution(let convolution, _) = operation { convolution } else { nil }
        }
        /// Number of weights and biases.
        public var parameters: Int { multiplyAddsPerColumn + (convolution?.outputChannels ?? 0) }
        /// Multiply-adds for one output column: the weights.
        public var multiplyAddsPerColumn: Int { convolution?.weightCount ?? 0 }
    }

    /// The network's input, then the output of every layer: that of layer i is tensor i + 1.
    public private(set) var tensors: [Tensor]
    public private(set) var layers: [Layer] = []
    /// Index of the logits' tensor.
    public private(set) var output = 0
    /// Indices of the embedding's tensors, one for each part; empty without an embedding.
    public private(set) var embedding: [Int] = []
    /// Index of the tensor of speech logits, one per column.
    public private(set) var activity: Int?
    /// Whether it can run hop by hop.
    public let streams: Bool

    /// The layers alone.
    ///
    /// - Parameters:
    ///   - input: name and shape of the network's input.
    ///   - columnsPerHop: its new columns per hop; 0 where the network does not stream.
    ///   - place: the file, and what of it, in error messages.
    private init(
        _ descriptions: [LayerDescription],
        input: (name: String, plane: Plane),
        columnsPerHop: Int,
        place: String
    ) throws(ModelError) {
        streams = columnsPerHop > 0
        tensors = [
            Tensor(name: input.name, plane: input.plane, columnsPerHop: columnsPerHop, root: 0, isNonNegative: false)
        ]
        guard (1...Limits.layers).contains(descriptions.count) else {
            throw .description.saying(
                "\(place): key “layers”: \(descriptions.count) layers, not from 1 to \(Limits.layers)"
            )
        }
        var indices = [input.name: 0]
        var (activations, parameters, multiplyAdds) = (input.plane.count, 0, 0)
        for layer in descriptions {
            let inference = ShapeInference(layer: layer, place: place, streams: streams)
            guard indices[layer.name] == nil else { throw inference.wrong("the name is taken; rename it") }
            var inputs: [Int] = []
            for name in layer.inputs {
                guard let index = indices[name] else {
                    throw inference.wrong("no layer before it is called \(quoted(name))")
                }
                inputs.append(index)
            }
            let tensor = try inference.output(of: inputs.map { tensors[$0] }, index: tensors.count)
            let valid = Layer(name: layer.name, operation: layer.operation, inputs: inputs)
            layers.append(valid)
            indices[layer.name] = tensors.count
            if tensor.root == tensors.count { activations += tensor.plane.count }
            tensors.append(tensor)
            guard activations <= Limits.activations else { throw inference.tooLarge("activations of the window") }
            parameters += valid.parameters
            multiplyAdds += valid.multiplyAddsPerColumn * tensor.plane.columns
            guard parameters <= Limits.weights else { throw inference.tooLarge("weights") }
            guard multiplyAdds <= Limits.multiplyAdds else {
                throw inference.tooLarge("multiply-adds of a window")
            }
        }
    }

    /// The network of a model.
    init(_ description: ModelDescription, frontEnd: FrontEnd, file: String) throws(ModelError) {
        if description.streaming, description.hopSamples % frontEnd.hopSamples != 0 {
            throw .description.saying(
                "\(file): key “hopSamples”: \(description.hopSamples) is no multiple of the front end's "
                    + "\(frontEnd.hopSamples); set streaming to false or change a hop"
            )
        }
        try self.init(
            description.layers,
            input: ("input", Plane(frames: frontEnd.columns, channels: frontEnd.channels)),
            columnsPerHop: description.streaming ? description.hopSamples / frontEnd.hopSamples : 0,
            place: file
        )
        output = try single(description.output, "output", file)
        if let parts = description.embedding?.layers {
            guard (1...Limits.embeddingParts).contains(parts.count), Set(parts).count == parts.count else {
                throw .description.saying(
                    "\(file): key “embedding”: \(parts.count) layers, not from 1 to \(Limits.embeddingParts), or one of them twice"
                )
            }
            for name in parts { embedding.append(try single(name, "embedding", file)) }
        }
        if let name = description.activity {
            let index = try index(name, "activity", file)
            try validateActivity(tensors[index], file: file)
            activity = index
        }
        try requireLabels(description.outputLabels.count, key: "outputLabels", file)
    }

    init(_ description: ConfirmingNetworkDescription, features: Plane, place: String) throws(ModelError) {
        try self.init(description.layers, input: ("features", features), columnsPerHop: 0, place: place)
        output = try single(description.output, "output", place)
        try requireLabels(description.labels.count, key: "labels", place)
    }

    /// A network over whole windows, described in code: its output is all columns of its last layer.
    ///
    /// - Parameters:
    ///   - columns: of a window, and their channels.
    ///   - place: what it is, in error messages.
    package init(
        _ layers: [LayerDescription],
        input: String,
        columns: Int,
        channels: Int,
        place: String
    ) throws(ModelError) {
        let plane = Plane(frames: columns, channels: channels)
        try self.init(layers, input: (input, plane), columnsPerHop: 0, place: place)
        output = tensors.count - 1
    }

    private func index(_ name: String, _ key: String, _ place: String) throws(ModelError) -> Int {
        guard let index = tensors.firstIndex(where: { $0.name == name }) else {
            throw .description.saying("\(place): key “\(key)”: no layer is called \(quoted(name))")
        }
        return index
    }

    /// The index of a layer with one column.
    private func single(_ name: String, _ key: String, _ place: String) throws(ModelError) -> Int {
        let index = try index(name, key, place)
        guard tensors[index].plane.columns == 1 else {
            throw .layer.saying(
                "\(place): layer \(quoted(name)): \(tensors[index].plane) over the window, but as “\(key)” it must have one "
                    + "column; add a mean or flatten"
            )
        }
        return index
    }

    private func requireLabels(_ count: Int, key: String, _ place: String) throws(ModelError) {
        guard count == tensors[output].channels else {
            throw .description.saying(
                "\(place): key “\(key)”: \(count) labels for \(tensors[output].channels) logits; name one label for each"
            )
        }
    }

    /// An activity layer must have one channel, and hold all new columns of a hop in its window.
    private func validateActivity(_ tensor: Tensor, file: String) throws(ModelError) {
        func wrong(_ what: String) -> ModelError {
            .layer.saying("\(file): layer \(quoted(tensor.name)): as “activity” \(what); see Models/FORMAT.md")
        }
        guard streams else { throw wrong("it must stream, but streaming is false") }
        guard tensor.channels == 1 else { throw wrong("it must have one channel, not \(tensor.channels)") }
        guard tensor.columnsPerHop <= tensor.columns else {
            throw wrong("it must hold a hop's \(tensor.columnsPerHop) new columns, but has \(tensor.columns)")
        }
    }

    /// Number of weights and biases of all layers.
    public var parameters: Int { layers.reduce(0) { $0 + $1.parameters } }

    /// For each tensor, whether a run needs it.
    ///
    /// - Parameter embeds: whether to compute the embedding, which may need layers of its own.
    func required(embeds: Bool) -> [Bool] {
        ancestors(of: [output] + (embeds ? embedding : []) + [activity].compactMap { $0 })
    }

    /// For each tensor, whether it is one of `ends` or one of them depends on it.
    func ancestors(of ends: [Int]) -> [Bool] {
        var isAncestor = [Bool](repeating: false, count: tensors.count)
        for index in ends { isAncestor[index] = true }
        for (index, layer) in layers.enumerated().reversed() where isAncestor[index + 1] {
            for input in layer.inputs { isAncestor[input] = true }
        }
        return isAncestor
    }

    /// The other input of an `add` layer that can be fused into the convolution just before it, because nothing else
    /// reads the convolution's output; nil if it cannot.
    func fusedAddend(of index: Int) -> Int? {
        let inputs = layers[index].inputs
        // Tensor 0 is the network's input, so that tensor `index` is the output of the layer before.
        guard inputs.count == 2, inputs[0] != inputs[1], let side = inputs.firstIndex(of: index),
            tensors[inputs[0]].plane == tensors[inputs[1]].plane
        else { return nil }
        let readers = layers.reduce(0) { $0 + $1.inputs.count { $0 == index } }
        guard readers == 1, index != output, index != activity, !embedding.contains(index) else { return nil }
        return inputs[1 - side]
    }
}
