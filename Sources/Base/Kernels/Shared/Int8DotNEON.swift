#if KERNEL_DOTPRODUCT
import KernelInterface
import _Builtin_intrinsics.arm.neon

/// ARMv8.2's dot product of four 8-bit inputs with 16 output channels: four instructions, `sdot`. It takes signed inputs, which
/// those of 7 bits also are.
struct Int8DotNEON {
    typealias Factor = SIMD16<Int8>
    typealias Weights = (SIMD16<Int8>, SIMD16<Int8>, SIMD16<Int8>, SIMD16<Int8>)
    static var layout: QuantisedLayout { .uint8x4 }
    @inline(__always) static var lanesPerRow: Int { 1 }
    // With weights and an input, 29 of 32 registers.
    @inline(__always) static var columns: Int { 6 }

    private var sums = (SIMD4<Int32>.zero, SIMD4<Int32>.zero, SIMD4<Int32>.zero, SIMD4<Int32>.zero)

    @inline(__always) init() {}

    @inline(__always) var total: Int32Panel {
        Int32Panel(
            lowHalf: SIMD8(lowHalf: sums.0, highHalf: sums.1),
            highHalf: SIMD8(lowHalf: sums.2, highHalf: sums.3)
        )
    }

    @inline(__always) static func factor(_ lane: UnsafePointer<Int32>) -> SIMD16<Int8> {
        unsafeBitCast(SIMD4<Int32>(repeating: lane.pointee), to: SIMD16<Int8>.self)
    }

    @inline(__always) static func weights(_ row: UnsafeRawPointer) -> Weights {
        let vectors = row.assumingMemoryBound(to: SIMD16<Int8>.self)
        return (vectors[0], vectors[1], vectors[2], vectors[3])
    }

    @inline(__always) mutating func add(_ factor: SIMD16<Int8>, _ weights: Weights) {
        sums.0 = vdotq_s32(sums.0, weights.0, factor)
        sums.1 = vdotq_s32(sums.1, weights.1, factor)
        sums.2 = vdotq_s32(sums.2, weights.2, factor)
        sums.3 = vdotq_s32(sums.3, weights.3, factor)
    }
}
#endif
