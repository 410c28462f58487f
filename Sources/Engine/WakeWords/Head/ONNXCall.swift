private import Core

/// A node of an ONNX graph, with the tensors that are there.
struct ONNXCall {
    let node: ONNXFile.Node
    /// Tensors by their names.
    let values: [String: HeadValue]

    var kind: String { node.kind }
    var inputs: [String] { node.inputs }
    var outputs: [String] { node.outputs }
    var attributes: [String: ONNXFile.Attribute] { node.attributes }

    func input(_ number: Int) throws(WakeWordError) -> HeadValue {
        guard let input = try optionalInput(number) else {
            throw .damaged.saying("the operator \(quoted(kind)) lacks an input")
        }
        return input
    }

    /// Nil for an input that is missing.
    func optionalInput(_ number: Int) throws(WakeWordError) -> HeadValue? {
        guard inputs.indices.contains(number), !inputs[number].isEmpty else { return nil }
        guard let value = values[inputs[number]] else {
            throw .damaged.saying("tensor \(quoted(inputs[number])) is used before it is computed")
        }
        return value
    }

    /// Constant integers, which newer operators have as an input and older ones as an attribute; nil for none.
    func integers(_ name: String, input number: Int) throws(WakeWordError) -> [Int]? {
        if let numbers = integers(name) { return numbers }
        guard let input = try optionalInput(number) else { return nil }
        guard let numbers = input.integers else {
            throw .unsupported.saying("\(kind) with extents or axes that are computed is not supported")
        }
        return numbers
    }

    // Attributes.

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
