import CSystem
private import Core
import Glibc

/// A file without a name, in memory or on disk; it is gone with its descriptor.
public struct UnnamedFile: ~Copyable, Sendable {
    private let file: FileDescriptor

    /// Makes an empty file.
    ///
    /// - Parameter folder: where its blocks lie; nil for memory.
    public init(in folder: String?) throws(SystemError) {
        guard let folder else {
            file = FileDescriptor(CSystem_memfd("beckon"))
            guard file.isOpen else { throw SystemError("memfd_create") }
            return
        }
        var name = Array("\(folder)/beckon-XXXXXX".utf8CString)
        file = FileDescriptor(mkstemp(&name))
        guard file.isOpen else { throw SystemError("mkstemp") }
        _ = fcntl(file.rawValue, F_SETFD, FD_CLOEXEC)
        unlink(name)
    }

    /// The folder for large ones: that of `TMPDIR`, else `/var/tmp`.
    public static var usualFolder: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp" }

    /// Opens the file, while this value lives.
    public var path: String { "/proc/self/fd/\(file.rawValue)" }

    /// For a writer elsewhere; valid while this value lives.
    public var descriptor: Int32 { file.rawValue }

    /// Appends bytes.
    public func append(_ bytes: [UInt8]) throws(SystemError) {
        guard writeAll(bytes, to: file.rawValue) else { throw SystemError("write") }
    }

    /// Writes over its beginning.
    public func replaceStart(by bytes: [UInt8]) throws(SystemError) {
        guard pwrite(file.rawValue, bytes, bytes.count, 0) == bytes.count else { throw SystemError("pwrite") }
    }
}
