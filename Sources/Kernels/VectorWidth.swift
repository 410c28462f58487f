// The one place that knows how wide a vector is. The same sources are meant to be compiled once per instruction set;
// Swift cannot ask for the instruction set at compile time, so each such target defines its own name.

#if KERNEL_AVX512
typealias Vector = SIMD16<Float>
typealias FrameVector = SIMD8<Float>
typealias FrameBits = SIMD8<UInt32>
#elseif KERNEL_AVX2
typealias Vector = SIMD8<Float>
typealias FrameVector = SIMD8<Float>
typealias FrameBits = SIMD8<UInt32>
#else
/// A register of the instruction set: SSE2 on x86-64, NEON on arm64.
typealias Vector = SIMD4<Float>
/// As many front-end frames as are transformed side by side; never more than the 8 frames that a hop brings.
typealias FrameVector = SIMD4<Float>
typealias FrameBits = SIMD4<UInt32>
#endif

enum Width {
    @inline(__always) static var vector: Int { Vector.scalarCount }
    @inline(__always) static var frames: Int { FrameVector.scalarCount }
    /// Output channels of a packed panel: the four vectors of a `Row`.
    @inline(__always) static var panel: Int { 4 * Vector.scalarCount }
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
