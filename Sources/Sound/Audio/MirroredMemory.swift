import CSystem
import Glibc
import System

/// Memory that is mapped twice, one mapping right after the other, so that a range across its end is contiguous.
///
/// After libsoundio's `soundio_os_init_mirrored_memory`. All pages are mapped at the start, so that no page fault
/// delays a real-time thread later.
struct MirroredMemory: ~Copyable {
    /// Bytes of memory; twice as many are addressable from ``start``.
    let size: Int
    let start: UnsafeMutableRawPointer

    /// - Parameter size: A multiple of the page size.
    /// - Throws: ``AudioError/memory`` with the system call that failed.
    init(size: Int) throws(AudioError) {
        let descriptor = CSystem_memfd("beckon-audio")
        guard descriptor >= 0 else { throw MirroredMemory.refused("memfd_create", size) }
        // The mappings keep the memory; the descriptor is no longer needed.
        defer { close(descriptor) }
        guard ftruncate(descriptor, size) == 0 else { throw MirroredMemory.refused("ftruncate", size) }
        // Both halves are reserved at once, so that no other mapping can get between them.
        guard let start = mmap(nil, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), start != MAP_FAILED else {
            throw MirroredMemory.refused("mmap", size)
        }
        for half in [start, start + size] {
            let flags = MAP_SHARED | MAP_FIXED | Int32(MAP_POPULATE)
            guard mmap(half, size, PROT_READ | PROT_WRITE, flags, descriptor, 0) == half else {
                let error = MirroredMemory.refused("mmap", size)
                munmap(start, 2 * size)
                throw error
            }
        }
        self.size = size
        self.start = start
    }

    deinit { munmap(start, 2 * size) }

    /// Locks the memory, so that it is not swapped out; false if the limit of locked memory forbids it.
    func lock() -> Bool { mlock(start, 2 * size) == 0 }

    private static func refused(_ function: String, _ size: Int) -> AudioError {
        let text = SystemError.text(errno)
        return .memory.saying("no memory for a ring of \(size) bytes (\(function): \(text)); ask for fewer blocks")
    }
}
