private import Core
import Glibc

/// A whole file in memory.
public struct FileContents: Sendable {
    public let bytes: [UInt8]
    public let status: FileStatus
}

/// Why a file was not read.
public enum ReadFileError: Error, Equatable, Sendable {
    /// `open`, `fstat` or `read` failed.
    case system(SystemError)
    /// A directory, a pipe or a device; where links are not followed, also a link or a file with several names.
    case notRegularFile
    /// The file of another user, of this number, where that is not accepted.
    case foreign(UInt32)
    /// Larger than the limit, in bytes.
    case tooLarge(Int)
    /// The file was truncated while it was read, at this offset in bytes.
    case truncated(at: Int)
}

extension ReadFileError: CustomStringConvertible {
    /// What is wrong, without the file's name: `it has 100000 bytes, more than are read`.
    public var description: String {
        switch self {
        case .system(let error): SystemError.text(error.number)
        case .notRegularFile: "it is not a regular file"
        case .foreign(let user): "it belongs to another user (\(user))"
        case .tooLarge(let size): "it has \(size) bytes, more than are read"
        case .truncated(let place): "it became shorter while it was read, at byte \(place); try again"
        }
    }
}

/// Reads a whole regular file of a folder, which has no other name and belongs to a user: what others put there is not read.
///
/// - Parameters:
///   - name: a name in the folder; one with a slash is not found. Links are not followed.
///   - owner: the number of the user whose file it must be.
public func readFile(
    _ name: String,
    inFolder folder: String,
    owner: UInt32,
    limit: Int
) throws(ReadFileError) -> FileContents {
    guard !name.contains("/") else { throw .system(SystemError("open", ENOENT)) }
    let place = FileDescriptor(open(FileName.cString(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    guard place.isOpen else { throw .system(SystemError("open")) }
    let file = try OpenFile(name, in: place)
    guard file.status.owner == owner else { throw .foreign(file.status.owner) }
    guard file.size <= limit else { throw .tooLarge(file.size) }
    return FileContents(bytes: try file.read(0..<file.size), status: file.status)
}

/// Reads a whole regular file of at most `limit` bytes.
///
/// Not mapped into memory: access to a mapped file that was truncated kills the process.
public func readFile(_ path: String, limit: Int) throws(ReadFileError) -> FileContents {
    let file = try OpenFile(path)
    guard file.size <= limit else { throw .tooLarge(file.size) }
    return FileContents(bytes: try file.read(0..<file.size), status: file.status)
}

extension Collection<UInt8> {
    /// Text without the mark of its byte order that editors of other systems put in front of UTF-8: it is not part of the first line.
    public var withoutByteOrderMark: SubSequence { dropFirst(starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0) }
}

/// Reads the beginning of a regular file.
///
/// - Parameters:
///   - start: the bytes that tell how many are needed.
///   - limit: the most bytes to read.
///   - needed: gets the first `start` bytes, or all of a shorter file, and returns the number of bytes to read.
/// - Returns: the first `needed` bytes, or all of a shorter file.
public func readFile(
    _ path: String,
    start: Int,
    limit: Int,
    _ needed: ([UInt8]) -> Int
) throws(ReadFileError) -> [UInt8] {
    let file = try OpenFile(path)
    let bytes = try file.read(0..<min(start, file.size))
    let count = max(bytes.count, min(needed(bytes), file.size))
    guard count <= limit else { throw .tooLarge(count) }
    return try file.read(0..<count, after: bytes)
}

/// Reads a descriptor to its end.
///
/// - Parameter most: reading stops after more than this many bytes; the result may be up to 64 KiB longer.
/// - Throws: if a read fails; the bytes read before are lost.
public func readAll(_ descriptor: Int32, most: Int = .max) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= most {
        let count = read(descriptor, &part, part.count)
        if count == 0 { break }
        if count > 0 { bytes += part[..<count] } else if errno != EINTR { throw SystemError("read") }
    }
    return bytes
}

/// The text of a file of the kernel, such as `/proc/cpuinfo`, whose size it does not tell; nil if it cannot be read.
public func kernelText(_ path: String) -> String? {
    let file = FileDescriptor(open(FileName.cString(path), O_RDONLY | O_CLOEXEC))
    guard file.isOpen, let bytes = try? readAll(file.rawValue, most: 1 << 20) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
}

/// Resident memory of this process, in bytes; nil where the system does not tell.
public var residentMemory: Int? {
    let pages = kernelText("/proc/self/statm")?.split(separator: " ").dropFirst().first
    return pages.flatMap { Int(digits: $0) }.map { $0 * sysconf(Int32(_SC_PAGESIZE)) }
}

/// Whether there is a file or a folder of this name.
public func fileExists(_ path: String) -> Bool { access(FileName.cString(path), F_OK) == 0 }

/// Whether there is a folder of this name.
public func isFolder(_ path: String) -> Bool { (try? FileStatus(path: path))?.isFolder == true }

/// Removes a folder of files; a link to one is removed itself.
///
/// - Throws: if something in it cannot be removed, such as a folder that is not empty.
public func removeFolder(_ path: String) throws(SystemError) {
    if unlink(FileName.cString(path)) == 0 { return }
    for name in namesInFolder(path, hidden: true) where unlink(FileName.cString("\(path)/\(name)")) != 0 {
        throw SystemError("unlink")
    }
    guard rmdir(FileName.cString(path)) == 0 else { throw SystemError("rmdir") }
}

/// Writes all bytes to a blocking descriptor. Returns false with `errno` set if a write fails.
public func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}

/// The names in a folder, in no order; none if it cannot be read.
///
/// - Parameter hidden: whether also those that begin with a dot, but for the folder itself and the one above.
public func namesInFolder(_ path: String, hidden: Bool = false) -> [String] {
    guard let folder = opendir(FileName.cString(path)) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { FileName.text($0.prefix { $0 != 0 }) }
        if !name.hasPrefix(".") || hidden && name != "." && name != ".." { names.append(name) }
    }
    return names
}
