private import Core
private import System

/// Reads a model file of at most `limit` bytes.
///
/// - Throws: `ModelError.unreadable` or `ModelError.size`.
func readModelFile(_ path: String, limit: Int) throws(ModelError) -> [UInt8] {
    let file = try OpenModelFile(path, limit: limit)
    return try file.read(0..<file.size)
}

/// A model file that is open, of which parts are read.
final class OpenModelFile: Sendable {
    let size: Int
    private let path: String
    private let file: OpenFile

    /// - Throws: `ModelError.unreadable` or `ModelError.size`.
    init(_ path: String, limit: Int) throws(ModelError) {
        do throws(ReadFileError) {
            file = try OpenFile(path)
        } catch {
            throw .reading(path, error)
        }
        (self.path, size) = (path, file.size)
        guard size <= limit else {
            throw .size.saying("\(path): \(size) bytes, more than the limit of \(limit); is this a model?")
        }
        let start = try read(0..<min(size, FileStandIn.telling))
        if let other = FileStandIn.text(start) { throw .unreadable.saying("\(path): \(other)") }
    }

    /// - Throws: `ModelError.unreadable`.
    func read(_ range: Range<Int>) throws(ModelError) -> [UInt8] {
        do throws(ReadFileError) {
            return try file.read(range)
        } catch {
            throw .reading(path, error)
        }
    }
}

extension ModelError {
    fileprivate static func reading(_ path: String, _ error: ReadFileError) -> ModelError {
        switch error {
        case .truncated(let place):
            .unreadable.saying("\(path): ends early, at byte \(place); it was truncated while being read, try again")
        case .system(let error): .unreadable.saying("\(path): \(error); check the path and its permissions")
        case .notRegularFile, .foreign, .tooLarge:
            .unreadable.saying("\(path): not a regular file; name a model folder")
        }
    }
}

/// Reads a model's file of text, of at most 1 MiB.
///
/// - Throws: `ModelError.unreadable`, `.size` or `.description`.
package func readModelText(_ path: String) throws(ModelError) -> String {
    guard let text = String(validating: try readModelFile(path, limit: 1 << 20), as: UTF8.self) else {
        throw .description.saying("\(path): not UTF-8 text; copy the file again")
    }
    return text
}
