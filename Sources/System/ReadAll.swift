import Glibc

/// Reads a descriptor to its end.
///
/// - Parameter most: bytes after which no more is read; what is returned may be longer by a part.
/// - Throws: where reading fails; what came before is lost.
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
