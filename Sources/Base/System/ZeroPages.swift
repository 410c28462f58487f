import Glibc

/// Pages of memory of one's own, all zero, which the system provides where they are first touched.
public struct ZeroPages: ~Copyable, @unchecked Sendable {
    /// On a boundary of pages.
    public let start: UnsafeMutableRawPointer
    private let byteCount: Int

    /// - Returns: nil for no bytes, or where the system has no room.
    public init?(byteCount: Int) {
        guard byteCount > 0,
            let start = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            start != MAP_FAILED
        else { return nil }
        (self.start, self.byteCount) = (start, byteCount)
    }

    deinit { munmap(start, byteCount) }
}
