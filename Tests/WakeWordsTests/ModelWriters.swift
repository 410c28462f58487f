/// Writes ONNX files, message by message.
enum ONNXWriter {
    static func number(_ number: Int) -> [UInt8] {
        var (rest, bytes) = (UInt64(bitPattern: Int64(number)), [UInt8]())
        repeat {
            bytes.append(UInt8(rest & 127) | (rest > 127 ? 128 : 0))
            rest >>= 7
        } while rest > 0
        return bytes
    }
    static func field(_ field: Int, _ value: Int) -> [UInt8] { number(field << 3) + number(value) }
    static func field(_ field: Int, _ content: [UInt8]) -> [UInt8] {
        number(field << 3 | 2) + number(content.count) + content
    }
    static func field(_ number: Int, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }

    static func integers(_ name: String, _ shape: [Int], _ numbers: [Int]) -> [UInt8] {
        shape.flatMap { field(1, $0) } + field(2, 7) + field(8, name) + numbers.flatMap { field(7, $0) }
    }
    static func floats(_ name: String, _ shape: [Int]) -> [UInt8] {
        let raw = [UInt8](repeating: 0, count: 4 * shape.reduce(1, *))
        return shape.flatMap { field(1, $0) } + field(2, 1) + field(8, name) + field(9, raw)
    }
    static func attribute(_ name: String, _ numbers: [Int]) -> [UInt8] {
        field(1, name) + numbers.flatMap { field(8, $0) } + field(20, 7)
    }
    static func attribute(_ name: String, _ number: Int) -> [UInt8] { field(1, name) + field(3, number) + field(20, 2) }
    static func attribute(_ name: String, tensor: [UInt8]) -> [UInt8] {
        field(1, name) + field(5, tensor) + field(20, 4)
    }
    static func attribute(_ name: String, graph: [UInt8]) -> [UInt8] { field(1, name) + field(6, graph) + field(20, 5) }
    static func node(_ kind: String, _ inputs: [String], _ outputs: [String], _ attributes: [UInt8]...) -> [UInt8] {
        inputs.flatMap { field(1, $0) } + outputs.flatMap { field(2, $0) } + field(4, kind)
            + attributes.flatMap { field(5, $0) }
    }
    static func graph(_ nodes: [[UInt8]], _ constants: [[UInt8]] = [], output: String) -> [UInt8] {
        nodes.flatMap { field(1, $0) } + constants.flatMap { field(5, $0) } + field(12, field(1, output))
    }
    /// A head that computes something, whatever nodes lie beside.
    static func head(_ nodes: [[UInt8]] = [], _ constants: [[UInt8]] = [], hidden: Int = 1) -> [UInt8] {
        let last = [
            node("Flatten", ["x"], ["f"]), node("MatMul", ["f", "w"], ["h"]), node("MatMul", ["h", "v"], ["m"]),
            node("Sigmoid", ["m"], ["y"]),
        ]
        let weights = [floats("w", [1536, hidden]), floats("v", [hidden, 1])]
        let extents = [1, 16, 96].flatMap { field(1, field(1, $0)) }
        let input = field(11, field(1, "x") + field(2, field(1, field(1, 1) + field(2, extents))))
        return field(1, 8) + field(7, graph(nodes + last, constants + weights, output: "y") + input)
            + field(8, field(1, "") + field(2, 13))
    }
    /// A constant of so many equal integers, which takes some bytes of a file.
    static func repeated(_ name: String, _ count: Int) -> (node: [UInt8], constant: [UInt8]) {
        let value = attribute("value", tensor: integers("", [1], [1]))
        return (node("ConstantOfShape", [name + "s"], [name], value), integers(name + "s", [1], [count]))
    }
}

/// Writes FlatBuffers: tables and lists by names, to which others refer, so that many may share one.
struct FlatBufferWriter {
    enum Field {
        case number(Int32)
        case reference(String)
    }

    private var bytes: [UInt8] = [0, 0, 0, 0] + Array("TFL3".utf8)
    private var places: [String: Int] = [:]
    private var references: [(Int, String)] = []

    private mutating func align() { while bytes.count % 8 != 0 { bytes.append(0) } }
    private mutating func add(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    mutating func table(_ name: String, _ fields: [Int: Field] = [:]) {
        let (count, sorted) = ((fields.keys.max() ?? -1) + 1, fields.sorted { $0.key < $1.key })
        align()
        let list = bytes.count
        add(UInt16(4 + 2 * count))
        add(UInt16(4 + 4 * fields.count))
        for index in 0..<count {
            add(UInt16(sorted.firstIndex { $0.key == index }.map { 4 + 4 * $0 } ?? 0))
        }
        align()
        places[name] = bytes.count
        add(Int32(bytes.count - list))
        for (_, field) in sorted {
            switch field {
            case .number(let number): add(number)
            case .reference(let name): refer(name)
            }
        }
    }

    private mutating func refer(_ name: String) {
        references.append((bytes.count, name))
        add(UInt32(0))
    }

    mutating func tables(_ name: String, _ names: [String]) {
        align()
        places[name] = bytes.count
        add(UInt32(names.count))
        for name in names { refer(name) }
    }

    mutating func numbers(_ name: String, _ numbers: [some FixedWidthInteger]) {
        align()
        add(UInt32(0))
        places[name] = bytes.count
        add(UInt32(numbers.count))
        for number in numbers { add(number) }
    }

    func finished(root: String) -> [UInt8] {
        var bytes = bytes
        func put(_ number: Int, at place: Int) {
            for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        }
        put(places[root] ?? 0, at: 0)
        for (place, name) in references { put((places[name] ?? 0) - place, at: place) }
        return bytes
    }

    /// A model all of whose graphs, tensors and operators are the same tables, with the same long lists.
    static func shared(tensors: Int, numbers: Int, graphs: Int, operators: Int) -> [UInt8] {
        var file = FlatBufferWriter()
        file.table("root", [0: .number(3), 1: .reference("codes"), 2: .reference("graphs"), 4: .reference("buffers")])
        file.tables("codes", ["code"])
        file.tables("graphs", [String](repeating: "graph", count: graphs))
        file.tables("buffers", ["buffer"])
        file.table(
            "graph",
            [0: .reference("tensors"), 1: .reference("ends"), 2: .reference("ends"), 3: .reference("operators")]
        )
        file.tables("tensors", [String](repeating: "tensor", count: tensors))
        file.tables("operators", [String](repeating: "operator", count: operators))
        file.table("code", [0: .number(0)])
        file.table("buffer", [0: .reference("data")])
        file.table(
            "tensor",
            [0: .reference("shape"), 1: .number(0), 2: .number(0), 3: .reference("name"), 4: .reference("scales")]
        )
        file.table("scales", [2: .reference("floats"), 3: .reference("zeros")])
        file.table("operator", [0: .number(0), 1: .reference("inputs"), 2: .reference("inputs")])
        file.numbers("ends", [Int32(0)])
        file.numbers("shape", [Int32(1), 96])
        file.numbers("name", [UInt8](repeating: 97, count: 8))
        file.numbers("data", [UInt8]())
        file.numbers("inputs", [Int32](repeating: 0, count: numbers))
        file.numbers("floats", [UInt32](repeating: 0x3F80_0000, count: numbers))
        file.numbers("zeros", [Int64](repeating: 0, count: numbers))
        return file.finished(root: "root")
    }
}
