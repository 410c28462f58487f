import KernelInterface

/// A convolution with one filter per channel, vectorised over the channels.
///
/// Four vectors of channels advance together, so that four sums are under way at once; then single vectors, and the
/// last few channels one by one.
func convolveDepthwise(
    _ input: UnsafePointer<Float>,
    _ output: UnsafeMutablePointer<Float>,
    _ columns: ColumnRun,
    _ packed: UnsafePointer<Float>,
    _ shape: ConvolutionShape,
    _ residual: UnsafePointer<Float>?,
    _ rectify: Bool
) {
    let channels = shape.outputChannels
    let weights = packed + channels
    let tapStep = shape.dilation * channels
    for column in 0..<columns.count {
        let source = input + column * columns.inputStep
        let target = output + column * columns.outputStep
        let added = residual.map { $0 + column * columns.outputStep }
        var channel = 0
        while channel + 4 * Width.vector <= channels {
            fourVectors(source, target, packed, weights, channel, channels, shape.kernel, tapStep, added, rectify)
            channel += 4 * Width.vector
        }
        while channel + Width.vector <= channels {
            var sum = load(packed + channel)
            for tap in 0..<shape.kernel {
                sum = multiplyAdd(sum, load(source + tap * tapStep + channel), load(weights + tap * channels + channel))
            }
            if let added { sum = sum + load(added + channel) }
            put(rectify ? rectified(sum) : sum, at: target + channel)
            channel += Width.vector
        }
        while channel < channels {
            var sum = packed[channel]
            for tap in 0..<shape.kernel {
                sum = multiplyAdd(sum, source[tap * tapStep + channel], weights[tap * channels + channel])
            }
            if let added { sum += added[channel] }
            target[channel] = rectify && sum < 0 ? 0 : sum
            channel += 1
        }
    }
}

@inline(__always)
private func fourVectors(
    _ source: UnsafePointer<Float>,
    _ target: UnsafeMutablePointer<Float>,
    _ bias: UnsafePointer<Float>,
    _ weights: UnsafePointer<Float>,
    _ channel: Int,
    _ channels: Int,
    _ kernel: Int,
    _ tapStep: Int,
    _ added: UnsafePointer<Float>?,
    _ rectify: Bool
) {
    let width = Width.vector
    var a = load(bias + channel)
    var b = load(bias + channel + width)
    var c = load(bias + channel + 2 * width)
    var d = load(bias + channel + 3 * width)
    for tap in 0..<kernel {
        let inputs = source + tap * tapStep + channel
        let factors = weights + tap * channels + channel
        a = multiplyAdd(a, load(inputs), load(factors))
        b = multiplyAdd(b, load(inputs + width), load(factors + width))
        c = multiplyAdd(c, load(inputs + 2 * width), load(factors + 2 * width))
        d = multiplyAdd(d, load(inputs + 3 * width), load(factors + 3 * width))
    }
    if let added {
        a = a + load(added + channel)
        b = b + load(added + channel + width)
        c = c + load(added + channel + 2 * width)
        d = d + load(added + channel + 3 * width)
    }
    let out = target + channel
    put(rectify ? rectified(a) : a, at: out)
    put(rectify ? rectified(b) : b, at: out + width)
    put(rectify ? rectified(c) : c, at: out + 2 * width)
    put(rectify ? rectified(d) : d, at: out + 3 * width)
}
