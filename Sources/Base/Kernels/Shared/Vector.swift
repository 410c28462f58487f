// The vector types of each instruction set. Most kernels are written for any width, and compiled once per instruction set.

#if arch(x86_64)
import _Builtin_intrinsics.intel
#endif

#if KERNEL_AVX512
/// One full register of the instruction set.
typealias Vector = SIMD16<Float>
#elseif KERNEL_AVX2
typealias Vector = SIMD8<Float>
#else
typealias Vector = SIMD4<Float>
#endif

#if KERNEL_AVX2 || KERNEL_AVX512
/// One sample of several front-end frames, one frame per lane: all 8 frames of a hop, or 4 where a register holds no more.
typealias FrameVector = SIMD8<Float>
typealias FrameBits = SIMD8<UInt32>
#else
typealias FrameVector = SIMD4<Float>
typealias FrameBits = SIMD4<UInt32>
#endif

enum Width {
    @inline(__always) static var vector: Int { Vector.scalarCount }
    @inline(__always) static var frames: Int { FrameVector.scalarCount }
    /// Tiles have fewer columns with few registers: SSE2 has 16 registers of four floats, NEON 32.
    @inline(__always) static var hasFewRegisters: Bool {
        #if arch(arm64)
        return false
        #else
        return vector == 4
        #endif
    }
}

/// `sum + left · right`, fused (rounded once) where the instruction set has FMA; on SSE2 that would be a function call.
@inline(__always)
func multiplyAdd(_ sum: Vector, _ left: Vector, _ right: Vector) -> Vector {
    #if KERNEL_AVX512
    return _mm512_fmadd_ps(left, right, sum)
    #elseif KERNEL_AVX2
    return _mm256_fmadd_ps(left, right, sum)
    #elseif arch(arm64)
    return sum.addingProduct(left, right)
    #else
    return sum + left * right
    #endif
}

@inline(__always)
func multiplyAdd(_ sum: Float, _ left: Float, _ right: Float) -> Float {
    #if KERNEL_AVX2 || KERNEL_AVX512 || arch(arm64)
    return sum.addingProduct(left, right)
    #else
    return sum + left * right
    #endif
}

@inline(__always)
func load(_ source: UnsafePointer<Float>) -> Vector {
    UnsafeRawPointer(source).loadUnaligned(as: Vector.self)
}

@inline(__always)
func store(_ vector: Vector, to target: UnsafeMutablePointer<Float>) {
    UnsafeMutableRawPointer(target).storeBytes(of: vector, as: Vector.self)
}

/// ReLU; NaN stays NaN, so that a NaN in the input shows at the output.
@inline(__always)
func rectified(_ vector: Vector) -> Vector {
    // The maximum is its second operand where either is NaN, or both are 0.
    #if KERNEL_AVX512
    return _mm512_max_ps(.zero, vector)
    #elseif KERNEL_AVX2
    return _mm256_max_ps(.zero, vector)
    #elseif arch(x86_64)
    return _mm_max_ps(.zero, vector)
    #else
    return vector.replacing(with: 0, where: vector .< 0)
    #endif
}

/// A number in all lanes.
@inline(__always)
func repeated(_ number: Float) -> Vector {
    #if KERNEL_AVX512
    return _mm512_set1_ps(number)
    #elseif KERNEL_AVX2
    return _mm256_set1_ps(number)
    #elseif arch(x86_64)
    return _mm_set1_ps(number)
    #else
    return Vector(repeating: number)
    #endif
}

// The standard library implements vector arithmetic lane by lane, and relies on the compiler to vectorise it again. That fails where
// sums and differences of the same vectors are mixed, as in FFT butterflies, and takes long everywhere: a tile of sums is thousands of
// lanes. So on x86-64 each operator names its instruction.

#if arch(x86_64)
@inline(__always) func + (left: SIMD4<Float>, right: SIMD4<Float>) -> SIMD4<Float> { _mm_add_ps(left, right) }
@inline(__always) func - (left: SIMD4<Float>, right: SIMD4<Float>) -> SIMD4<Float> { _mm_sub_ps(left, right) }
@inline(__always) func * (left: SIMD4<Float>, right: SIMD4<Float>) -> SIMD4<Float> { _mm_mul_ps(left, right) }
@inline(__always) func * (left: SIMD4<Float>, right: Float) -> SIMD4<Float> { left * _mm_set1_ps(right) }

#if KERNEL_AVX2 || KERNEL_AVX512
@inline(__always) func + (left: SIMD8<Float>, right: SIMD8<Float>) -> SIMD8<Float> { _mm256_add_ps(left, right) }
@inline(__always) func - (left: SIMD8<Float>, right: SIMD8<Float>) -> SIMD8<Float> { _mm256_sub_ps(left, right) }
@inline(__always) func * (left: SIMD8<Float>, right: SIMD8<Float>) -> SIMD8<Float> { _mm256_mul_ps(left, right) }
@inline(__always) func * (left: SIMD8<Float>, right: Float) -> SIMD8<Float> { left * _mm256_set1_ps(right) }
#endif

#if KERNEL_AVX512
@inline(__always) func + (left: SIMD16<Float>, right: SIMD16<Float>) -> SIMD16<Float> { _mm512_add_ps(left, right) }
@inline(__always) func - (left: SIMD16<Float>, right: SIMD16<Float>) -> SIMD16<Float> { _mm512_sub_ps(left, right) }
@inline(__always) func * (left: SIMD16<Float>, right: SIMD16<Float>) -> SIMD16<Float> { _mm512_mul_ps(left, right) }
@inline(__always) func * (left: SIMD16<Float>, right: Float) -> SIMD16<Float> { left * _mm512_set1_ps(right) }
#endif
#endif
