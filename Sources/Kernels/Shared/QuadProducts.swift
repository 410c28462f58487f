#if KERNEL_AVX512
import KernelInterface
import _Builtin_intrinsics.intel

/// Four inputs of 8 bits at once: one instruction multiplies and adds them all.
struct WholeProducts {
    typealias Factor = WholePanel
    typealias Weights = WholePanel
    static var layout: QuantisedLayout { .quads }
    @inline(__always) static var inputCount: Int { 1 }
    @inline(__always) static var columns: Int { 6 }

    private(set) var total = WholePanel.zero

    @inline(__always) init() {}

    @inline(__always) static func factor(_ quad: UnsafePointer<Int32>) -> WholePanel {
        WholePanel(repeating: quad.pointee)
    }

    @inline(__always) static func weights(_ row: UnsafeRawPointer) -> WholePanel {
        row.assumingMemoryBound(to: WholePanel.self).pointee
    }

    @inline(__always) mutating func add(_ factor: WholePanel, _ weights: WholePanel) {
        total = unsafeBitCast(
            _mm512_dpbusd_epi32(
                unsafeBitCast(total, to: SIMD8<Int64>.self),
                unsafeBitCast(factor, to: SIMD8<Int64>.self),
                unsafeBitCast(weights, to: SIMD8<Int64>.self)
            ),
            to: WholePanel.self
        )
    }
}
#endif
