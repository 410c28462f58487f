import Glibc

/// A whole file in memory.
public struct FileContents: Sendable {
    public let bytes: [UInt8]
    /// The permission bits of its mode, such as `0o644`.
    public let permissions: UInt32
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
    // O_NONBLOCK: opening a pipe would otherwise wait for a writer.
    let file = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY))
    guard file.isOpen else { throw .system(SystemError("open")) }
    var status = stat()
    guard fstat(file.rawValue, &status) == 0 else { throw .system(SystemError("fstat")) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegularFile }
    guard status.st_size <= limit else { throw .tooLarge(Int(status.st_size)) }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var filled = 0
    while filled < bytes.count {
        let count = bytes.withUnsafeMutableBytes { buffer in
            read(file.rawValue, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
        }
        if count > 0 {
            filled += count
        } else if count == 0 {
            throw .truncated(at: filled)
        } else if errno != EINTR {
            throw .system(SystemError("read"))
        }
    }
    return FileContents(bytes: bytes, permissions: status.st_mode & 0o7777)
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
