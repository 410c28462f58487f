import Kernels

/// The layers of a model after every check: who reads whom, and how many columns each has over the window.
public struct Network: Sendable {
    /// The outcome of a layer, or the input of the first.
    ///
    /// `crop` and `flatten` compute nothing: their tensors are views, `root` being the tensor whose memory they share.
    public struct Tensor: Sendable {
        public let name: String
        public let channels: Int
        /// Columns over the whole window.
        public let columns: Int
        /// Columns that a hop brings; 0 where the model does not stream.
        public let columnsPerHop: Int
        let root: Int
        /// No number is below zero: it ends in ReLU, or comes of one that does.
        let isNonNegative: Bool
        /// Columns of the root before and behind the view.
        let before: Int
        let behind: Int

        /// New columns of a hop that the window still holds.
        var fresh: Int { min(columnsPerHop, columns) }
    }

    public struct Layer: Sendable {
        public let name: String
        public let operation: LayerDescription.Operation
        /// Indices of tensors.
        public let inputs: [Int]
        /// Trained numbers, biases among them.
        public let parameters: Int
        /// Multiply-adds for one output column.
        public let multiplyAddsPerColumn: Int
    }

    /// The network's input, then the outcome of every layer: layer i makes tensor i + 1.
    public private(set) var tensors: [Tensor]
    public private(set) var layers: [Layer] = []
    /// Index of the logits' tensor.
    public private(set) var output = 0
    public private(set) var embedding: Int?
    /// Index of the tensor that tells, column by column, whether somebody speaks.
    public private(set) var activity: Int?
    public let streams: Bool

    init(_ description: ModelDescription, frontEnd: FrontEnd, file: String) throws(ModelError) {
        streams = description.streaming
        if streams, description.hopSamples % frontEnd.hopSamples != 0 {
            throw .description.saying(
                "\(file): key “hopSamples”: \(description.hopSamples) is no multiple of the front end's "
                    + "\(frontEnd.hopSamples); set streaming to false or change a hop"
            )
        }
        let input = Tensor(
            name: "input",
            channels: frontEnd.channels,
            columns: frontEnd.columns,
            columnsPerHop: streams ? description.hopSamples / frontEnd.hopSamples : 0,
            root: 0,
            isNonNegative: false,
            before: 0,
            behind: 0
        )
        tensors = [input]
        guard (1...Limits.layers).contains(description.layers.count) else {
            throw .description.saying(
                "\(file): key “layers”: \(description.layers.count) layers, not from 1 to \(Limits.layers)"
            )
        }
        var indices = ["input": 0]
        var multiplyAdds = 0
        for layer in description.layers {
            let rules = LayerRules(layer: layer, file: file, streams: streams)
            guard indices[layer.name] == nil else { throw rules.wrong("the name is taken; rename it") }
            var inputs: [Int] = []
            for name in layer.inputs {
                guard let index = indices[name] else {
                    throw rules.wrong("no layer before it is called \(quoted(name))")
                }
                inputs.append(index)
            }
            let tensor = try rules.outcome(of: inputs, among: tensors, index: tensors.count)
            layers.append(rules.layer(inputs: inputs))
            indices[layer.name] = tensors.count
            tensors.append(tensor)
            guard activationCount <= Limits.activations else { throw rules.tooLarge("activations of the window") }
            multiplyAdds += rules.layer(inputs: inputs).multiplyAddsPerColumn * tensor.columns
            guard parameters <= Limits.weights else { throw rules.tooLarge("weights") }
            guard multiplyAdds <= Limits.multiplyAdds else {
                throw rules.tooLarge("multiply-adds of a window")
            }
        }

        func place(_ name: String, _ key: String) throws(ModelError) -> Int {
            guard let index = indices[name] else {
                throw .description.saying("\(file): key “\(key)”: no layer is called \(quoted(name))")
            }
            return index
        }
        func single(_ name: String, _ key: String) throws(ModelError) -> Int {
            let index = try place(name, key)
            guard tensors[index].columns == 1 else {
                throw .layer.saying(
                    "\(file): layer \(quoted(name)): \(tensors[index].columns) columns over the window, but as "
                        + "“\(key)” it must have one; add a mean or flatten"
                )
            }
            return index
        }
        output = try single(description.output, "output")
        if let name = description.embedding { embedding = try single(name, "embedding") }
        if let name = description.activity {
            let index = try place(name, "activity")
            try checkActivity(tensors[index], file: file)
            activity = index
        }
        guard description.outputLabels.count == tensors[output].channels else {
            throw .description.saying(
                "\(file): key “outputLabels”: \(description.outputLabels.count) labels for "
                    + "\(tensors[output].channels) logits; name one label for each"
            )
        }
    }

    /// An activity layer has one logit a column, and each of a hop's new columns is one of the window's.
    private func checkActivity(_ tensor: Tensor, file: String) throws(ModelError) {
        func wrong(_ what: String) -> ModelError {
            .layer.saying("\(file): layer \(quoted(tensor.name)): as “activity” \(what); see Models/FORMAT.md")
        }
        guard streams else { throw wrong("it must stream, but streaming is false") }
        guard tensor.channels == 1 else { throw wrong("it must have one channel, not \(tensor.channels)") }
        guard tensor.columnsPerHop <= tensor.columns else {
            throw wrong("it must hold a hop's \(tensor.columnsPerHop) new columns, but has \(tensor.columns)")
        }
    }

    /// Trained numbers, biases among them.
    public var parameters: Int { layers.reduce(0) { $0 + $1.parameters } }

    /// Multiply-adds of the layers when a whole window is computed, without those that lead to the embedding alone.
    public var multiplyAddsPerWindow: Int { multiplyAdds { $0.columns } }

    /// For each tensor, whether a run computes it, or looks at it.
    ///
    /// - Parameter embeds: whether the embedding is asked for, to which layers of its own may lead.
    func wanted(embeds: Bool) -> [Bool] {
        leading(to: [output, embeds ? embedding : nil, activity].compactMap { $0 })
    }

    /// For each tensor, whether it is one of these, or they come of it.
    func leading(to ends: [Int]) -> [Bool] {
        var wanted = [Bool](repeating: false, count: tensors.count)
        for index in ends { wanted[index] = true }
        for (index, layer) in layers.enumerated().reversed() where wanted[index + 1] {
            for input in layer.inputs { wanted[input] = true }
        }
        return wanted
    }

    /// What an `add` adds to the convolution just before it, where nothing else reads that one: the two are then one step.
    func fusedAddend(of index: Int) -> Int? {
        let inputs = layers[index].inputs
        // Tensor 0 is the input, so the layer before has the tensor of this one's number.
        guard inputs.count == 2, inputs[0] != inputs[1], let side = inputs.firstIndex(of: index) else { return nil }
        let readers = layers.reduce(0) { $0 + $1.inputs.count { $0 == index } }
        guard readers == 1, ![output, embedding, activity].contains(index) else { return nil }
        return inputs[1 - side]
    }

    /// Multiply-adds of the layers for each hop: those of the new columns, or of the window where nothing streams.
    public var multiplyAddsPerHop: Int { streams ? multiplyAdds { $0.fresh } : multiplyAddsPerWindow }

    private func multiplyAdds(columns: (Tensor) -> Int) -> Int {
        let wanted = wanted(embeds: false)
        return layers.indices.reduce(0) { sum, index in
            guard wanted[index + 1] else { return sum }
            return sum + layers[index].multiplyAddsPerColumn * columns(tensors[index + 1])
        }
    }

    /// Floats of all tensors that own memory, over a window.
    private var activationCount: Int {
        tensors.indices.reduce(0) { sum, index in
            let tensor = tensors[index]
            return tensor.root == index ? sum + tensor.columns * tensor.channels : sum
        }
    }
}
