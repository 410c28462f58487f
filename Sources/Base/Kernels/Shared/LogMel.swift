import KernelInterface

/// See ``KernelSet/LogMel``.
@Sendable
func logMel(
    _ samples: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>,
    columns: Int,
    tables: borrowing LogMelTables,
    scratch: UnsafeMutablePointer<Float>
) {
    let shape = tables.shape
    let fourier = FourierShape(size: shape.fftSize)
    let frames = UnsafeMutableRawPointer(scratch).assumingMemoryBound(to: FrameVector.self)
    let power = frames + fourier.scratchCount
    let twiddles = tables.twiddles
    var column = 0
    while column < columns {
        // The last group may be partial: its unused lanes repeat the last frame and are not written.
        let filled = min(Width.frames, columns - column)
        windowFrames(
            samples + column * shape.hopSamples,
            to: frames,
            filled: filled,
            window: tables.window,
            shape: shape
        )
        powerSpectrum(frames, to: power, table: twiddles, shape: fourier)
        let target = output + column * shape.bands
        var weights = tables.filters
        for band in 0..<shape.bands {
            let count = Int(tables.spans[2 * band + 1])
            let energy = weighted(power + Int(tables.spans[2 * band]), by: weights, count: count)
            weights += count
            let value = (naturalLogarithm(energy + shape.floor) - shape.mean) / shape.deviation
            for lane in 0..<filled { target[lane * shape.bands + band] = value[lane] }
        }
        column += filled
    }
}

/// Writes windowed frames, one per lane, as complex numbers `[fftSize / 2]` (real parts, then imaginary parts): even samples are
/// real parts, odd ones imaginary; zeros pad a frame to `fftSize`.
@inline(__always)
private func windowFrames(
    _ samples: UnsafePointer<Float>,
    to frames: UnsafeMutablePointer<FrameVector>,
    filled: Int,
    window: UnsafePointer<Float>,
    shape: LogMelShape
) {
    let half = shape.fftSize / 2
    let whole = shape.frameSamples / 4 * 4
    for index in stride(from: 0, to: whole, by: 4) {
        let rows = TransposedFrames(samples + index, step: shape.hopSamples, filled: filled)
        let pair = index / 2
        frames[pair] = rows.first * window[index]
        frames[half + pair] = rows.second * window[index + 1]
        frames[pair + 1] = rows.third * window[index + 2]
        frames[half + pair + 1] = rows.fourth * window[index + 3]
    }
    for index in whole..<shape.fftSize {
        var vector = FrameVector.zero
        if index < shape.frameSamples {
            for lane in 0..<Width.frames { vector[lane] = samples[min(lane, filled - 1) * shape.hopSamples + index] }
            vector = vector * window[index]
        }
        frames[index % 2 * half + index / 2] = vector
    }
}

/// Dot product of power and weights, in two alternating sums: in one, each addition would wait for the previous one.
@inline(__always)
private func weighted(
    _ power: UnsafePointer<FrameVector>,
    by weights: UnsafePointer<Float>,
    count: Int
) -> FrameVector {
    var even = FrameVector.zero
    var odd = FrameVector.zero
    var index = 0
    while index + 2 <= count {
        even = even + power[index] * weights[index]
        odd = odd + power[index + 1] * weights[index + 1]
        index += 2
    }
    if index < count { even = even + power[index] * weights[index] }
    return even + odd
}

/// Four adjacent samples of every frame, transposed: each vector holds one sample of all frames.
///
/// Loads four samples at a time, because on many processors gather instructions read one float after the other.
private struct TransposedFrames {
    let first, second, third, fourth: FrameVector

    /// - Parameters:
    ///   - samples: samples of the first frame.
    ///   - step: samples from one frame to the next.
    ///   - filled: number of frames; the last one fills the other lanes.
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
        let (low02, low13) = (unpackLow(a, c), unpackLow(b, d))
        let (high02, high13) = (unpackHigh(a, c), unpackHigh(b, d))
        first = unpackLow(low02, low13)
        second = unpackHigh(low02, low13)
        third = unpackLow(high02, high13)
        fourth = unpackHigh(high02, high13)
    }
}

// `unpcklps` and `unpckhps`: interleave the first two, or the last two, of each four lanes of two vectors.

#if KERNEL_AVX2 || KERNEL_AVX512
@inline(__always)
private func unpackLow(_ a: FrameVector, _ b: FrameVector) -> FrameVector {
    FrameVector(a[0], b[0], a[1], b[1], a[4], b[4], a[5], b[5])
}

@inline(__always)
private func unpackHigh(_ a: FrameVector, _ b: FrameVector) -> FrameVector {
    FrameVector(a[2], b[2], a[3], b[3], a[6], b[6], a[7], b[7])
}
#else
@inline(__always)
private func unpackLow(_ a: FrameVector, _ b: FrameVector) -> FrameVector { FrameVector(a[0], b[0], a[1], b[1]) }

@inline(__always)
private func unpackHigh(_ a: FrameVector, _ b: FrameVector) -> FrameVector { FrameVector(a[2], b[2], a[3], b[3]) }
#endif
