// Whole numbers in lanes. Swift's vectors have neither their products nor a conversion that stays in its set of kernels, so that
// on x86-64 the files of whole numbers name the instructions.

import KernelInterface

#if arch(x86_64)
import _Builtin_intrinsics.intel
#endif

/// For each channel of a panel a sum, or the inputs or weights that fill as many bits.
typealias WholePanel = SIMD16<Int32>

/// The sums as floats. Swift's own conversion of so wide a vector may be left out of line, in a copy that all sets of
/// kernels share.
@inline(__always)
func floats(_ sums: WholePanel) -> SIMD16<Float> {
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
        lowHalf: SIMD8(lowHalf: floats(a.lowHalf), highHalf: floats(a.highHalf)),
        highHalf: SIMD8(lowHalf: floats(b.lowHalf), highHalf: floats(b.highHalf))
    )
    #endif
}

#if !KERNEL_AVX2 && !KERNEL_AVX512
@inline(__always)
private func floats(_ sums: SIMD4<Int32>) -> SIMD4<Float> {
    #if arch(x86_64)
    return _mm_cvtepi32_ps(unsafeBitCast(sums, to: SIMD2<Int64>.self))
    #else
    return SIMD4<Float>(sums)
    #endif
}
#endif
