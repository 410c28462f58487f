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
        // The last group may be short: its spare lanes repeat the last frame and are not written.
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

/// Lays one sample of every frame into a vector, windowed, even samples as real and odd ones as imaginary parts, padded with zeros.
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
        let columns = FrameColumns(samples + index, step: shape.hopSamples, filled: filled)
        let pair = index / 2
        frames[pair] = columns.first * window[index]
        frames[half + pair] = columns.second * window[index + 1]
        frames[pair + 1] = columns.third * window[index + 2]
        frames[half + pair + 1] = columns.fourth * window[index + 3]
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

/// Two sums in turn, since each addition would otherwise wait for the one before.
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
