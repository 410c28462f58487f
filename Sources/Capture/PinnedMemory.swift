import Glibc

/// Pages mapped from the start and locked in memory, for a thread that must not wait for a page fault.
struct PinnedMemory: ~Copyable {
    let bytes: UnsafeMutableRawBufferPointer
    /// False where the limit of locked memory (`ulimit -l`) forbids it; the pages can then be swapped out.
    let isLocked: Bool

    /// - Parameter size: Bytes, rounded up to whole pages.
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
