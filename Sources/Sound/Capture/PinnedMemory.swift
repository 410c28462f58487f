import Glibc

/// Memory whose pages are mapped at the start and locked, for a thread that must not wait for page faults.
struct PinnedMemory: ~Copyable {
    let bytes: UnsafeMutableRawBufferPointer
    /// False if the limit of locked memory (`ulimit -l`) forbids locking; the pages can then be swapped out.
    let isLocked: Bool

    /// - Parameter size: Bytes, rounded up to whole pages.
    /// - Throws: ``CaptureError/system`` if the system gives no memory.
    init(size: Int) throws(CaptureError) {
        let page = max(1, Int(sysconf(Int32(_SC_PAGESIZE))))
        let size = (max(1, size) + page - 1) / page * page
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | Int32(MAP_POPULATE)
        guard let start = mmap(nil, size, PROT_READ | PROT_WRITE, flags, -1, 0), start != MAP_FAILED else {
            throw .system("no memory for capturing, free some", "mmap of \(size) bytes", errno)
        }
        bytes = UnsafeMutableRawBufferPointer(start: start, count: size)
        isLocked = mlock(start, size) == 0
    }

    deinit { munmap(bytes.baseAddress, bytes.count) }
}
