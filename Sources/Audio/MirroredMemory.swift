import CSystem
import Glibc
import System

/// Memory that is mapped twice, one copy right after the other, so that a range across its end is contiguous.
///
/// The idea is libsoundio's `soundio_os_init_mirrored_memory`. Pages are touched at once: none is missing later, on
/// a thread that has no time.
struct MirroredMemory: ~Copyable {
    /// Bytes in one copy; there are twice as many to address.
    let size: Int
    let start: UnsafeMutableRawPointer

    /// - Parameter size: A multiple of the page size.
    /// - Throws: ``AudioError/memory`` naming the system call that refused.
    init(size: Int) throws(AudioError) {
        let descriptor = CSystem_memfd("beckon-audio")
        guard descriptor >= 0 else { throw MirroredMemory.refused("memfd_create", size) }
        // The mappings keep the memory; the descriptor is needed no longer.
        defer { close(descriptor) }
        guard ftruncate(descriptor, size) == 0 else { throw MirroredMemory.refused("ftruncate", size) }
        // One reservation of both halves, so that nothing else can come to lie between them.
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

    /// Keeps the memory from being swapped out; false where the limit of locked memory forbids it.
    func lock() -> Bool { mlock(start, 2 * size) == 0 }

    private static func refused(_ function: String, _ size: Int) -> AudioError {
        let text = SystemError.text(errno)
        return .memory.saying("no memory for a ring of \(size) bytes (\(function): \(text)); ask for fewer blocks")
    }
}
