// The one place that knows how wide a vector is: the kernels are written for any width, and the same sources are compiled
// once for each instruction set.

#if KERNEL_AVX512
/// A register of the instruction set.
typealias Vector = SIMD16<Float>
#elseif KERNEL_AVX2
typealias Vector = SIMD8<Float>
#else
typealias Vector = SIMD4<Float>
#endif

#if KERNEL_AVX2 || KERNEL_AVX512
/// Front-end frames that are transformed side by side: the 8 that a hop brings, where a register holds them.
typealias FrameVector = SIMD8<Float>
typealias FrameBits = SIMD8<UInt32>
#else
typealias FrameVector = SIMD4<Float>
typealias FrameBits = SIMD4<UInt32>
#endif

enum Width {
    @inline(__always) static var vector: Int { Vector.scalarCount }
    @inline(__always) static var frames: Int { FrameVector.scalarCount }
    /// A panel's columns at once are few where the registers are: SSE2 has 16 of four floats, NEON 32.
    @inline(__always) static var isShortOfRegisters: Bool {
        #if arch(arm64)
        return false
        #else
        return vector == 4
        #endif
    }
}

/// `sum + left · right`, in one rounding where the instruction set has that; SSE2 has not, and would call a function.
@inline(__always)
func multiplyAdd(_ sum: Vector, _ left: Vector, _ right: Vector) -> Vector {
    #if KERNEL_AVX2 || KERNEL_AVX512 || arch(arm64)
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
func put(_ vector: Vector, at target: UnsafeMutablePointer<Float>) {
    UnsafeMutableRawPointer(target).storeBytes(of: vector, as: Vector.self)
}

/// Zero for negative elements; NaN stays NaN, so that a broken input is seen at the output.
@inline(__always)
func rectified(_ vector: Vector) -> Vector {
    vector.replacing(with: 0, where: vector .< 0)
}
