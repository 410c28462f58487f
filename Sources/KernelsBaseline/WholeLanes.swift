// Products of whole numbers. Swift's vectors have no such operation, so that on x86-64 this file names the instructions; on
// NEON the shifts and products below become `mla`.

import KernelContract

#if arch(x86_64)
import _Builtin_intrinsics.intel
#endif

/// For each channel of a panel two whole numbers of 16 bits, or a sum of 32.
typealias WholePanel = SIMD16<Int32>

/// The weights of a row, widened from 8 to 16 bits.
@inline(__always)
func widen(_ source: UnsafePointer<Float>) -> WholePanel {
    let bytes = UnsafeRawPointer(source)
    #if KERNEL_AVX512
    return unsafeBitCast(_mm512_cvtepi8_epi16(bytes.load(as: SIMD4<Int64>.self)), to: WholePanel.self)
    #elseif KERNEL_AVX2
    return WholePanel(
        lowHalf: unsafeBitCast(_mm256_cvtepi8_epi16(bytes.load(as: SIMD2<Int64>.self)), to: SIMD8<Int32>.self),
        highHalf: unsafeBitCast(
            _mm256_cvtepi8_epi16(bytes.load(fromByteOffset: 16, as: SIMD2<Int64>.self)),
            to: SIMD8<Int32>.self
        )
    )
    #else
    return WholePanel(
        lowHalf: SIMD8(lowHalf: widenQuarter(bytes), highHalf: widenQuarter(bytes + 8)),
        highHalf: SIMD8(lowHalf: widenQuarter(bytes + 16), highHalf: widenQuarter(bytes + 24))
    )
    #endif
}

/// Adds to each sum the products of the two numbers in the same places.
@inline(__always)
func addProducts(_ sum: WholePanel, _ left: WholePanel, _ right: WholePanel) -> WholePanel {
    #if KERNEL_AVX512
    return unsafeBitCast(
        _mm512_dpwssd_epi32(
            unsafeBitCast(sum, to: SIMD8<Int64>.self),
            unsafeBitCast(left, to: SIMD8<Int64>.self),
            unsafeBitCast(right, to: SIMD8<Int64>.self)
        ),
        to: WholePanel.self
    )
    #elseif KERNEL_AVX2
    return sum
        &+ WholePanel(
            lowHalf: products(left.lowHalf, right.lowHalf),
            highHalf: products(left.highHalf, right.highHalf)
        )
    #else
    let (a, b) = (left.lowHalf, left.highHalf)
    let (x, y) = (right.lowHalf, right.highHalf)
    return sum
        &+ WholePanel(
            lowHalf: SIMD8(lowHalf: products(a.lowHalf, x.lowHalf), highHalf: products(a.highHalf, x.highHalf)),
            highHalf: SIMD8(lowHalf: products(b.lowHalf, y.lowHalf), highHalf: products(b.highHalf, y.highHalf))
        )
    #endif
}

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

#if KERNEL_AVX2
@inline(__always)
private func products(_ left: SIMD8<Int32>, _ right: SIMD8<Int32>) -> SIMD8<Int32> {
    unsafeBitCast(
        _mm256_madd_epi16(unsafeBitCast(left, to: SIMD4<Int64>.self), unsafeBitCast(right, to: SIMD4<Int64>.self)),
        to: SIMD8<Int32>.self
    )
}
#elseif !KERNEL_AVX512
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
private func floats(_ sums: SIMD4<Int32>) -> SIMD4<Float> {
    #if arch(x86_64)
    return _mm_cvtepi32_ps(unsafeBitCast(sums, to: SIMD2<Int64>.self))
    #else
    return SIMD4<Float>(sums)
    #endif
}

@inline(__always)
private func widenQuarter(_ bytes: UnsafeRawPointer) -> SIMD4<Int32> {
    #if arch(x86_64)
    // SSE2 widens by hand: each byte twice, then shifted down with its sign.
    let eight = SIMD2<Int64>(bytes.load(as: Int64.self), 0)
    return unsafeBitCast(_mm_srai_epi16(_mm_unpacklo_epi8(eight, eight), 8), to: SIMD4<Int32>.self)
    #else
    return unsafeBitCast(SIMD8<Int16>(truncatingIfNeeded: bytes.load(as: SIMD8<Int8>.self)), to: SIMD4<Int32>.self)
    #endif
}
#endif
