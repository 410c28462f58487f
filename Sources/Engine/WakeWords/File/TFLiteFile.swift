private import Core

/// A model of TensorFlow Lite as its file describes it: graphs of tensors and operators, none of which is interpreted yet.
///
/// Source: the schema of version 3 by Google.
struct TFLiteFile {
    /// The type of a tensor's elements, by its number in the schema.
    enum ElementType: Int8 {
        case float32 = 0
        case float16, int32, uint8, int64, text, boolean, int16, complex64, int8, float64, complex128, uint64, resource
        case variant, uint32, uint16, int4, bfloat16

        var isFloat: Bool {
            switch self {
            case .float32, .float16, .float64, .bfloat16, .complex64, .complex128: true
            default: false
            }
        }
    }

    struct Tensor {
        var name: String
        var type: ElementType
        /// Extents; those of a batch of unknown size are 1.
        var shape: [Int]
        /// Product of the extents.
        var count: Int
        /// Its constant content; empty if it is computed.
        var bytes: Range<Int>
        /// One scale, or one for each index of a dimension. An element q stands for (q − zero point) · scale.
        var scales: [Float]
        var zeroPoints: [Int64]
    }

    struct Operator {
        /// Its number in the schema.
        var code: Int
        /// Indices of tensors; −1 for an optional one that is missing.
        var inputs: [Int]
        var outputs: [Int]
        var options: FlatBuffer.Table?
    }

    struct Graph {
        var tensors: [Tensor]
        var inputs: [Int]
        var outputs: [Int]
        var operators: [Operator]
    }

    /// Limits on what a file may claim, above what any wake-word model needs.
    enum Limits {
        static let fileBytes = 12 << 20
        static let elements = 1 << 22
        static let dimensions = 6
        static let graphs = 8
        static let operators = 2048
    }

    let buffer: FlatBuffer
    let graphs: [Graph]

    init(_ bytes: [UInt8], _ budget: ModelBudget = ModelBudget()) throws(WakeWordError) {
        guard bytes.count <= Limits.fileBytes else {
            throw .size.saying(
                "\(bytes.count) bytes, more than the limit of \(Limits.fileBytes); is this a wake-word model?"
            )
        }
        guard Self.isOne(bytes) else {
            throw .damaged.saying("not a TFLite file", advice: "name a model, or copy it again")
        }
        buffer = FlatBuffer(bytes: bytes, budget: budget)
        let root = try buffer.root()
        let version = try buffer.number(UInt32.self, root, field: 0) ?? 0
        guard version == 3 else {
            throw .unsupported.saying("version \(version) of the file format, not 3; export the model again")
        }
        let reader = Reader(buffer: buffer)
        let codes = try reader.codes(root)
        let contents = try reader.contents(root)
        let tables = try buffer.tables(root, field: 2)
        guard tables.count <= Limits.graphs else {
            throw .size.saying("\(tables.count) graphs, more than the limit of \(Limits.graphs)")
        }
        var graphs: [Graph] = []
        for table in tables { graphs.append(try reader.graph(table, codes, contents)) }
        self.graphs = graphs
    }

    /// Whether a file begins as those of TFLite do.
    static func isOne(_ bytes: [UInt8]) -> Bool { bytes.count >= 8 && bytes[4..<8].elementsEqual("TFL3".utf8) }

    /// Constant numbers of 32 bits.
    func integers(_ tensor: Tensor) throws(WakeWordError) -> [Int32] {
        guard tensor.type == .int32, tensor.bytes.count == 4 * tensor.count else {
            throw .damaged.saying("tensor \(quoted(tensor.name)) does not hold constant integers of 32 bits")
        }
        try buffer.budget.take(tensor.count, of: MemoryLayout<Int32>.stride)
        var numbers: [Int32] = []
        numbers.reserveCapacity(tensor.count)
        for index in 0..<tensor.count {
            numbers.append(try buffer.number(Int32.self, at: tensor.bytes.lowerBound + 4 * index))
        }
        return numbers
    }

    /// Constant floats of 32 bits, all finite.
    func floats(_ tensor: Tensor) throws(WakeWordError) -> [Float] {
        guard tensor.type == .float32, tensor.bytes.count == 4 * tensor.count else {
            throw .damaged.saying("tensor \(quoted(tensor.name)) does not hold constant floats of 32 bits")
        }
        return try floats(tensor, UInt32.self) { Float(bitPattern: $0) }
    }

    /// Constant floats of 16 bits, all finite.
    func halves(_ tensor: Tensor) throws(WakeWordError) -> [Float] {
        guard tensor.type == .float16, tensor.bytes.count == 2 * tensor.count else {
            throw .damaged.saying("tensor \(quoted(tensor.name)) does not hold constant floats of 16 bits")
        }
        return try floats(tensor, UInt16.self, float(half:))
    }

    private func floats<Bits: FixedWidthInteger>(
        _ tensor: Tensor,
        _ type: Bits.Type,
        _ float: (Bits) -> Float
    ) throws(WakeWordError) -> [Float] {
        try buffer.budget.take(tensor.count, of: MemoryLayout<Float>.stride)
        try buffer.budget.step(tensor.count)
        var numbers: [Float] = []
        numbers.reserveCapacity(tensor.count)
        for index in 0..<tensor.count {
            let place = tensor.bytes.lowerBound + MemoryLayout<Bits>.size * index
            numbers.append(float(try buffer.number(Bits.self, at: place)))
        }
        guard numbers.allSatisfy(\.isFinite) else {
            throw .damaged.saying("tensor \(quoted(tensor.name)) holds a number that is not finite")
        }
        return numbers
    }

    /// The parts of a file.
    private struct Reader {
        let buffer: FlatBuffer

        func codes(_ root: FlatBuffer.Table) throws(WakeWordError) -> [Int] {
            var codes: [Int] = []
            for table in try buffer.tables(root, field: 1) {
                try buffer.budget.take(1, of: 2 * MemoryLayout<Int>.stride)
                // Numbers above 127 are only in the later field.
                let early = try buffer.number(Int8.self, table, field: 0) ?? 0
                let late = try buffer.number(Int32.self, table, field: 3) ?? 0
                codes.append(max(Int(early), Int(late)))
            }
            return codes
        }

        func contents(_ root: FlatBuffer.Table) throws(WakeWordError) -> [Range<Int>] {
            var contents: [Range<Int>] = []
            for table in try buffer.tables(root, field: 4) {
                try buffer.budget.take(1, of: 2 * MemoryLayout<Range<Int>>.stride)
                let data = try buffer.vector(table, field: 0, size: 1)
                contents.append(data.start..<data.start + data.count)
            }
            return contents
        }

        func graph(
            _ table: FlatBuffer.Table,
            _ codes: [Int],
            _ contents: [Range<Int>]
        ) throws(WakeWordError) -> Graph {
            var tensors: [Tensor] = []
            let descriptions = try buffer.tables(table, field: 0)
            try buffer.budget.take(descriptions.count, of: MemoryLayout<Tensor>.stride)
            tensors.reserveCapacity(descriptions.count)
            for table in descriptions { tensors.append(try tensor(table, contents)) }
            let tables = try buffer.tables(table, field: 3)
            guard tables.count <= Limits.operators else {
                throw .size.saying("\(tables.count) operators, more than the limit of \(Limits.operators)")
            }
            try buffer.budget.take(tables.count, of: MemoryLayout<Operator>.stride)
            var operators: [Operator] = []
            operators.reserveCapacity(tables.count)
            for table in tables {
                let index = Int(try buffer.number(UInt32.self, table, field: 0) ?? 0)
                guard codes.indices.contains(index) else { throw .damaged.saying("an operator has no kind") }
                operators.append(
                    Operator(
                        code: codes[index],
                        inputs: try indices(table, field: 1, of: tensors, optional: true),
                        outputs: try indices(table, field: 2, of: tensors),
                        options: try buffer.table(table, field: 4)
                    )
                )
            }
            return Graph(
                tensors: tensors,
                inputs: try indices(table, field: 1, of: tensors),
                outputs: try indices(table, field: 2, of: tensors),
                operators: operators
            )
        }

        private func indices(
            _ table: FlatBuffer.Table,
            field: Int,
            of tensors: [Tensor],
            optional: Bool = false
        ) throws(WakeWordError) -> [Int] {
            let indices = try buffer.numbers(Int32.self, table, field: field).map(Int.init)
            guard indices.allSatisfy({ tensors.indices.contains($0) || optional && $0 == -1 }) else {
                throw .damaged.saying("an operator names a tensor that does not exist")
            }
            return indices
        }

        private func tensor(_ table: FlatBuffer.Table, _ contents: [Range<Int>]) throws(WakeWordError) -> Tensor {
            try buffer.budget.step(16)
            let name = try buffer.text(table, field: 3)
            let number = try buffer.number(Int8.self, table, field: 1) ?? 0
            guard let type = ElementType(rawValue: number) else {
                throw .unsupported.saying("tensor \(quoted(name)) has the unknown type \(number)")
            }
            let shape = try buffer.numbers(Int32.self, table, field: 0).map(Int.init)
            var count = 1
            for extent in shape {
                guard extent >= 0, extent <= Limits.elements else {
                    throw .damaged.saying("tensor \(quoted(name)) has an extent of \(extent)")
                }
                count = min(count * extent, Limits.elements + 1)
            }
            guard shape.count <= Limits.dimensions, count <= Limits.elements else {
                throw .size.saying("tensor \(quoted(name)) has \(count) elements in \(shape.count) dimensions")
            }
            let index = Int(try buffer.number(UInt32.self, table, field: 2) ?? 0)
            guard contents.indices.contains(index) else {
                throw .damaged.saying("tensor \(quoted(name)) names a buffer that does not exist")
            }
            var tensor = Tensor(
                name: name,
                type: type,
                shape: shape,
                count: count,
                bytes: contents[index],
                scales: [],
                zeroPoints: []
            )
            if let quantisation = try buffer.table(table, field: 4) {
                tensor.scales = try buffer.numbers(UInt32.self, quantisation, field: 2).map { Float(bitPattern: $0) }
                tensor.zeroPoints = try buffer.numbers(Int64.self, quantisation, field: 3)
            }
            return tensor
        }
    }
}
