private import Core

/// Turns the graphs of a TFLite file into a head.
struct TFLiteHead {
    private let file: TFLiteFile
    private(set) var builder: HeadBuilder

    /// Tensors of a graph by their indices.
    private typealias Values = [Int: HeadValue]
    /// Graphs within each other.
    private static let mostDepth = 4

    init(_ file: TFLiteFile) {
        self.file = file
        builder = HeadBuilder(file.buffer.budget)
    }

    /// - Returns: the input, and the output.
    mutating func compile() throws(WakeWordError) -> (HeadValue, HeadValue) {
        guard let graph = file.graphs.first, graph.inputs.count == 1, graph.outputs.count == 1 else {
            throw .unsupported.saying("not a network with one input and one output, as wake-word models are")
        }
        let (shape, type) = (graph.tensors[graph.inputs[0]].shape, graph.tensors[graph.inputs[0]].type)
        guard type == .float32 else {
            throw .unsupported.saying("its input does not hold floats of 32 bits; export the head without quantisation")
        }
        _ = try HeadNetwork.windows(ofInput: shape)
        let input = try builder.input(shape)
        return (input, try run(graph, [graph.inputs[0]: input], depth: 0))
    }

    /// Adds the steps of a graph.
    ///
    /// - Returns: its output.
    private mutating func run(
        _ graph: TFLiteFile.Graph,
        _ inputs: Values,
        depth: Int
    ) throws(WakeWordError) -> HeadValue {
        guard depth < Self.mostDepth else { throw .size.saying("its graphs lie too deep within each other") }
        var values = inputs
        for operation in graph.operators {
            let entry = 4 * MemoryLayout<(Int, HeadValue)>.stride + ModelBudget.object
            try builder.budget.take(operation.inputs.count, of: 2 * MemoryLayout<HeadValue?>.stride)
            try builder.budget.take(2 * entry)
            guard operation.outputs.count == 1, values[operation.outputs[0]] == nil else {
                throw .damaged.saying("an operator computes no tensor, several, or one that is there")
            }
            var inputs: [HeadValue?] = []
            for index in operation.inputs {
                // Constants are read once.
                if values[index] == nil {
                    try builder.budget.take(entry)
                    values[index] = try constant(index, graph)
                }
                inputs.append(values[index])
            }
            let shape = graph.tensors[operation.outputs[0]].shape
            let type = graph.tensors[operation.outputs[0]].type
            values[operation.outputs[0]] = try result(Operation(operation, inputs, shape, type), depth)
        }
        guard graph.outputs.count == 1, let output = values[graph.outputs[0]] else {
            throw .damaged.saying("its output is not computed")
        }
        return output
    }

    /// A constant tensor; nil for none.
    private mutating func constant(_ index: Int, _ graph: TFLiteFile.Graph) throws(WakeWordError) -> HeadValue? {
        guard graph.tensors.indices.contains(index) else { return nil }
        let tensor = graph.tensors[index]
        guard tensor.count > 0 || tensor.shape.count <= 1 else {
            throw .damaged.saying("tensor \(quoted(tensor.name)) is empty")
        }
        try builder.count(operations: tensor.count)
        switch tensor.type {
        case .int32 where tensor.count == 0: return HeadValue(shape: tensor.shape, content: .integers([]))
        case .float32 where !tensor.bytes.isEmpty:
            return HeadValue(shape: tensor.shape, content: .floats(try file.floats(tensor)))
        case .float16 where !tensor.bytes.isEmpty:
            return HeadValue(shape: tensor.shape, content: .floats(try file.halves(tensor)))
        case .int32 where !tensor.bytes.isEmpty:
            return HeadValue(shape: tensor.shape, content: .integers(try integers(tensor)))
        case .float32, .float16, .boolean, .int32:
            throw .damaged.saying("tensor \(quoted(tensor.name)) is used before it is computed")
        default:
            throw .unsupported.saying(
                "tensor \(quoted(tensor.name)) does not hold floats of 32 bits; export the head without quantisation"
            )
        }
    }

    private func integers(_ tensor: TFLiteFile.Tensor) throws(WakeWordError) -> [Int] {
        try builder.budget.take(tensor.count, of: MemoryLayout<Int>.stride)
        return try file.integers(tensor).map(Int.init)
    }

    /// An operator with the tensors that it reads.
    private struct Operation {
        let kind: OperatorKind
        /// Nil for an optional one that is missing.
        let inputs: [HeadValue?]
        let options: FlatBuffer.Table?
        /// Shape and type of the output as the file has them.
        let shape: [Int]
        let type: TFLiteFile.ElementType

        init(
            _ operation: TFLiteFile.Operator,
            _ inputs: [HeadValue?],
            _ shape: [Int],
            _ type: TFLiteFile.ElementType
        ) throws(WakeWordError) {
            guard let kind = OperatorKind(rawValue: operation.code) else { throw Self.unsupported(operation.code) }
            self.kind = kind
            options = operation.options
            self.inputs = inputs
            self.shape = shape
            self.type = type
        }

        static func unsupported(_ code: Int) -> WakeWordError {
            .unsupported.saying(
                "the operator \(OperatorKind.name(code)) is not supported; use a head of dense layers, as openWakeWord trains"
            )
        }
    }

    private func input(_ operation: Operation, _ number: Int) throws(WakeWordError) -> HeadValue {
        guard operation.inputs.indices.contains(number), let value = operation.inputs[number] else {
            throw .damaged.saying("an operator lacks an input")
        }
        return value
    }

    private func constants(_ operation: Operation, _ number: Int) throws(WakeWordError) -> [Int] {
        guard let integers = try input(operation, number).integers else {
            throw .unsupported.saying("\(operation.kind.name) with extents or axes that are computed is not supported")
        }
        return integers
    }

    private func option(_ operation: Operation, _ field: Int) throws(WakeWordError) -> Int {
        guard let options = operation.options else { return 0 }
        return Int(try file.buffer.number(Int8.self, options, field: field) ?? 0)
    }

    private func number(_ operation: Operation, _ field: Int, default value: Float) throws(WakeWordError) -> Float {
        guard let options = operation.options,
            let bits = try file.buffer.number(UInt32.self, options, field: field)
        else { return value }
        let number = Float(bitPattern: bits)
        guard number.isFinite else { throw .damaged.saying("\(operation.kind.name) has the option \(number)") }
        return number
    }

    private func index(_ operation: Operation, _ field: Int) throws(WakeWordError) -> Int {
        guard let options = operation.options else { return 0 }
        return Int(try file.buffer.number(Int32.self, options, field: field) ?? 0)
    }

    private mutating func result(_ operation: Operation, _ depth: Int) throws(WakeWordError) -> HeadValue {
        let kind = operation.kind
        let first = try input(operation, 0)
        if let function = Self.functions[kind] { return try builder.apply(function, first) }
        if let combination = Self.combinations[kind] {
            let value = try builder.combine(combination, first, input(operation, 1))
            return Self.activated.contains(kind) ? try activate(value, option(operation, 0)) : value
        }
        switch kind {
        case .reshape, .squeeze, .expandDimensions: return try builder.reshape(first, to: operation.shape)
        case .cast, .dequantize:
            guard operation.type == .float32 || operation.type == .boolean else {
                throw .unsupported.saying("\(kind.name) to other numbers than floats of 32 bits is not supported")
            }
            return first
        case .fullyConnected: return try connect(operation, first)
        case .batchProduct: return try multiply(operation, first)
        case .squaredDifference:
            return try builder.apply(.power(2), builder.combine(.subtract, first, input(operation, 1)))
        case .mean, .sum, .reduceMaximum:
            let reduction: FloatReduction = kind == .mean ? .mean : kind == .sum ? .sum : .maximum
            let keeps = try option(operation, 0) != 0
            return try builder.reduce(reduction, first, axes: constants(operation, 1), keeping: keeps)
        case .reciprocalRoot: return try builder.apply(.reciprocal, builder.apply(.squareRoot, first))
        case .leakyRelu: return try builder.apply(.leaky(slope: number(operation, 0, default: 0)), first)
        case .softmax: return try builder.softmax(first, axis: -1, scale: number(operation, 0, default: 1))
        case .transpose: return try builder.transpose(first, order: constants(operation, 1))
        case .concatenation:
            try builder.budget.take(operation.inputs.count, of: 2 * MemoryLayout<HeadValue>.stride)
            var inputs: [HeadValue] = []
            for number in operation.inputs.indices { inputs.append(try input(operation, number)) }
            return try activate(builder.concatenate(inputs, axis: index(operation, 0)), option(operation, 1))
        case .condition: return try branch(operation, first, depth)
        case .quantize: throw .unsupported.saying("the head is quantised; export it without quantisation")
        default: throw Operation.unsupported(kind.rawValue)
        }
    }

    private static let functions: [OperatorKind: FloatFunction] = [
        .squareRoot: .squareRoot, .square: .power(2), .logistic: .logistic, .tanh: .tanh, .exponential: .exponential,
        .logarithm: .logarithm, .negative: .negative, .absolute: .absolute,
        .relu: .clamp(lowest: 0, highest: .infinity), .relu6: .clamp(lowest: 0, highest: 6),
    ]
    private static let combinations: [OperatorKind: FloatCombination] = [
        .add: .add, .subtract: .subtract, .multiply: .multiply, .divide: .divide, .power: .power, .maximum: .maximum,
        .minimum: .minimum, .greater: .greater, .greaterEqual: .greaterOrEqual, .less: .less, .lessEqual: .lessOrEqual,
    ]
    /// Combinations that an activation may follow.
    private static let activated: Set<OperatorKind> = [.add, .subtract, .multiply, .divide]

    private mutating func activate(_ value: HeadValue, _ activation: Int) throws(WakeWordError) -> HeadValue {
        switch try Activation(number: Int8(truncatingIfNeeded: activation)) {
        case .none: value
        case .relu: try builder.apply(.clamp(lowest: 0, highest: .infinity), value)
        case .relu1: try builder.apply(.clamp(lowest: -1, highest: 1), value)
        case .relu6: try builder.apply(.clamp(lowest: 0, highest: 6), value)
        }
    }

    private mutating func connect(_ operation: Operation, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        let filter = try input(operation, 1)
        guard filter.shape.count == 2, filter.shape[1] > 0, let weights = try builder.floats(filter) else {
            throw .unsupported.saying("a dense layer whose weights are computed is not supported")
        }
        guard try option(operation, 1) == 0 else {
            throw .unsupported.saying("a dense layer with weights in another order than by rows is not supported")
        }
        var bias: [Float] = []
        if operation.inputs.count > 2, let last = operation.inputs[2] {
            guard let floats = try builder.floats(last) else {
                throw .unsupported.saying("a dense layer whose bias is computed is not supported")
            }
            bias = floats
        }
        let depth = filter.shape[1]
        guard first.count % depth == 0 else {
            throw .damaged.saying("a dense layer's weights do not fit its input of the extents \(first.shape)")
        }
        let keeps = try option(operation, 2) != 0
        let rows = keeps ? first : try builder.reshape(first, to: [first.count / depth, depth])
        let output = try builder.dense(rows, weights: weights, bias: bias, depth: depth, outputs: filter.shape[0])
        return try activate(output, option(operation, 0))
    }

    private mutating func multiply(_ operation: Operation, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        let right = try input(operation, 1)
        guard try option(operation, 0) == 0, right.shape.count == 2, let columns = try builder.floats(right) else {
            throw .unsupported.saying("a product of matrices that are both computed is not supported")
        }
        let isTransposed = try option(operation, 1) != 0
        return try builder.product(first, columns, right.shape, isTransposed: isTransposed)
    }

    private mutating func branch(
        _ operation: Operation,
        _ condition: HeadValue,
        _ depth: Int
    ) throws(WakeWordError) -> HeadValue {
        try builder.budget.take(operation.inputs.count, of: 2 * MemoryLayout<HeadValue>.stride)
        var arguments: [HeadValue] = []
        for number in operation.inputs.indices.dropFirst() { arguments.append(try input(operation, number)) }
        let choice = try builder.beginIf(condition)
        let first = try run(operation, branch: 0, arguments, depth)
        let branch = try builder.elseOf(choice, first)
        let second = try run(operation, branch: 1, arguments, depth)
        return try builder.endIf(branch, second)
    }

    private mutating func run(
        _ operation: Operation,
        branch field: Int,
        _ arguments: [HeadValue],
        _ depth: Int
    ) throws(WakeWordError) -> HeadValue {
        let index = try index(operation, field)
        guard index > 0, file.graphs.indices.contains(index) else { throw .damaged.saying("IF names no graph") }
        let graph = file.graphs[index]
        guard graph.inputs.count == arguments.count else { throw .damaged.saying("a graph of IF lacks an input") }
        try builder.budget.take(arguments.count, of: 4 * MemoryLayout<(Int, HeadValue)>.stride)
        return try run(graph, Values(zip(graph.inputs, arguments)) { first, _ in first }, depth: depth + 1)
    }
}
