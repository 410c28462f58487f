/// Floats on a 64-byte boundary, owned by one value and zero at first.
///
/// The one thin edge between the kernels' pointers and the rest of the room. Sendable, since whoever holds the value
/// is the only one with access; a shared model holds one that is no longer written to.
struct AlignedBuffer: ~Copyable, @unchecked Sendable {
    let base: UnsafeMutablePointer<Float>
    let count: Int

    init(count: Int) {
        self.count = count
        let bytes = max(count, 1) * MemoryLayout<Float>.stride
        let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
        base = memory.bindMemory(to: Float.self, capacity: count)
        base.initialize(repeating: 0, count: count)
    }

    deinit { UnsafeMutableRawPointer(base).deallocate() }
}

/// The next multiple of 16 floats, 64 bytes.
func aligned(_ count: Int) -> Int { (count + 15) & ~15 }
