/// The bytes of a model's file: in memory, or in the open file, which is read where bytes are asked for.
///
/// Not mapped into memory: access to a mapped file that was truncated kills the process.
enum FileContent: Sendable {
    case memory([UInt8])
    case file(OpenModelFile)

    /// Opens a file of at most `limit` bytes.
    ///
    /// - Throws: `ModelError.unreadable` or `ModelError.size`.
    init(opening path: String, limit: Int) throws(ModelError) {
        self = .file(try OpenModelFile(path, limit: limit))
    }

    var count: Int {
        switch self {
        case .memory(let bytes): bytes.count
        case .file(let file): file.size
        }
    }

    /// Calls the body with some of the bytes.
    ///
    /// - Throws: `ModelError.unreadable` where the open file cannot be read any more.
    func withBytes<Result>(
        _ range: Range<Int>,
        _ body: (UnsafeRawBufferPointer) throws(ModelError) -> Result
    ) throws(ModelError) -> Result {
        func run(_ bytes: borrowing [UInt8], _ range: Range<Int>) throws(ModelError) -> Result {
            try bytes.withUnsafeBufferPointer { all throws(ModelError) in
                try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(all)[range]))
            }
        }
        switch self {
        case .memory(let bytes): return try run(bytes, range)
        case .file(let file): return try run(file.read(range), 0..<range.count)
        }
    }
}
