// The one place that knows how wide a vector is: the kernels are written for any width, so that the same sources can be
// compiled for other instruction sets.

/// A register of the instruction set: SSE2 on x86-64, NEON on arm64.
typealias Vector = SIMD4<Float>
/// As many front-end frames as are transformed side by side; never more than the 8 frames that a hop brings.
typealias FrameVector = SIMD4<Float>
typealias FrameBits = SIMD4<UInt32>

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
