private import Core
import Glibc

/// The status of a file, as `stat` gives it.
public struct FileStatus: Equatable, Sendable {
    public let device: UInt64
    public let inode: UInt64
    /// In bytes.
    public let size: Int64
    /// Whether it is a regular file, not a folder, a device or a pipe.
    public let isRegular: Bool
    public let isFolder: Bool
    /// How many names it has (hard links).
    public let names: UInt64
    /// The permission bits of its mode, such as `0o644`.
    public let permissions: UInt32
    public let owner: UInt32
    public let group: UInt32
    /// When the content was last modified (mtime), in nanoseconds since the beginning of 1970, UTC.
    public let changed: Int64

    /// - Throws: if there is no such file, or its folder may not be searched.
    public init(path: String) throws(SystemError) {
        var status = stat()
        guard stat(FileName.cString(path), &status) == 0 else { throw SystemError("stat") }
        self.init(status)
    }

    /// Nil if the descriptor is not open.
    public init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        isRegular = status.st_mode & S_IFMT == S_IFREG
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        names = UInt64(status.st_nlink)
        permissions = status.st_mode & 0o7777
        owner = status.st_uid
        group = status.st_gid
        changed = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    }
}
