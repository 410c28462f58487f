private import Core
private import JSON
import Kernels

/// A safetensors file, in memory or open, with every offset validated.
///
/// It may hold F32, F16, I8, U8 and I16 tensors, little-endian. Source: the format published by Hugging Face, with its
/// rules: tensors do not overlap, and they cover all data.
public struct SafeTensors: Sendable {
    /// The type of a tensor's elements.
    public enum ElementType: String, Sendable {
        case float32 = "F32"
        case float16 = "F16"
        case unsigned8 = "U8"
        case signed8 = "I8"
        case signed16 = "I16"

        var size: Int {
            switch self {
            case .float32: 4
            case .float16, .signed16: 2
            case .unsigned8, .signed8: 1
            }
        }
    }

    struct Entry {
        var type: ElementType
        var shape: [Int]
        var count: Int
        var bytes: Range<Int>
    }

    /// Name of the file in error messages.
    let file: String
    let content: FileContent
    let entries: [String: Entry]

    /// Reads a file of at most 512 MiB.
    ///
    /// - Throws: `ModelError.unreadable`, `.size` or `.weights`.
    public init(path: String) throws(ModelError) {
        try self.init(bytes: readModelFile(path, limit: Limits.weightFileBytes), file: path)
    }

    /// Opens such a file: its tensors are read when they are asked for.
    init(opening path: String) throws(ModelError) {
        try self.init(FileContent(opening: path, limit: Limits.weightFileBytes), file: path)
    }

    /// Validates the bytes of a file; `file` is its name in error messages.
    ///
    /// - Throws: `ModelError.weights`.
    public init(bytes: [UInt8], file: String) throws(ModelError) {
        try self.init(.memory(bytes), file: file)
    }

    private init(_ content: FileContent, file: String) throws(ModelError) {
        self.file = file
        self.content = content
        entries = try SafeTensorsHeader(content, file: file).entries()
    }

    /// The names of all tensors, sorted.
    public var names: [String] { entries.keys.sorted() }

    /// The shape of a tensor, or nil where the file has none of that name.
    public func shape(of name: String) -> [Int]? { entries[name]?.shape }

    /// A tensor's elements as floats.
    ///
    /// - Parameter shape: the expected shape; nil accepts any.
    /// - Throws: `ModelError.tensor` where the tensor is missing, has another shape, or holds a NaN or infinity.
    public func floats(_ name: String, shape: [Int]? = nil) throws(ModelError) -> [Float] {
        let entry = try entry(name, shape: shape)
        let floats = try content.withBytes(entry.bytes) { source in
            [Float](unsafeUninitializedCapacity: entry.count) { target, count in
                count = entry.count
                // Both are nil only where there is nothing to copy.
                guard let source = source.baseAddress, let first = target.baseAddress else { return }
                switch entry.type {
                case .float32: UnsafeMutableRawPointer(first).copyMemory(from: source, byteCount: entry.bytes.count)
                case .float16: widenHalf(source, to: first, count: entry.count)
                case .unsigned8: widenBytes(source, to: first, count: entry.count)
                case .signed8: widenSignedBytes(source, to: first, count: entry.count)
                case .signed16: widenShorts(source, to: first, count: entry.count)
                }
            }
        }
        let nonFinite = floats.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.flatMap { firstNonFinite($0, count: buffer.count) }
        }
        if let nonFinite {
            throw .tensor.saying(
                "\(file): tensor \(quoted(name)): element \(nonFinite) is \(floats[nonFinite]); export the model again"
            )
        }
        return floats
    }

    /// The elements of a tensor of bytes.
    ///
    /// - Throws: `ModelError.tensor` where the tensor is missing, has another shape, or other elements.
    public func bytes(_ name: String, shape: [Int]) throws(ModelError) -> [UInt8] {
        let entry = try entry(name, shape: shape)
        guard entry.type == .unsigned8 else {
            throw .tensor.saying(
                "\(file): tensor \(quoted(name)): type \(entry.type.rawValue), not U8; export the model again"
            )
        }
        return try content.withBytes(entry.bytes) { Array($0) }
    }

    /// A tensor `[n, 2]` as ranges of rows of another one, each by its first row and the one after its last.
    ///
    /// - Parameter count: rows of the other tensor.
    /// - Throws: `ModelError.tensor` where the tensor is missing or has another shape, or a range is empty or not of these rows.
    public func ranges(_ name: String, within count: Int) throws(ModelError) -> [Range<Int>] {
        let bounds = try floats(name, shape: [shape(of: name)?.first ?? 0, 2])
        var ranges: [Range<Int>] = []
        for index in stride(from: 0, to: bounds.count, by: 2) {
            guard let first = Int(exactly: bounds[index]), let end = Int(exactly: bounds[index + 1]),
                0 <= first, first < end, end <= count
            else {
                throw .tensor.saying(
                    "\(file): tensor \(quoted(name)): range \(index / 2) is \(bounds[index])..<\(bounds[index + 1]), not within "
                        + "0..<\(count); export the model again"
                )
            }
            ranges.append(first..<end)
        }
        return ranges
    }

    /// A tensor `[count]` of steps as rows of another one: each is so many rows after the one before it, from row −1 on.
    ///
    /// - Parameter rows: of the other tensor.
    /// - Throws: `ModelError.tensor` where the tensor is missing or has another shape, or leads out of these rows.
    public func steps(_ name: String, count: Int, within rows: Int) throws(ModelError) -> [Int] {
        var row = -1
        var found: [Int] = []
        found.reserveCapacity(count)
        for (index, step) in try floats(name, shape: [count]).enumerated() {
            guard let step = Int(exactly: step), step >= 0, step < rows - row else {
                throw .tensor.saying(
                    "\(file): tensor \(quoted(name)): step \(index) leads out of \(rows) rows; export the model again"
                )
            }
            row += step
            found.append(row)
        }
        return found
    }

    /// The error for a tensor that cannot be used, and why.
    package func damaged(_ name: String, _ what: String) -> ModelError {
        .tensor.saying("\(file): tensor \(quoted(name)): \(what); copy the file again")
    }

    /// Throws `ModelError.tensor` unless there is a tensor of this name and shape.
    func require(_ name: String, shape: [Int]) throws(ModelError) {
        _ = try entry(name, shape: shape)
    }

    /// The entry of a tensor.
    ///
    /// - Throws: `ModelError.tensor` where it is missing or has another shape.
    func entry(_ name: String, shape: [Int]?) throws(ModelError) -> Entry {
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

/// The JSON header of a safetensors file, and its validation.
private struct SafeTensorsHeader {
    /// The longest header that is read, in bytes; the header of a model has a few kilobytes.
    static let lengthLimit = 1 << 20

    private struct Claim {
        var dtype: String
        var shape: [Int]
        var offsets: [Int]

        /// Nil where a member is missing, or is not of its type.
        init?(_ node: JSONNode) {
            func numbers(_ name: String) -> [Int]? {
                guard case .array(let elements)? = node[name]?.value else { return nil }
                let numbers = elements.compactMap(\.integer)
                return numbers.count == elements.count ? numbers : nil
            }
            guard let dtype = node["dtype"]?.text, let shape = numbers("shape"), let offsets = numbers("data_offsets")
            else { return nil }
            (self.dtype, self.shape, self.offsets) = (dtype, shape, offsets)
        }
    }

    private let file: String
    /// A tensor each, and perhaps the file's metadata, which are not used.
    private let items: [JSONNode.Member]
    private let dataStart: Int
    private let dataCount: Int

    init(_ content: FileContent, file: String) throws(ModelError) {
        self.file = file
        guard content.count >= 8 else {
            throw .weights.saying("\(file): \(content.count) bytes, too short for a safetensors file; copy it again")
        }
        let length = try content.withBytes(0..<8) {
            UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self))
        }
        guard length <= UInt64(SafeTensorsHeader.lengthLimit) else {
            throw .weights.saying(
                "\(file): header of \(length) bytes, more than \(SafeTensorsHeader.lengthLimit); not a safetensors file"
            )
        }
        dataStart = 8 + Int(length)
        guard dataStart <= content.count else {
            throw .weights.saying(
                "\(file): the header of \(length) bytes runs past the end at \(content.count); copy the file again"
            )
        }
        dataCount = content.count - dataStart
        let text = try content.withBytes(8..<dataStart) { String(validating: $0, as: UTF8.self) }
        guard let text else {
            throw .weights.saying("\(file): header: not UTF-8 text; copy the file again")
        }
        let header: JSONNode
        do throws(JSONError) {
            header = try JSONNode.parse(text)
        } catch {
            throw .weights.saying("\(file): header: not valid JSON: \(error); copy the file again")
        }
        guard header.isObject else { throw .weights.saying("\(file): header: not an object; copy the file again") }
        items = header.members
    }

    /// The validated tensors: their types are known, their sizes match their offsets, and they cover the data exactly once.
    ///
    /// The last rule also finds a tensor named twice: JSON keeps one of the two, and the bytes of the other are not covered.
    func entries() throws(ModelError) -> [String: SafeTensors.Entry] {
        var entries: [String: SafeTensors.Entry] = [:]
        for item in items where item.name != "__metadata__" {
            guard let claim = Claim(item.node) else {
                throw wrong(item.name, "its dtype, shape and data_offsets are not text and two lists of whole numbers")
            }
            entries[item.name] = try entry(item.name, claim)
        }
        var end = dataStart
        let inOrder = entries.sorted { a, b in
            (a.value.bytes.lowerBound, a.value.bytes.upperBound) < (b.value.bytes.lowerBound, b.value.bytes.upperBound)
        }
        for (name, entry) in inOrder {
            guard entry.bytes.lowerBound == end else {
                let what = entry.bytes.lowerBound < end ? "overlaps the tensor before it" : "leaves a gap before it"
                throw wrong(name, "\(what), at byte \(entry.bytes.lowerBound - dataStart) of the data")
            }
            end = entry.bytes.upperBound
        }
        guard end == dataStart + dataCount else {
            throw .weights.saying(
                "\(file): \(dataStart + dataCount - end) bytes at the end belong to no tensor; copy the file again"
            )
        }
        return entries
    }

    private func entry(_ name: String, _ claim: Claim) throws(ModelError) -> SafeTensors.Entry {
        guard let type = SafeTensors.ElementType(rawValue: claim.dtype) else {
            throw wrong(name, "type \(quoted(claim.dtype)), not F32, F16, I8, U8 or I16")
        }
        guard claim.offsets.count == 2 else {
            throw wrong(name, "data_offsets holds \(claim.offsets.count) numbers, not two")
        }
        let begin = claim.offsets[0]
        let end = claim.offsets[1]
        guard begin >= 0, begin <= end, end <= dataCount else {
            throw wrong(name, "data_offsets \(begin)…\(end) lie outside the \(dataCount) bytes of data")
        }
        guard claim.shape.count <= 8 else { throw wrong(name, "\(claim.shape.count) dimensions, more than 8") }
        var count = 1
        for extent in claim.shape {
            let (product, overflow) = count.multipliedReportingOverflow(by: extent)
            guard extent >= 0, !overflow else { throw wrong(name, "impossible shape \(claim.shape)") }
            count = product
        }
        let (size, overflow) = count.multipliedReportingOverflow(by: type.size)
        guard !overflow, size == end - begin else {
            throw wrong(name, "shape \(claim.shape) of \(claim.dtype) does not fill the \(end - begin) bytes it claims")
        }
        return SafeTensors.Entry(
            type: type,
            shape: claim.shape,
            count: count,
            bytes: (dataStart + begin)..<(dataStart + end)
        )
    }

    private func wrong(_ name: String, _ what: String) -> ModelError {
        .weights.saying("\(file): tensor \(quoted(name)): \(what); copy the file again")
    }
}
