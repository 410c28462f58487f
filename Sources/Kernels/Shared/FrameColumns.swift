/// Four neighbouring samples of every frame, turned so that a vector holds one sample of each.
///
/// From rows of four, as many processors gather single floats one after the other.
struct FrameColumns {
    let first, second, third, fourth: FrameVector

    /// - Parameters:
    ///   - samples: the first frame's.
    ///   - step: samples from one frame to the next.
    ///   - filled: how many frames there are; the last one is repeated.
    @inline(__always)
    init(_ samples: UnsafePointer<Float>, step: Int, filled: Int) {
        @inline(__always) func row(_ frame: Int) -> SIMD4<Float> {
            UnsafeRawPointer(samples + min(frame, filled - 1) * step).loadUnaligned(as: SIMD4<Float>.self)
        }
        #if KERNEL_AVX2 || KERNEL_AVX512
        let (a, b) = (FrameVector(lowHalf: row(0), highHalf: row(4)), FrameVector(lowHalf: row(1), highHalf: row(5)))
        let (c, d) = (FrameVector(lowHalf: row(2), highHalf: row(6)), FrameVector(lowHalf: row(3), highHalf: row(7)))
        #else
        let (a, b, c, d) = (row(0), row(1), row(2), row(3))
        #endif
        let (near, far) = (lows(a, c), lows(b, d))
        let (nextNear, nextFar) = (highs(a, c), highs(b, d))
        first = lows(near, far)
        second = highs(near, far)
        third = lows(nextNear, nextFar)
        fourth = highs(nextNear, nextFar)
    }
}

// What an instruction does with each four lanes of two vectors: their first two in turn, or their last two.

#if KERNEL_AVX2 || KERNEL_AVX512
@inline(__always)
private func lows(_ a: FrameVector, _ b: FrameVector) -> FrameVector {
    FrameVector(a[0], b[0], a[1], b[1], a[4], b[4], a[5], b[5])
}

@inline(__always)
private func highs(_ a: FrameVector, _ b: FrameVector) -> FrameVector {
    FrameVector(a[2], b[2], a[3], b[3], a[6], b[6], a[7], b[7])
}
#else
@inline(__always)
private func lows(_ a: FrameVector, _ b: FrameVector) -> FrameVector { FrameVector(a[0], b[0], a[1], b[1]) }

@inline(__always)
private func highs(_ a: FrameVector, _ b: FrameVector) -> FrameVector { FrameVector(a[2], b[2], a[3], b[3]) }
#endif
