// The standard library writes a vector's arithmetic out lane by lane. The compiler mostly finds the vectors again, but not where
// sums stand beside differences, as in a Fourier transform's butterflies: on x86-64 each operator names its instruction.

#if arch(x86_64)
import _Builtin_intrinsics.intel

@inline(__always) func + (left: SIMD4<Float>, right: SIMD4<Float>) -> SIMD4<Float> { _mm_add_ps(left, right) }
@inline(__always) func - (left: SIMD4<Float>, right: SIMD4<Float>) -> SIMD4<Float> { _mm_sub_ps(left, right) }
@inline(__always) func * (left: SIMD4<Float>, right: SIMD4<Float>) -> SIMD4<Float> { _mm_mul_ps(left, right) }
@inline(__always) func * (left: SIMD4<Float>, right: Float) -> SIMD4<Float> { left * SIMD4(repeating: right) }

#if KERNEL_AVX2 || KERNEL_AVX512
@inline(__always) func + (left: SIMD8<Float>, right: SIMD8<Float>) -> SIMD8<Float> { _mm256_add_ps(left, right) }
@inline(__always) func - (left: SIMD8<Float>, right: SIMD8<Float>) -> SIMD8<Float> { _mm256_sub_ps(left, right) }
@inline(__always) func * (left: SIMD8<Float>, right: SIMD8<Float>) -> SIMD8<Float> { _mm256_mul_ps(left, right) }
@inline(__always) func * (left: SIMD8<Float>, right: Float) -> SIMD8<Float> { left * SIMD8(repeating: right) }
#endif

#if KERNEL_AVX512
@inline(__always) func + (left: SIMD16<Float>, right: SIMD16<Float>) -> SIMD16<Float> { _mm512_add_ps(left, right) }
@inline(__always) func - (left: SIMD16<Float>, right: SIMD16<Float>) -> SIMD16<Float> { _mm512_sub_ps(left, right) }
@inline(__always) func * (left: SIMD16<Float>, right: SIMD16<Float>) -> SIMD16<Float> { _mm512_mul_ps(left, right) }
@inline(__always) func * (left: SIMD16<Float>, right: Float) -> SIMD16<Float> { left * SIMD16(repeating: right) }
#endif
#endif
