private import Core

/// Turns the graph of an ONNX file into a head.
struct ONNXHead {
    let file: ONNXFile
    var builder: HeadBuilder

    /// Tensors by their names: those of a graph, and of the graphs around it.
    typealias Values = [String: HeadValue]

    private var budget: ModelBudget { file.budget }

    init(_ file: ONNXFile) {
        self.file = file
        builder = HeadBuilder(file.budget)
    }

    /// - Returns: the input, and the output.
    mutating func compile() throws(WakeWordError) -> (HeadValue, HeadValue) {
        let graph = file.graph
        // Older files list the constants among the inputs, too.
        let inputs = graph.inputs.filter { graph.constants[$0.name] == nil }
        guard inputs.count == 1, let first = inputs.first else {
            throw .unsupported.saying("not a network with one input, as wake-word models are")
        }
        var shape = first.shape
        if shape.first == -1 { shape[0] = 1 }
        _ = try HeadNetwork.windows(ofInput: shape)
        let input = try builder.input(shape)
        return (input, try run(graph, [first.name: input]))
    }

    /// Adds the steps of a graph.
    ///
    /// - Returns: its output.
    private mutating func run(_ graph: ONNXFile.Graph, _ outer: Values) throws(WakeWordError) -> HeadValue {
        // The dictionary is copied, with room for more.
        let entry = 4 * MemoryLayout<(String, HeadValue)>.stride
        try budget.take(outer.count, of: entry)
        try budget.take(graph.constants.count, of: entry)
        var values = outer
        for (name, tensor) in graph.constants { values[name] = Self.value(tensor) }
        for node in graph.nodes {
            guard node.outputs.contains(where: { !$0.isEmpty }) else {
                throw .damaged.saying("a node computes no tensor")
            }
            // Later outputs than those that are computed are for training.
            try budget.step(16 + 2 * (node.inputs.count + node.outputs.count))
            let results = try results(ONNXCall(node: node, values: values))
            for (name, value) in zip(node.outputs, results) where !name.isEmpty {
                try budget.take(entry + ModelBudget.object)
                guard values[name] == nil else { throw .damaged.saying("a node computes a tensor that is there") }
                values[name] = value
            }
        }
        guard graph.outputs.count == 1, let name = graph.outputs.first, let output = values[name] else {
            throw .unsupported.saying("its output is not computed, or it has several")
        }
        return output
    }

    private static func value(_ tensor: ONNXFile.Tensor) -> HeadValue {
        switch tensor.elements {
        case .floats(let floats): HeadValue(shape: tensor.shape, content: .floats(floats))
        case .integers(let integers): HeadValue(shape: tensor.shape, content: .integers(integers))
        }
    }

    /// The outputs of a call.
    private mutating func results(_ call: ONNXCall) throws(WakeWordError) -> [HeadValue] {
        switch call.kind {
        case "LSTM", "GRU": return try recur(call)
        case "Split": return try split(call)
        case "DynamicQuantizeLinear": return try builder.quantise(call.input(0))
        default: return [try result(call)]
        }
    }

    private mutating func result(_ call: ONNXCall) throws(WakeWordError) -> HeadValue {
        if call.kind == "Constant" { return try constant(call) }
        let first = try call.input(0)
        if let folded = try fold(call, first) { return folded }
        if let function = try Self.function(call) { return try builder.apply(function, first) }
        if let combination = Self.combinations[call.kind] {
            var result = first
            for number in call.inputs.indices.dropFirst() {
                result = try builder.combine(combination, result, call.input(number))
            }
            return result
        }
        switch call.kind {
        case "Identity", "Dropout": return first
        case "Cast":
            // Floats, and what is true or false.
            guard [1, 9].contains(call.integer("to") ?? 0) || first.integers != nil else {
                throw .unsupported.saying("Cast to other numbers than floats of 32 bits is not supported")
            }
            return first
        case "Flatten", "Reshape", "Squeeze", "Unsqueeze": return try reshape(call, first)
        case "Shape":
            func place(_ name: String, _ usual: Int) -> Int {
                let (number, count) = (call.integer(name) ?? usual, first.shape.count)
                return min(max(number < 0 ? number + count : number, 0), count)
            }
            let (start, end) = (place("start", 0), place("end", first.shape.count))
            let shape = start < end ? Array(first.shape[start..<end]) : []
            return HeadValue(shape: [shape.count], content: .integers(shape))
        case "Transpose":
            return try builder.transpose(first, order: call.integers("perm") ?? first.shape.indices.reversed())
        case "Concat":
            try budget.take(call.inputs.count, of: 2 * MemoryLayout<HeadValue>.stride)
            var inputs: [HeadValue] = []
            for number in call.inputs.indices { inputs.append(try call.input(number)) }
            return try concatenate(inputs, axis: call.integer("axis") ?? 0)
        case "Slice": return try slice(call, first)
        case "Gather": return try gather(call, first)
        case "Gemm": return try gemm(call, first)
        case "MatMul":
            let right = try call.input(1)
            guard right.shape.count == 2, let matrix = try builder.floats(right) else {
                return try builder.product(first, right)
            }
            return try builder.product(first, matrix, right.shape, isTransposed: false)
        case "MatMulInteger": return try integerProduct(call, first)
        case "Conv", "ConvInteger": return try convolve(call, first)
        case "MaxPool", "AveragePool": return try pool(call, first)
        case "GlobalMaxPool", "GlobalAveragePool":
            let axes = Array(first.shape.indices.dropFirst(2))
            return try builder.reduce(call.kind == "GlobalMaxPool" ? .maximum : .mean, first, axes: axes, keeping: true)
        case "Expand":
            guard let wanted = try call.integers("", input: 1) else {
                throw .damaged.saying("Expand has no extents")
            }
            return try builder.expand(first, to: wanted)
        case "ConstantOfShape":
            guard let wanted = first.integers else {
                throw .unsupported.saying("ConstantOfShape with extents that are computed is not supported")
            }
            if case .tensor(let tensor) = call.attributes["value"], case .integers(let numbers) = tensor.elements {
                return try builder.constant(wanted, numbers.first ?? 0)
            }
            var number: Float = 0
            if case .tensor(let tensor) = call.attributes["value"], case .floats(let numbers) = tensor.elements {
                number = numbers.first ?? 0
            }
            return try builder.constant(wanted, number)
        case "DequantizeLinear": return try dequantise(call, first)
        case "Clip": return try clip(call, first)
        case "Gelu", "HardSigmoid", "HardSwish", "Mish", "PRelu", "ReduceL2": return try composed(call, first)
        case "ReduceMean": return try reduce(.mean, call, first)
        case "ReduceSum": return try reduce(.sum, call, first)
        case "ReduceMax": return try reduce(.maximum, call, first)
        case "LayerNormalization": return try layerNorm(call, first)
        case "BatchNormalization": return try batchNorm(call, first)
        case "Softmax":
            return try builder.softmax(first, axis: call.integer("axis") ?? (file.operators < 13 ? 1 : -1))
        case "If": return try branch(call, first)
        default:
            throw .unsupported.saying(
                "the operator \(quoted(call.kind)) is not supported; use a head of dense layers, as openWakeWord trains"
            )
        }
    }

    private static let combinations: [String: FloatCombination] = [
        "Add": .add, "Sum": .add, "Sub": .subtract, "Mul": .multiply, "Div": .divide, "Pow": .power, "Max": .maximum,
        "Min": .minimum,
        "Greater": .greater, "GreaterOrEqual": .greaterOrEqual, "Less": .less, "LessOrEqual": .lessOrEqual,
        "Equal": .equal,
    ]

    /// What a node computes from single numbers; nil for other nodes.
    private static func function(_ call: ONNXCall) throws(WakeWordError) -> FloatFunction? {
        switch call.kind {
        case "Relu": return .clamp(lowest: 0, highest: .infinity)
        case "LeakyRelu": return .leaky(slope: call.float("alpha") ?? 0.01)
        case "Elu": return .elu(scale: call.float("alpha") ?? 1)
        case "Softplus": return .softplus
        case "Sigmoid": return .logistic
        case "Tanh": return .tanh
        case "Erf": return .errorFunction
        case "Sqrt": return .squareRoot
        case "Exp": return .exponential
        case "Log": return .logarithm
        case "Neg": return .negative
        case "Abs": return .absolute
        case "Reciprocal": return .reciprocal
        default: return nil
        }
    }

    private func constant(_ call: ONNXCall) throws(WakeWordError) -> HeadValue {
        if case .tensor(let tensor) = call.attributes["value"] { return Self.value(tensor) }
        if let number = call.float("value_float") { return HeadValue(shape: [], content: .floats([number])) }
        if let number = call.integer("value_int") { return HeadValue(shape: [], content: .integers([number])) }
        if let numbers = call.integers("value_ints") {
            return HeadValue(shape: [numbers.count], content: .integers(numbers))
        }
        throw .unsupported.saying("a constant of this kind is not supported")
    }

    private mutating func gemm(_ call: ONNXCall, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        let right = try call.input(1)
        guard call.integer("transA") ?? 0 == 0, let matrix = try builder.floats(right) else {
            throw .unsupported.saying("a dense layer whose weights are computed is not supported")
        }
        let (alpha, beta) = (call.float("alpha") ?? 1, call.float("beta") ?? 1)
        if alpha != 1 { try budget.take(matrix.count, of: MemoryLayout<Float>.stride) }
        let scaled = alpha == 1 ? matrix : matrix.map { $0 * alpha }
        let product = try builder.product(first, scaled, right.shape, isTransposed: call.integer("transB") ?? 0 != 0)
        guard var bias = try call.optionalInput(2) else { return product }
        if beta != 1 {
            bias = try builder.combine(.multiply, bias, HeadValue(shape: [], content: .floats([beta])))
        }
        return try builder.combine(.add, product, bias)
    }

    private mutating func reduce(
        _ reduction: FloatReduction,
        _ call: ONNXCall,
        _ first: HeadValue
    ) throws(WakeWordError) -> HeadValue {
        let axes = try call.integers("axes", input: 1) ?? []
        guard !axes.isEmpty || call.integer("noop_with_empty_axes") ?? 0 == 0 else { return first }
        let keeps = call.integer("keepdims") ?? 1 != 0
        return try builder.reduce(
            reduction,
            first,
            axes: axes.isEmpty ? Array(first.shape.indices) : axes,
            keeping: keeps
        )
    }

    private mutating func layerNorm(_ call: ONNXCall, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        let axis = try HeadBuilder.axis(call.integer("axis") ?? -1, of: first.shape)
        return try builder.layerNorm(
            first,
            axes: Array(axis..<first.shape.count),
            epsilon: call.float("epsilon") ?? 1e-5,
            scale: call.input(1),
            shift: call.optionalInput(2)
        )
    }

    /// With the means and variances of the training, over the second extent.
    private mutating func batchNorm(_ call: ONNXCall, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        guard first.shape.count >= 2 else { throw .damaged.saying("BatchNormalization of one extent") }
        let epsilon = call.float("epsilon") ?? 1e-5
        let channels = first.shape[1]
        var numbers: [[Float]] = []
        for number in 1...4 {
            guard let floats = try builder.floats(call.input(number)), floats.count == channels else {
                throw .damaged.saying("BatchNormalization does not have a constant for each channel")
            }
            numbers.append(floats)
        }
        let shape = [channels] + [Int](repeating: 1, count: first.shape.count - 2)
        try budget.take(channels, of: 2 * MemoryLayout<Float>.stride)
        let factors = (0..<channels).map { numbers[0][$0] / (numbers[3][$0] + epsilon).squareRoot() }
        let shifts = (0..<channels).map { numbers[1][$0] - numbers[2][$0] * factors[$0] }
        let scaled = try builder.combine(.multiply, first, HeadValue(shape: shape, content: .floats(factors)))
        return try builder.combine(.add, scaled, HeadValue(shape: shape, content: .floats(shifts)))
    }

    private mutating func branch(_ call: ONNXCall, _ condition: HeadValue) throws(WakeWordError) -> HeadValue {
        guard case .graph(let then) = call.attributes["then_branch"],
            case .graph(let otherwise) = call.attributes["else_branch"]
        else { throw .damaged.saying("If lacks a branch") }
        // Exports decide here what the extents are, which are known.
        if let constant = condition.integers?.first { return try run(constant != 0 ? then : otherwise, call.values) }
        let choice = try builder.beginIf(condition)
        let first = try run(then, call.values)
        let branch = try builder.elseOf(choice, first)
        let second = try run(otherwise, call.values)
        return try builder.endIf(branch, second)
    }
}
