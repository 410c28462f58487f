import Kernels

/// A safetensors file in memory, whose every offset has been checked.
///
/// Holds F32, F16, U8 and I16 tensors, little-endian. Source: the published format of the Hugging Face project, whose
/// rules are kept: no two tensors overlap, no byte of the data is left over.
public struct SafeTensors: Sendable {
    /// The type of a tensor's elements.
    public enum ElementType: String, Sendable {
        case float32 = "F32"
        case float16 = "F16"
        case unsigned8 = "U8"
        case signed16 = "I16"

        var size: Int {
            switch self {
            case .float32: 4
            case .float16, .signed16: 2
            case .unsigned8: 1
            }
        }
    }

    struct Entry {
        var type: ElementType
        var shape: [Int]
        var count: Int
        var bytes: Range<Int>
    }

    /// What error messages call the file.
    let file: String
    let bytes: [UInt8]
    let entries: [String: Entry]

    /// Reads a file of at most 512 MiB.
    public init(path: String) throws(ModelError) {
        try self.init(bytes: readFile(path, limit: 1 << 29), file: path)
    }

    /// Takes the bytes of a file; `file` is what error messages call it.
    public init(bytes: [UInt8], file: String) throws(ModelError) {
        self.file = file
        self.bytes = bytes
        entries = try SafeTensorsHeader(bytes: bytes, file: file).entries()
    }

    /// The names of all tensors, sorted.
    public var names: [String] { entries.keys.sorted() }

    /// The shape of a tensor, or nil where there is none of that name.
    public func shape(of name: String) -> [Int]? { entries[name]?.shape }

    /// A tensor's elements as floats.
    ///
    /// Throws `.tensor` when it is missing, has another shape than `shape` (nil takes any), or holds a number that is
    /// NaN or infinite.
    public func floats(_ name: String, shape: [Int]? = nil) throws(ModelError) -> [Float] {
        let entry = try entry(name, shape: shape)
        var floats = [Float](repeating: 0, count: entry.count)
        bytes.withUnsafeBytes { file in
            floats.withUnsafeMutableBufferPointer { target in
                // Both are nil only where there is nothing to copy.
                guard let start = file.baseAddress, let first = target.baseAddress else { return }
                let source = start + entry.bytes.lowerBound
                switch entry.type {
                case .float32: UnsafeMutableRawPointer(first).copyMemory(from: source, byteCount: entry.bytes.count)
                case .float16: widenHalf(source, to: first, count: entry.count)
                case .unsigned8: widenBytes(source, to: first, count: entry.count)
                case .signed16: widenShorts(source, to: first, count: entry.count)
                }
            }
        }
        let broken = floats.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.flatMap { firstNonFinite($0, count: buffer.count) }
        }
        if let broken {
            throw .tensor.saying(
                "\(file): tensor \(quoted(name)): element \(broken) is \(floats[broken]); export the model again"
            )
        }
        return floats
    }

    /// Throws `.tensor` unless there is a tensor of this name and shape.
    func require(_ name: String, shape: [Int]) throws(ModelError) {
        _ = try entry(name, shape: shape)
    }

    private func entry(_ name: String, shape: [Int]?) throws(ModelError) -> Entry {
        guard let entry = entries[name] else {
            throw .tensor.saying("\(file): tensor \(quoted(name)) is missing; export the weights with the description")
        }
        if let shape, entry.shape != shape {
            throw .tensor.saying(
                "\(file): tensor \(quoted(name)): shape \(entry.shape), expected \(shape); "
                    + "export the weights with the description"
            )
        }
        return entry
    }
}
