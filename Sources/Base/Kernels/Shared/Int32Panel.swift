// Integer vectors. Swift's SIMD types have no widening products, and their conversion to float may be compiled out of line under a
// weak symbol that all instruction sets share. So on x86-64 the integer kernels call intrinsics.

import KernelInterface

#if arch(x86_64)
import _Builtin_intrinsics.intel
#endif

/// One 32-bit lane for each output channel of a panel: a sum, or the quantised inputs or weights that fill a lane.
typealias Int32Panel = SIMD16<Int32>

#if KERNEL_AVX512
/// The dot product of quantised inputs and weights, for all output channels of a panel.
typealias IntegerDot = Int8DotVNNI
#elseif KERNEL_AVX2
typealias IntegerDot = Int8DotAVX2
#elseif KERNEL_DOTPRODUCT
typealias IntegerDot = Int8DotNEON
#else
typealias IntegerDot = Int16Dot
#endif

/// The sums as floats.
@inline(__always)
func convertToFloat(_ sums: Int32Panel) -> SIMD16<Float> {
    #if KERNEL_AVX512
    return _mm512_cvtepi32_ps(unsafeBitCast(sums, to: SIMD8<Int64>.self))
    #elseif KERNEL_AVX2
    return SIMD16(
        lowHalf: _mm256_cvtepi32_ps(unsafeBitCast(sums.lowHalf, to: SIMD4<Int64>.self)),
        highHalf: _mm256_cvtepi32_ps(unsafeBitCast(sums.highHalf, to: SIMD4<Int64>.self))
    )
    #else
    let (a, b) = (sums.lowHalf, sums.highHalf)
    return SIMD16(
        lowHalf: SIMD8(lowHalf: convertToFloat(a.lowHalf), highHalf: convertToFloat(a.highHalf)),
        highHalf: SIMD8(lowHalf: convertToFloat(b.lowHalf), highHalf: convertToFloat(b.highHalf))
    )
    #endif
}

#if !KERNEL_AVX2 && !KERNEL_AVX512
@inline(__always)
private func convertToFloat(_ sums: SIMD4<Int32>) -> SIMD4<Float> {
    #if arch(x86_64)
    return _mm_cvtepi32_ps(unsafeBitCast(sums, to: SIMD2<Int64>.self))
    #else
    return SIMD4<Float>(sums)
    #endif
}
#endif
