private import Core

// What remembers from step to step.
extension NetworkCompiler {
    /// Sets variables to the constants that a graph of its own assigns.
    mutating func initialise(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        var index = 0
        if let options = operation.options { index = Int(try file.buffer.number(Int32.self, options, field: 0) ?? 0) }
        guard index > 0, file.graphs.indices.contains(index) else { throw .damaged.saying("CALL_ONCE names no graph") }
        let graph = file.graphs[index]
        var handles: [Int: String] = [:]
        for operation in graph.operators {
            switch OperatorKind(rawValue: operation.code) {
            case .varHandle:
                guard let handle = operation.outputs.first else { throw .damaged.saying("VAR_HANDLE has no output") }
                handles[handle] = try name(operation)
            case .assignVariable:
                guard operation.inputs.count == 2, let name = handles[operation.inputs[0]],
                    graph.tensors.indices.contains(operation.inputs[1])
                else { throw .damaged.saying("ASSIGN_VARIABLE names no variable") }
                let value = graph.tensors[operation.inputs[1]]
                _ = try Self.format(value)
                guard value.bytes.count == value.count, !value.bytes.isEmpty, variables[name] == nil else {
                    throw .unsupported.saying("variable \(quoted(name)) does not begin with one constant")
                }
                let place = try parts.reserve(file.buffer.bytes[value.bytes])
                variables[name] = Variable(place: place, count: value.count)
            default: throw .unsupported.saying("its initialisation does more than to set variables")
            }
        }
    }

    private func name(_ operation: TFLiteFile.Operator) throws(WakeWordError) -> String {
        guard let options = operation.options else { throw .damaged.saying("VAR_HANDLE has no name") }
        return try file.buffer.text(options, field: 0) + "/" + file.buffer.text(options, field: 1)
    }

    mutating func handle(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        guard let handle = operation.outputs.first else { throw .damaged.saying("VAR_HANDLE has no output") }
        handles[handle] = try name(operation)
    }

    private func variable(_ operation: TFLiteFile.Operator, _ tensor: TFLiteFile.Tensor) throws(WakeWordError)
        -> Variable
    {
        guard let handle = operation.inputs.first, let name = handles[handle], let variable = variables[name] else {
            throw .damaged.saying("a variable is used that has no first value")
        }
        try requireShape(tensor, is: tensor.count == variable.count)
        return variable
    }

    mutating func read(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        let variable = try variable(operation, tensor(operation))
        let place = try makePlace(operation)
        try parts.move([variable.count], from: variable.place, [1], to: place, [1])
    }

    mutating func assign(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        let variable = try variable(operation, tensor(operation, input: 1))
        let place = try place(operation, input: 1)
        try parts.move([variable.count], from: place, [1], to: variable.place, [1])
    }
}
