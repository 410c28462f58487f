private import Core
private import System

/// Reads a model file of at most `limit` bytes.
///
/// - Throws: `ModelError.unreadable` or `ModelError.size`.
func readModelFile(_ path: String, limit: Int) throws(ModelError) -> [UInt8] {
    let bytes: [UInt8]
    do throws(ReadFileError) {
        bytes = try readFile(path, limit: limit).bytes
    } catch {
        switch error {
        case .system(let error): throw .unreadable.saying("\(path): \(error); check the path and its permissions")
        case .notRegularFile, .foreign: throw .unreadable.saying("\(path): not a regular file; name a model folder")
        case .tooLarge(let size):
            throw .size.saying("\(path): \(size) bytes, more than the limit of \(limit); is this a model?")
        case .truncated(let offset):
            throw .unreadable.saying(
                "\(path): ends early, at byte \(offset); it was truncated while being read, try again"
            )
        }
    }
    if let other = FileStandIn.text(bytes) { throw .unreadable.saying("\(path): \(other)") }
    return bytes
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
