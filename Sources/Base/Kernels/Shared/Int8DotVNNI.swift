#if KERNEL_AVX512
import KernelInterface
import _Builtin_intrinsics.intel

/// VNNI's dot product of four unsigned 8-bit inputs with 16 output channels: one instruction, `vpdpbusd`.
struct Int8DotVNNI {
    typealias Factor = Int32Panel
    typealias Weights = Int32Panel
    static var layout: QuantisedLayout { .uint8x4 }
    @inline(__always) static var lanesPerRow: Int { 1 }
    @inline(__always) static var columns: Int { 6 }

    private(set) var total: Int32Panel

    @inline(__always) init(_ start: Int32Panel = .zero) { total = start }

    @inline(__always) static func factor(_ lane: UnsafePointer<Int32>) -> Int32Panel {
        unsafeBitCast(_mm512_set1_epi32(lane.pointee), to: Int32Panel.self)
    }

    @inline(__always) static func weights(_ row: UnsafeRawPointer) -> Int32Panel {
        row.assumingMemoryBound(to: Int32Panel.self).pointee
    }

    @inline(__always) mutating func add(_ factor: Int32Panel, _ weights: Int32Panel) {
        total = unsafeBitCast(
            _mm512_dpbusd_epi32(
                unsafeBitCast(total, to: SIMD8<Int64>.self),
                unsafeBitCast(factor, to: SIMD8<Int64>.self),
                unsafeBitCast(weights, to: SIMD8<Int64>.self)
            ),
            to: Int32Panel.self
        )
    }
}
#endif
