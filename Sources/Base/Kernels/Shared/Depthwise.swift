import KernelInterface

/// A convolution with one filter per channel, vectorised over the channels.
///
/// Four vectors of channels advance together, because four independent sums hide the latency of an FMA; then single vectors, and
/// the last few channels one by one.
func convolveDepthwise(
    _ input: UnsafePointer<Float>,
    _ output: UnsafeMutablePointer<Float>,
    _ columns: StridedColumns,
    _ packed: UnsafePointer<Float>,
    _ shape: ConvolutionShape,
    _ residual: UnsafePointer<Float>?,
    _ relu: Bool
) {
    let channels = shape.outputChannels
    let weights = packed + channels
    let tapStride = shape.dilation * channels
    for column in 0..<columns.count {
        let source = input + column * columns.inputStride
        let target = output + column * columns.outputStride
        let columnResidual = residual.map { $0 + column * columns.outputStride }
        var channel = 0
        while channel + 4 * Width.vector <= channels {
            fourVectors(
                source,
                target,
                packed,
                weights,
                channel,
                channels,
                shape.kernel,
                tapStride,
                columnResidual,
                relu
            )
            channel += 4 * Width.vector
        }
        while channel + Width.vector <= channels {
            var sum = load(packed + channel)
            for tap in 0..<shape.kernel {
                sum = multiplyAdd(
                    sum,
                    load(source + tap * tapStride + channel),
                    load(weights + tap * channels + channel)
                )
            }
            if let columnResidual { sum = sum + load(columnResidual + channel) }
            store(relu ? rectified(sum) : sum, to: target + channel)
            channel += Width.vector
        }
        while channel < channels {
            var sum = packed[channel]
            for tap in 0..<shape.kernel {
                sum = multiplyAdd(sum, source[tap * tapStride + channel], weights[tap * channels + channel])
            }
            if let columnResidual { sum += columnResidual[channel] }
            target[channel] = relu && sum < 0 ? 0 : sum
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
    _ tapStride: Int,
    _ residual: UnsafePointer<Float>?,
    _ relu: Bool
) {
    let width = Width.vector
    var a = load(bias + channel)
    var b = load(bias + channel + width)
    var c = load(bias + channel + 2 * width)
    var d = load(bias + channel + 3 * width)
    for tap in 0..<kernel {
        let inputs = source + tap * tapStride + channel
        let factors = weights + tap * channels + channel
        a = multiplyAdd(a, load(inputs), load(factors))
        b = multiplyAdd(b, load(inputs + width), load(factors + width))
        c = multiplyAdd(c, load(inputs + 2 * width), load(factors + 2 * width))
        d = multiplyAdd(d, load(inputs + 3 * width), load(factors + 3 * width))
    }
    if let residual {
        a = a + load(residual + channel)
        b = b + load(residual + channel + width)
        c = c + load(residual + channel + 2 * width)
        d = d + load(residual + channel + 3 * width)
    }
    let out = target + channel
    store(relu ? rectified(a) : a, to: out)
    store(relu ? rectified(b) : b, to: out + width)
    store(relu ? rectified(c) : c, to: out + 2 * width)
    store(relu ? rectified(d) : d, to: out + 3 * width)
}
