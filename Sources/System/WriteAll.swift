import Glibc

/// Writes all bytes to a descriptor that may block; false with `errno` set where it takes no more.
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

/// Writes a file that is not there yet, and takes it away again where not all of it could be written.
///
/// - Returns: false where there is one of this name.
public func writeNew(_ bytes: [UInt8], path: String) throws(SystemError) -> Bool {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    if file < 0, errno == EEXIST { return false }
    guard file >= 0 else { throw SystemError("open") }
    defer { close(file) }
    guard writeAll(bytes, to: file) else {
        let number = errno
        unlink(path)
        throw SystemError("write", number)
    }
    return true
}
