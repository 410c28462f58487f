private import Core

/// Turns the graph of a file into steps.
///
/// All that moves elements without computing becomes copies: reshaping, joining, slicing, splitting, padding, and the rings of variables. All
/// that computes becomes a dense or a depthwise layer, a table, a sum, a product or a pool.
struct NetworkCompiler {
    let file: TFLiteFile
    let graph: TFLiteFile.Graph
    var parts: NetworkParts
    let hopsPerStep: Int
    let input: Int
    private(set) var output = 0
    let inputFormat: NumberFormat
    private(set) var outputFormat: NumberFormat

    struct Variable {
        let place: Int
        let count: Int
    }

    var budget: ModelBudget { parts.budget }

    /// Places of the tensors that are there: computed by the steps until now, or constant.
    var places: [Int: Int] = [:]
    var variables: [String: Variable] = [:]
    /// The variables that handles of the graph stand for.
    var handles: [Int: String] = [:]

    init(_ file: TFLiteFile) throws(WakeWordError) {
        self.file = file
        parts = NetworkParts(file.buffer.budget)
        guard let graph = file.graphs.first, graph.inputs.count == 1, graph.outputs.count == 1 else {
            throw .unsupported.saying("not a network with one input and one output, as wake-word models are")
        }
        self.graph = graph
        let first = graph.tensors[graph.inputs[0]]
        let last = graph.tensors[graph.outputs[0]]
        inputFormat = try Self.format(first)
        outputFormat = try Self.format(last)
        let bands = MicroFrontEnd.bands
        hopsPerStep = first.count / bands
        guard first.shape.last == bands, first.count == hopsPerStep * bands, (1...32).contains(hopsPerStep) else {
            throw .unsupported.saying(
                "its input has the shape \(first.shape), not [1, hops, \(bands)]; use a streaming model of microWakeWord"
            )
        }
        guard last.count == 1 else {
            throw .unsupported.saying("its output has the shape \(last.shape), not one probability")
        }
        input = try parts.reserve(first.count)
        places[graph.inputs[0]] = input
        for operation in graph.operators { try add(operation) }
        guard let place = places[graph.outputs[0]] else { throw .damaged.saying("its output is not computed") }
        output = place
    }

    private mutating func add(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        // Of each operator, what it does and the place of its result.
        try budget.take(2 * MemoryLayout<NetworkStep>.stride + 8 * MemoryLayout<(Int, Int)>.stride)
        switch OperatorKind(rawValue: operation.code) {
        case .callOnce: try initialise(operation)
        case .varHandle: try handle(operation)
        case .readVariable: try read(operation)
        case .assignVariable: try assign(operation)
        case .reshape: try reshape(operation)
        case .concatenation: try join(operation, isPack: false)
        case .stridedSlice: try slice(operation)
        case .splitV: try split(operation, 0, axis: 2)
        case .split: try split(operation, 1, axis: 0)
        case .pack: try join(operation, isPack: true)
        case .pad: try pad(operation)
        case .add: try combine(operation, isSum: true)
        case .multiply: try combine(operation, isSum: false)
        case .averagePool: try pool(operation, isAverage: true)
        case .maximumPool: try pool(operation, isAverage: false)
        case .mean: try mean(operation)
        case .convolution: try convolve(operation, depthwise: false)
        case .depthwiseConvolution: try convolve(operation, depthwise: true)
        case .fullyConnected: try connect(operation)
        case .logistic: try logistic(operation)
        case .quantize: try requantise(operation)
        default:
            throw .unsupported.saying(
                "the operator \(OperatorKind.name(operation.code)) is not supported; use a model that microWakeWord exported, "
                    + "quantised to 8 bits"
            )
        }
    }
}

extension NetworkCompiler {
    /// What the elements of a tensor stand for.
    static func format(_ tensor: TFLiteFile.Tensor) throws(WakeWordError) -> NumberFormat {
        guard !tensor.type.isFloat else {
            throw .unsupported.saying(
                "tensor \(quoted(tensor.name)) holds floats; only models quantised to 8 bits can run, export the model so"
            )
        }
        guard tensor.type == .int8 || tensor.type == .uint8 else {
            throw .unsupported.saying(
                "tensor \(quoted(tensor.name)) does not hold integers of 8 bits, which is not supported"
            )
        }
        guard tensor.scales.count == 1, let scale = tensor.scales.first, scale.isNormal, scale > 0,
            tensor.zeroPoints.count == 1, let zeroPoint = tensor.zeroPoints.first
        else { throw .damaged.saying("tensor \(quoted(tensor.name)) has no scale and zero point") }
        guard tensor.count > 0 else { throw .damaged.saying("tensor \(quoted(tensor.name)) is empty") }
        let isSigned = tensor.type == .int8
        guard (isSigned ? -128...127 : 0...255).contains(zeroPoint) else {
            throw .damaged.saying("tensor \(quoted(tensor.name)) has the zero point \(zeroPoint)")
        }
        return NumberFormat(isSigned: isSigned, scale: scale, zeroPoint: Int32(zeroPoint))
    }

    /// The input of an operator: it must be there.
    func tensor(_ operation: TFLiteFile.Operator, input: Int) throws(WakeWordError) -> TFLiteFile.Tensor {
        guard operation.inputs.indices.contains(input), graph.tensors.indices.contains(operation.inputs[input]) else {
            throw .damaged.saying("an operator lacks an input")
        }
        return graph.tensors[operation.inputs[input]]
    }

    func tensor(_ operation: TFLiteFile.Operator, output: Int = 0) throws(WakeWordError) -> TFLiteFile.Tensor {
        guard operation.outputs.indices.contains(output) else { throw .damaged.saying("an operator lacks an output") }
        return graph.tensors[operation.outputs[output]]
    }

    /// The place of an operator's input.
    mutating func place(_ operation: TFLiteFile.Operator, input: Int) throws(WakeWordError) -> Int {
        let tensor = try tensor(operation, input: input)
        let index = operation.inputs[input]
        if let place = places[index] { return place }
        _ = try Self.format(tensor)
        guard tensor.bytes.count == tensor.count, !tensor.bytes.isEmpty else {
            throw .damaged.saying("tensor \(quoted(tensor.name)) is used before it is computed")
        }
        let place = try parts.reserve(file.buffer.bytes[tensor.bytes])
        places[index] = place
        return place
    }

    /// Reserves memory for an operator's output.
    ///
    /// - Parameter value: what its elements are initially.
    mutating func makePlace(
        _ operation: TFLiteFile.Operator,
        output: Int = 0,
        value: Int8 = 0
    ) throws(WakeWordError) -> Int {
        let tensor = try tensor(operation, output: output)
        _ = try Self.format(tensor)
        let index = operation.outputs[output]
        guard places[index] == nil else { throw .damaged.saying("tensor \(quoted(tensor.name)) is computed twice") }
        let place = try parts.reserve(tensor.count, value: value)
        places[index] = place
        return place
    }

    /// Throws unless the elements of both tensors stand for the same.
    func requireSameFormat(_ left: TFLiteFile.Tensor, _ right: TFLiteFile.Tensor) throws(WakeWordError) {
        guard try Self.format(left) == Self.format(right) else {
            throw .unsupported.saying("tensors \(quoted(left.name)) and \(quoted(right.name)) have different scales")
        }
    }

    func requireShape(
        _ tensor: TFLiteFile.Tensor,
        is valid: Bool
    ) throws(WakeWordError) {
        guard valid else {
            throw .damaged.saying("tensor \(quoted(tensor.name)) has the shape \(tensor.shape), which does not fit")
        }
    }
}
