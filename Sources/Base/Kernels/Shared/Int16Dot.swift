#if !KERNEL_AVX2 && !KERNEL_AVX512 && !KERNEL_DOTPRODUCT
import KernelInterface

#if arch(x86_64)
import _Builtin_intrinsics.intel
#endif

/// The baseline's dot product of two 16-bit inputs with 16 output channels: `pmaddwd` on SSE2. On NEON the shifts and products
/// below compile to `mla`.
struct Int16Dot {
    typealias Factor = Int32Panel
    typealias Weights = Int32Panel
    static var layout: QuantisedLayout { .int16x2 }
    @inline(__always) static var lanesPerRow: Int { 1 }
    // Each product needs a register before it is added: with three columns SSE2 would spill.
    @inline(__always) static var columns: Int { Width.hasFewRegisters ? 2 : 6 }

    private(set) var total = Int32Panel.zero

    @inline(__always) init() {}

    @inline(__always) static func factor(_ lane: UnsafePointer<Int32>) -> Int32Panel {
        Int32Panel(repeating: lane.pointee)
    }

    /// The weights of a row, sign-extended from 8 to 16 bits.
    @inline(__always) static func weights(_ row: UnsafeRawPointer) -> Int32Panel {
        Int32Panel(
            lowHalf: SIMD8(lowHalf: widen(row), highHalf: widen(row + 8)),
            highHalf: SIMD8(lowHalf: widen(row + 16), highHalf: widen(row + 24))
        )
    }

    @inline(__always) mutating func add(_ factor: Int32Panel, _ weights: Int32Panel) {
        let (a, b) = (weights.lowHalf, weights.highHalf)
        let (x, y) = (factor.lowHalf, factor.highHalf)
        total =
            total
            &+ Int32Panel(
                lowHalf: SIMD8(lowHalf: products(a.lowHalf, x.lowHalf), highHalf: products(a.highHalf, x.highHalf)),
                highHalf: SIMD8(lowHalf: products(b.lowHalf, y.lowHalf), highHalf: products(b.highHalf, y.highHalf))
            )
    }

    @inline(__always)
    private func products(_ left: SIMD4<Int32>, _ right: SIMD4<Int32>) -> SIMD4<Int32> {
        #if arch(x86_64)
        return unsafeBitCast(
            _mm_madd_epi16(unsafeBitCast(left, to: SIMD2<Int64>.self), unsafeBitCast(right, to: SIMD2<Int64>.self)),
            to: SIMD4<Int32>.self
        )
        #else
        let low = ((left &<< 16) &>> 16) &* ((right &<< 16) &>> 16)
        let high = (left &>> 16) &* (right &>> 16)
        return low &+ high
        #endif
    }

    @inline(__always)
    private static func widen(_ bytes: UnsafeRawPointer) -> SIMD4<Int32> {
        #if arch(x86_64)
        // SSE2 has no sign extension: duplicate each byte, then shift right arithmetically.
        let eight = SIMD2<Int64>(bytes.load(as: Int64.self), 0)
        return unsafeBitCast(_mm_srai_epi16(_mm_unpacklo_epi8(eight, eight), 8), to: SIMD4<Int32>.self)
        #else
        return unsafeBitCast(
            SIMD8<Int16>(truncatingIfNeeded: bytes.load(as: SIMD8<Int8>.self)),
            to: SIMD4<Int32>.self
        )
        #endif
    }
}
#endif
