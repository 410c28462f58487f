import Core
import Glibc
import System

/// Remembers across a sudden end that the program was reading what a broker sent.
///
/// A byte of a file, mapped into memory: what is written there outlives the process, even one that the kernel killed for lack of
/// memory, and costs no system call. ``begin()`` and ``end()`` are for one thread, hence unchecked. A file that is locked belongs to a running
/// process, and says nothing.
final class ReadingMarker: @unchecked Sendable {
    private let byte: UnsafeMutableRawPointer
    private let file: FileDescriptor
    /// Whether a process before this one ended while it read, and none has called ``end()`` since.
    let hasFound: Bool

    /// Opens or makes the file; nil where that is not possible, such as without a folder for it.
    init?(_ path: String?) {
        guard let path else { return nil }
        StateFolder.make(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
        let file = FileDescriptor(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600))
        let number = file.rawValue
        var status = stat()
        var found: UInt8 = 0
        guard file.isOpen, fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_nlink == 1, flock(number, LOCK_EX | LOCK_NB) == 0
        else { return nil }
        let count = pread(number, &found, 1, 0)
        // Written, so that the disk has room for the byte.
        guard count >= 0, pwrite(number, &found, 1, 0) == 1,
            let map = mmap(nil, 1, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0), map != MAP_FAILED
        else { return nil }
        byte = map
        hasFound = count == 1 && found == UInt8(ascii: "1")
        self.file = file
    }

    deinit { munmap(byte, 1) }

    func begin() { byte.storeBytes(of: UInt8(ascii: "1"), as: UInt8.self) }
    func end() { byte.storeBytes(of: 0, as: UInt8.self) }
}
