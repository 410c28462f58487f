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
    /// A directory, a pipe or a device.
    case notRegularFile
    /// Larger than the limit, in bytes.
    case tooLarge(Int)
    /// The file was truncated while it was read, at this offset in bytes.
    case truncated(at: Int)
}

/// Reads a whole regular file of at most `limit` bytes.
///
/// Not mapped into memory: access to a mapped file that was truncated kills the process.
public func readFile(_ path: String, limit: Int) throws(ReadFileError) -> FileContents {
    let file = try RegularFile(path)
    guard file.size <= limit else { throw .tooLarge(file.size) }
    return FileContents(bytes: try file.read(file.size, after: []), status: file.status)
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
    let file = try RegularFile(path)
    let bytes = try file.read(min(start, file.size), after: [])
    let count = max(bytes.count, min(needed(bytes), file.size))
    guard count <= limit else { throw .tooLarge(count) }
    return try file.read(count, after: bytes)
}

/// A regular file, open for reading.
private struct RegularFile: ~Copyable {
    /// In bytes, when it was opened.
    let size: Int
    let status: FileStatus
    private let descriptor: FileDescriptor

    init(_ path: String) throws(ReadFileError) {
        // O_NONBLOCK: opening a pipe would otherwise wait for a writer.
        let file = FileDescriptor(open(FileName.cString(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY))
        guard file.isOpen else { throw .system(SystemError("open")) }
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { throw .system(SystemError("fstat")) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegularFile }
        size = Int(status.st_size)
        self.status = FileStatus(status)
        descriptor = file
    }

    /// The first `count` bytes, of which those in `start` were read before.
    func read(_ count: Int, after start: [UInt8]) throws(ReadFileError) -> [UInt8] {
        var bytes = start + [UInt8](repeating: 0, count: count - start.count)
        var filled = start.count
        while filled < count {
            let piece = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor.rawValue, buffer.baseAddress.map { $0 + filled }, count - filled)
            }
            if piece > 0 {
                filled += piece
            } else if piece == 0 {
                throw .truncated(at: filled)
            } else if errno != EINTR {
                throw .system(SystemError("read"))
            }
        }
        return bytes
    }
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
