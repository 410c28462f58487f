#if !KERNEL_AVX2 && !KERNEL_AVX512
import KernelInterface

#if arch(x86_64)
import _Builtin_intrinsics.intel
#endif

/// Two inputs of 16 bits at once, and the weights that belong to them: what every processor multiplies. On NEON the shifts and
/// products below become `mla`.
struct WholeProducts {
    typealias Factor = WholePanel
    typealias Weights = WholePanel
    static var layout: QuantisedLayout { .pairs }
    @inline(__always) static var inputCount: Int { 1 }
    // A product is a vector of its own before it is added: with three columns SSE2 would be short of registers.
    @inline(__always) static var columns: Int { Width.isShortOfRegisters ? 2 : 6 }

    private(set) var total = WholePanel.zero

    @inline(__always) init() {}

    @inline(__always) static func factor(_ pair: UnsafePointer<Int32>) -> WholePanel {
        WholePanel(repeating: pair.pointee)
    }

    /// The weights of a row, widened from 8 to 16 bits.
    @inline(__always) static func weights(_ row: UnsafeRawPointer) -> WholePanel {
        WholePanel(
            lowHalf: SIMD8(lowHalf: widen(row), highHalf: widen(row + 8)),
            highHalf: SIMD8(lowHalf: widen(row + 16), highHalf: widen(row + 24))
        )
    }

    @inline(__always) mutating func add(_ factor: WholePanel, _ weights: WholePanel) {
        let (a, b) = (weights.lowHalf, weights.highHalf)
        let (x, y) = (factor.lowHalf, factor.highHalf)
        total =
            total
            &+ WholePanel(
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
        return ((left &<< 16) &>> 16) &* ((right &<< 16) &>> 16) &+ (left &>> 16) &* (right &>> 16)
        #endif
    }

    @inline(__always)
    private static func widen(_ bytes: UnsafeRawPointer) -> SIMD4<Int32> {
        #if arch(x86_64)
        // SSE2 widens by hand: each byte twice, then shifted down with its sign.
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
