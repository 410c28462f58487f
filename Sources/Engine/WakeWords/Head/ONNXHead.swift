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
            for (name, value) in zip(node.outputs, try results(node, values)) where !name.isEmpty {
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

    func input(_ node: ONNXFile.Node, _ number: Int, _ values: Values) throws(WakeWordError) -> HeadValue {
        guard let input = try optionalInput(node, number, values) else {
            throw .damaged.saying("the operator \(quoted(node.kind)) lacks an input")
        }
        return input
    }

    /// Nil for an input that is missing.
    func optionalInput(
        _ node: ONNXFile.Node,
        _ number: Int,
        _ values: Values
    ) throws(WakeWordError) -> HeadValue? {
        guard node.inputs.indices.contains(number), !node.inputs[number].isEmpty else { return nil }
        guard let value = values[node.inputs[number]] else {
            throw .damaged.saying("tensor \(quoted(node.inputs[number])) is used before it is computed")
        }
        return value
    }

    /// The outputs of a node.
    private mutating func results(_ node: ONNXFile.Node, _ values: Values) throws(WakeWordError) -> [HeadValue] {
        switch node.kind {
        case "LSTM", "GRU": return try recur(node, values)
        case "Split": return try split(node, values)
        case "DynamicQuantizeLinear": return try builder.quantise(input(node, 0, values))
        default: return [try result(node, values)]
        }
    }

    private mutating func result(_ node: ONNXFile.Node, _ values: Values) throws(WakeWordError) -> HeadValue {
        if node.kind == "Constant" { return try constant(node) }
        let first = try input(node, 0, values)
        if let folded = try fold(node, first, values) { return folded }
        if let function = try Self.function(node) { return try builder.apply(function, first) }
        if let combination = Self.combinations[node.kind] {
            var result = first
            for number in node.inputs.indices.dropFirst() {
                result = try builder.combine(combination, result, input(node, number, values))
            }
            return result
        }
        switch node.kind {
        case "Identity", "Dropout": return first
        case "Cast":
            // Floats, and what is true or false.
            guard [1, 9].contains(node.integer("to") ?? 0) || first.integers != nil else {
                throw .unsupported.saying("Cast to other numbers than floats of 32 bits is not supported")
            }
            return first
        case "Flatten", "Reshape", "Squeeze", "Unsqueeze": return try reshape(node, first, values)
        case "Shape":
            func place(_ name: String, _ usual: Int) -> Int {
                let (number, count) = (node.integer(name) ?? usual, first.shape.count)
                return min(max(number < 0 ? number + count : number, 0), count)
            }
            let (start, end) = (place("start", 0), place("end", first.shape.count))
            let shape = start < end ? Array(first.shape[start..<end]) : []
            return HeadValue(shape: [shape.count], content: .integers(shape))
        case "Transpose":
            return try builder.transpose(first, order: node.integers("perm") ?? first.shape.indices.reversed())
        case "Concat":
            try budget.take(node.inputs.count, of: 2 * MemoryLayout<HeadValue>.stride)
            var inputs: [HeadValue] = []
            for number in node.inputs.indices { inputs.append(try input(node, number, values)) }
            return try concatenate(inputs, axis: node.integer("axis") ?? 0)
        case "Slice": return try slice(node, first, values)
        case "Gather": return try gather(node, first, values)
        case "Gemm": return try gemm(node, first, values)
        case "MatMul":
            let right = try input(node, 1, values)
            guard right.shape.count == 2, let matrix = try builder.floats(right) else {
                return try builder.product(first, right)
            }
            return try builder.product(first, matrix, right.shape, isTransposed: false)
        case "MatMulInteger": return try integerProduct(node, first, values)
        case "Conv", "ConvInteger": return try convolve(node, first, values)
        case "MaxPool", "AveragePool": return try pool(node, first, values)
        case "GlobalMaxPool", "GlobalAveragePool":
            let axes = Array(first.shape.indices.dropFirst(2))
            return try builder.reduce(node.kind == "GlobalMaxPool" ? .maximum : .mean, first, axes: axes, keeping: true)
        case "Expand":
            guard let wanted = try integers(node, "", input: 1, values) else {
                throw .damaged.saying("Expand has no extents")
            }
            return try builder.expand(first, to: wanted)
        case "ConstantOfShape":
            guard let wanted = first.integers else {
                throw .unsupported.saying("ConstantOfShape with extents that are computed is not supported")
            }
            if case .tensor(let tensor) = node.attributes["value"], case .integers(let numbers) = tensor.elements {
                return try builder.constant(wanted, numbers.first ?? 0)
            }
            var number: Float = 0
            if case .tensor(let tensor) = node.attributes["value"], case .floats(let numbers) = tensor.elements {
                number = numbers.first ?? 0
            }
            return try builder.constant(wanted, number)
        case "DequantizeLinear": return try dequantise(node, first, values)
        case "Clip": return try clip(node, first, values)
        case "Gelu", "HardSigmoid", "HardSwish", "Mish", "PRelu", "ReduceL2": return try composed(node, first, values)
        case "ReduceMean": return try reduce(.mean, node, first, values)
        case "ReduceSum": return try reduce(.sum, node, first, values)
        case "ReduceMax": return try reduce(.maximum, node, first, values)
        case "LayerNormalization": return try layerNorm(node, first, values)
        case "BatchNormalization": return try batchNorm(node, first, values)
        case "Softmax":
            return try builder.softmax(first, axis: node.integer("axis") ?? (file.operators < 13 ? 1 : -1))
        case "If": return try branch(node, first, values)
        default:
            throw .unsupported.saying(
                "the operator \(quoted(node.kind)) is not supported; use a head of dense layers, as openWakeWord trains"
            )
        }
    }

    private static let combinations: [String: HeadCombination] = [
        "Add": .add, "Sum": .add, "Sub": .subtract, "Mul": .multiply, "Div": .divide, "Pow": .power, "Max": .maximum,
        "Min": .minimum,
        "Greater": .greater, "GreaterOrEqual": .greaterOrEqual, "Less": .less, "LessOrEqual": .lessOrEqual,
        "Equal": .equal,
    ]

    /// What a node computes from single numbers; nil for other nodes.
    private static func function(_ node: ONNXFile.Node) throws(WakeWordError) -> HeadFunction? {
        switch node.kind {
        case "Relu": return .clamp(lowest: 0, highest: .infinity)
        case "LeakyRelu": return .leaky(slope: node.float("alpha") ?? 0.01)
        case "Elu": return .elu(scale: node.float("alpha") ?? 1)
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

    private func constant(_ node: ONNXFile.Node) throws(WakeWordError) -> HeadValue {
        if case .tensor(let tensor) = node.attributes["value"] { return Self.value(tensor) }
        if let number = node.float("value_float") { return HeadValue(shape: [], content: .floats([number])) }
        if let number = node.integer("value_int") { return HeadValue(shape: [], content: .integers([number])) }
        if let numbers = node.integers("value_ints") {
            return HeadValue(shape: [numbers.count], content: .integers(numbers))
        }
        throw .unsupported.saying("a constant of this kind is not supported")
    }

    /// Constant integers, which newer operators have as an input and older ones as an attribute; nil for none.
    func integers(
        _ node: ONNXFile.Node,
        _ name: String,
        input number: Int,
        _ values: Values
    ) throws(WakeWordError) -> [Int]? {
        if let numbers = node.integers(name) { return numbers }
        guard let input = try optionalInput(node, number, values) else { return nil }
        guard let numbers = input.integers else {
            throw .unsupported.saying("\(node.kind) with extents or axes that are computed is not supported")
        }
        return numbers
    }

    private mutating func gemm(
        _ node: ONNXFile.Node,
        _ first: HeadValue,
        _ values: Values
    ) throws(WakeWordError) -> HeadValue {
        let right = try input(node, 1, values)
        guard node.integer("transA") ?? 0 == 0, let matrix = try builder.floats(right) else {
            throw .unsupported.saying("a dense layer whose weights are computed is not supported")
        }
        let (alpha, beta) = (node.float("alpha") ?? 1, node.float("beta") ?? 1)
        if alpha != 1 { try budget.take(matrix.count, of: MemoryLayout<Float>.stride) }
        let scaled = alpha == 1 ? matrix : matrix.map { $0 * alpha }
        let product = try builder.product(first, scaled, right.shape, isTransposed: node.integer("transB") ?? 0 != 0)
        guard var bias = try optionalInput(node, 2, values) else { return product }
        if beta != 1 {
            bias = try builder.combine(.multiply, bias, HeadValue(shape: [], content: .floats([beta])))
        }
        return try builder.combine(.add, product, bias)
    }

    private mutating func reduce(
        _ reduction: HeadReduction,
        _ node: ONNXFile.Node,
        _ first: HeadValue,
        _ values: Values
    ) throws(WakeWordError) -> HeadValue {
        let axes = try integers(node, "axes", input: 1, values) ?? []
        guard !axes.isEmpty || node.integer("noop_with_empty_axes") ?? 0 == 0 else { return first }
        let keeps = node.integer("keepdims") ?? 1 != 0
        return try builder.reduce(
            reduction,
            first,
            axes: axes.isEmpty ? Array(first.shape.indices) : axes,
            keeping: keeps
        )
    }

    private mutating func layerNorm(
        _ node: ONNXFile.Node,
        _ first: HeadValue,
        _ values: Values
    ) throws(WakeWordError) -> HeadValue {
        let axis = try HeadBuilder.axis(node.integer("axis") ?? -1, of: first.shape)
        return try builder.layerNorm(
            first,
            axes: Array(axis..<first.shape.count),
            epsilon: node.float("epsilon") ?? 1e-5,
            scale: input(node, 1, values),
            shift: optionalInput(node, 2, values)
        )
    }

    /// With the means and variances of the training, over the second extent.
    private mutating func batchNorm(
        _ node: ONNXFile.Node,
        _ first: HeadValue,
        _ values: Values
    ) throws(WakeWordError) -> HeadValue {
        guard first.shape.count >= 2 else { throw .damaged.saying("BatchNormalization of one extent") }
        let epsilon = node.float("epsilon") ?? 1e-5
        let channels = first.shape[1]
        var numbers: [[Float]] = []
        for number in 1...4 {
            guard let floats = try builder.floats(input(node, number, values)), floats.count == channels else {
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

    private mutating func branch(
        _ node: ONNXFile.Node,
        _ condition: HeadValue,
        _ values: Values
    ) throws(WakeWordError) -> HeadValue {
        guard case .graph(let then) = node.attributes["then_branch"],
            case .graph(let otherwise) = node.attributes["else_branch"]
        else { throw .damaged.saying("If lacks a branch") }
        // Exports decide here what the extents are, which are known.
        if let constant = condition.integers?.first { return try run(constant != 0 ? then : otherwise, values) }
        let choice = try builder.beginIf(condition)
        let first = try run(then, values)
        let branch = try builder.elseOf(choice, first)
        let second = try run(otherwise, values)
        return try builder.endIf(branch, second)
    }
}

extension ONNXFile.Node {
    func integer(_ name: String) -> Int? {
        if case .integer(let number) = attributes[name] { number } else { nil }
    }

    func float(_ name: String) -> Float? {
        if case .float(let number) = attributes[name] { number } else { nil }
    }

    func integers(_ name: String) -> [Int]? {
        if case .integers(let numbers) = attributes[name] { numbers } else { nil }
    }

    func texts(_ name: String) -> [String]? {
        if case .texts(let texts) = attributes[name] { texts } else { nil }
    }

    func text(_ name: String) -> String? {
        if case .text(let text) = attributes[name] { text } else { nil }
    }
}
