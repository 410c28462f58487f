/// Memory on a 64-byte boundary, filled with NaN, for calling kernels directly.
final class AlignedFloats {
    let base: UnsafeMutablePointer<Float>

    init(_ count: Int) {
        let raw = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1) * 4, alignment: 64)
        base = raw.bindMemory(to: Float.self, capacity: count)
        base.initialize(repeating: .nan, count: count)
    }

    deinit { base.deallocate() }
}
