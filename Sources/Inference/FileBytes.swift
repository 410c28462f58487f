import Glibc

/// Reads a regular file of at most `limit` bytes.
///
/// Not mapped into memory: access to a mapped file that was truncated kills the process.
func readFile(_ path: String, limit: Int) throws(ModelError) -> [UInt8] {
    // O_NONBLOCK: opening a pipe would otherwise wait for a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure("open", path) }
    defer { close(descriptor) }

    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("fstat", path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
        throw .unreadable.saying("\(path): not a regular file; name a model folder")
    }
    guard status.st_size <= limit else {
        throw .size.saying("\(path): \(status.st_size) bytes, more than the \(limit) that are read; is this a model?")
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var filled = 0
    while filled < bytes.count {
        let count = bytes.withUnsafeMutableBytes { buffer in
            read(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
        }
        if count < 0 {
            if errno == EINTR { continue }
            throw failure("read", path)
        }
        if count == 0 {
            throw .unreadable.saying("\(path): ends early, at byte \(filled); it was cut while being read, try again")
        }
        filled += count
    }
    return bytes
}

private func failure(_ function: String, _ path: String) -> ModelError {
    let number = errno
    let reason = strerror(number).map { String(cString: $0) } ?? "error \(number)"
    return .unreadable.saying("\(path): \(function): \(reason); check the path and its permissions")
}
