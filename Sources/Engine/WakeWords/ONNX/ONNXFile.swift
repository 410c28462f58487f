private import Core

/// A model of ONNX as its file describes it: a graph of nodes, none of which is interpreted yet.
///
/// Source: the schema of version 3 by the ONNX project.
struct ONNXFile {
    /// A constant.
    struct Tensor {
        enum Elements {
            case floats([Float])
            case integers([Int])
        }

        var shape: [Int]
        var elements: Elements
    }

    enum Attribute {
        case integer(Int)
        case float(Float)
        case integers([Int])
        case text(String)
        case texts([String])
        case tensor(Tensor)
        case graph(Graph)
        /// Of a kind that no operator of a head reads.
        case other
    }

    struct Node {
        var kind = ""
        /// Names of tensors; empty for an optional one that is missing.
        var inputs: [String] = []
        var outputs: [String] = []
        var attributes: [String: Attribute] = [:]
    }

    struct Graph {
        var nodes: [Node] = []
        var constants: [String: Tensor] = [:]
        /// Names and extents; −1 for an extent that is not a number.
        var inputs: [(name: String, shape: [Int])] = []
        var outputs: [String] = []
    }

    /// Limits on what a file may claim, above what any head needs.
    enum Limits {
        static let nodes = 2048
        static let elements = 1 << 22
        static let depth = 4
        static let dimensions = 8
    }

    let graph: Graph
    /// Version of the operators' definitions.
    let operators: Int
    /// What the file was read from, and what turns it into a head goes on with.
    let budget: ModelBudget

    init(_ bytes: [UInt8], _ budget: ModelBudget = ModelBudget()) throws(WakeWordError) {
        var (model, graph, operators) = (Protobuf(bytes, bytes.indices, budget), Graph?.none, 0)
        while let (field, content) = try model.next() {
            switch field {
            case 7:
                guard graph == nil else { throw .damaged.saying("it has two graphs") }
                graph = try Self.graph(model.message(content), depth: 0)
            case 8: operators = max(operators, try Self.version(model.message(content)))
            default: break
            }
        }
        guard let graph, operators > 0 else {
            throw .damaged.saying(
                "not a model of TFLite or ONNX",
                advice: "name a file that ends in .tflite or .onnx"
            )
        }
        guard (7...25).contains(operators) else {
            throw .unsupported.saying("version \(operators) of ONNX's operators is not supported; export it with 13")
        }
        self.graph = graph
        self.operators = operators
        self.budget = budget
    }

    /// The version of a set of operators; 0 for other sets than ONNX's own.
    private static func version(_ message: Protobuf) throws(WakeWordError) -> Int {
        var (message, version, isOwn) = (message, 0, true)
        while let (field, content) = try message.next() {
            if field == 1 { isOwn = try message.text(content).isEmpty }
            if field == 2, case .number(let number) = content { version = Int(UInt16(clamping: number)) }
        }
        return isOwn ? version : 0
    }

    private static func graph(_ message: Protobuf, depth: Int) throws(WakeWordError) -> Graph {
        guard depth < Limits.depth else { throw .size.saying("its graphs lie too deep within each other") }
        var (message, graph) = (message, Graph())
        while let (field, content) = try message.next() {
            switch field {
            case 1:
                guard graph.nodes.count < Limits.nodes else {
                    throw .size.saying("it has more than \(Limits.nodes) nodes")
                }
                try message.budget.take(2 * MemoryLayout<Node>.stride)
                graph.nodes.append(try node(message.message(content), depth: depth))
            case 5:
                let (name, tensor) = try tensor(message.message(content))
                // Of a dictionary, up to three places in four are empty.
                try message.budget.take(4 * MemoryLayout<(String, Tensor)>.stride)
                graph.constants[name] = tensor
            case 11:
                try message.budget.take(2 * MemoryLayout<(String, [Int])>.stride)
                graph.inputs.append(try input(message.message(content)))
            case 12: graph.outputs.append(try input(message.message(content)).name)
            case 15: throw .unsupported.saying("sparse constants are not supported")
            default: break
            }
        }
        return graph
    }

    private static func node(_ message: Protobuf, depth: Int) throws(WakeWordError) -> Node {
        var (message, node) = (message, Node())
        while let (field, content) = try message.next() {
            switch field {
            case 1: node.inputs.append(try message.text(content))
            case 2: node.outputs.append(try message.text(content))
            case 4: node.kind = try message.text(content)
            case 5:
                let (name, attribute) = try attribute(message.message(content), depth: depth)
                try message.budget.take(ModelBudget.object + 4 * MemoryLayout<(String, Attribute)>.stride)
                node.attributes[name] = attribute
            case 7:
                let domain = try message.text(content)
                guard domain.isEmpty || domain == "ai.onnx" else {
                    throw .unsupported.saying(
                        "operators of \(quoted(domain)) are not supported; export the head without quantisation"
                    )
                }
            default: break
            }
        }
        return node
    }

    private static func attribute(_ message: Protobuf, depth: Int) throws(WakeWordError) -> (String, Attribute) {
        var (message, name, attribute) = (message, "", Attribute.other)
        var (integers, texts): ([Int], [String]) = ([], [])
        while let (field, content) = try message.next() {
            switch field {
            case 1: name = try message.text(content)
            case 2:
                guard let float = try message.floats(content).first, float.isFinite else {
                    throw .damaged.saying("an attribute is not a number")
                }
                attribute = .float(float)
            case 3:
                guard let number = try message.numbers(content).first else {
                    throw .damaged.saying("an attribute is not a number")
                }
                attribute = .integer(number)
            case 4: attribute = .text(try message.text(content))
            case 5: attribute = .tensor(try tensor(message.message(content)).1)
            case 6: attribute = .graph(try graph(message.message(content), depth: depth + 1))
            case 8: try message.append(content, to: &integers)
            case 9: texts.append(try message.text(content))
            // The kind tells an empty list from none.
            case 20: if try message.numbers(content) == [7], case .other = attribute { attribute = .integers([]) }
            default: break
            }
        }
        if !integers.isEmpty { attribute = .integers(integers) }
        if !texts.isEmpty { attribute = .texts(texts) }
        return (name, attribute)
    }

    /// Name and extents of an input or output.
    private static func input(_ message: Protobuf) throws(WakeWordError) -> (name: String, shape: [Int]) {
        var (message, name, shape): (Protobuf, String, [Int]) = (message, "", [])
        while let (field, content) = try message.next() {
            if field == 1 { name = try message.text(content) }
            if field == 2 { shape = try extents(of: message.message(content)) }
        }
        return (name, shape)
    }

    /// The extents of a type: of a tensor, whose shape has dimensions.
    private static func extents(of message: Protobuf) throws(WakeWordError) -> [Int] {
        var (type, shape): (Protobuf, [Int]) = (message, [])
        while let (field, content) = try type.next() {
            guard field == 1 else { continue }
            var tensor = try type.message(content)
            while let (field, content) = try tensor.next() {
                guard field == 2 else { continue }
                var dimensions = try tensor.message(content)
                while let (field, content) = try dimensions.next() {
                    guard field == 1 else { continue }
                    var (dimension, extent) = (try dimensions.message(content), -1)
                    while let (field, content) = try dimension.next() {
                        if field == 1 { extent = try dimension.numbers(content).first ?? -1 }
                    }
                    shape.append(extent)
                    guard shape.count <= Limits.dimensions else {
                        throw .size.saying("a tensor has more than \(Limits.dimensions) dimensions")
                    }
                }
            }
        }
        return shape
    }

    private static func tensor(_ message: Protobuf) throws(WakeWordError) -> (String, Tensor) {
        var (message, name, shape, type): (Protobuf, String, [Int], Int) = (message, "", [], 0)
        var (floats, integers, raw): ([Float], [Int], Protobuf.Content?) = ([], [], nil)
        while let (field, content) = try message.next() {
            switch field {
            case 1:
                try message.append(content, to: &shape)
                guard shape.count <= Limits.dimensions else {
                    throw .size.saying("a tensor has more than \(Limits.dimensions) dimensions")
                }
            case 2: type = try message.numbers(content).first ?? 0
            case 4:
                let more = try message.floats(content)
                try message.budget.take(more.count, of: 2 * MemoryLayout<Float>.stride)
                if floats.isEmpty { floats = more } else { floats += more }
            case 5, 7: try message.append(content, to: &integers)
            case 8: name = try message.text(content)
            case 9: raw = content
            case 14:
                guard try message.numbers(content) == [0] else {
                    throw .unsupported.saying(
                        "its weights are in another file (.data); join the two by onnx.save(onnx.load(\"FILE\"), \"FILE\") in Python"
                    )
                }
            default: break
            }
        }
        var count = 1
        for extent in shape {
            guard extent >= 0, count == 0 || extent <= Limits.elements / count else {
                throw .damaged.saying("tensor \(quoted(name)) has the extents \(shape)")
            }
            count *= extent
        }
        guard count > 0 || shape.count <= 1 else { throw .damaged.saying("tensor \(quoted(name)) is empty") }
        switch type {
        case 1: if let raw { floats = try message.floats(raw) }
        case 10:
            if let raw {
                floats = try message.elements(UInt16.self, raw, float(half:))
            } else {
                try message.budget.take(integers.count, of: MemoryLayout<Float>.stride)
                floats = integers.map { float(half: UInt16(truncatingIfNeeded: $0)) }
            }
        case 2: if let raw { integers = try message.integers(UInt8.self, raw) }
        case 3: if let raw { integers = try message.integers(Int8.self, raw) }
        case 6: if let raw { integers = try message.integers(Int32.self, raw) }
        case 9: if let raw { integers = try message.integers(UInt8.self, raw) }
        case 7: if let raw { integers = try message.integers(Int64.self, raw) }
        default:
            throw .unsupported.saying(
                "tensor \(quoted(name)) has elements of the kind \(type); export the head with floats of 32 bits"
            )
        }
        try message.budget.step(floats.count)
        let isFloat = type == 1 || type == 10
        guard (isFloat ? floats.count : integers.count) == count, floats.allSatisfy(\.isFinite) else {
            throw .damaged.saying("tensor \(quoted(name)) does not have \(count) finite numbers")
        }
        return (name, Tensor(shape: shape, elements: isFloat ? .floats(floats) : .integers(integers)))
    }
}

/// A float of 16 bits, by its bits. `Float16` is not there on every machine.
func float(half bits: UInt16) -> Float {
    let (sign, exponent, fraction) = (bits >> 15, Int(bits >> 10 & 31), Float(bits & 1023))
    let magnitude: Float =
        switch exponent {
        case 0: fraction * 0x1p-24
        case 31: fraction == 0 ? .infinity : .nan
        default: Float(sign: .plus, exponent: exponent - 15, significand: 1 + fraction / 1024)
        }
    return sign == 1 ? -magnitude : magnitude
}
