/// Output channels of a packed panel: one AVX-512 register, two of AVX2, four of SSE2 or NEON.
@inlinable public var panelWidth: Int { 16 }

/// Where the weights of one output channel lie in what `packConvolution` wrote.
public struct PackedChannel {
    public let group: Int
    /// The bias; behind it come the taps, one input channel after the other, `step` floats apart.
    public let bias: Int
    private let step: Int

    public init(_ channel: Int, of shape: ConvolutionShape) {
        if shape.isDepthwise {
            group = channel
            bias = channel
            step = shape.outputChannels
            return
        }
        let outputs = shape.outputChannels / shape.groups
        let panels = (outputs + panelWidth - 1) / panelWidth
        let depth = shape.kernel * (shape.inputChannels / shape.groups)
        group = channel / outputs
        let lane = channel % outputs
        bias = (group * panels + lane / panelWidth) * panelWidth * (1 + depth) + lane % panelWidth
        step = panelWidth
    }

    public func place(of row: Int) -> Int { bias + (1 + row) * step }
}

/// Floats that `packConvolution` writes for a shape.
public func packedConvolutionCount(_ shape: ConvolutionShape) -> Int {
    if shape.isDepthwise { return shape.outputChannels * (1 + shape.kernel) }
    let outputs = shape.outputChannels / shape.groups
    let panels = (outputs + panelWidth - 1) / panelWidth
    return shape.groups * panels * panelWidth * (1 + shape.kernel * (shape.inputChannels / shape.groups))
}

/// Lays weights `[outputChannels, kernel, inputChannels / groups]` and a bias `[outputChannels]` out as `convolve`
/// reads them.
///
/// Dense and grouped layers become panels of neighbouring output channels, padded with zeros: first the bias, then
/// a row for every tap and input channel, so that the product reads memory strictly forwards. Depthwise layers become
/// the bias and a row of channels for every tap.
public func packConvolution(
    weights: UnsafePointer<Float>,
    bias: UnsafePointer<Float>,
    shape: ConvolutionShape,
    into packed: UnsafeMutablePointer<Float>
) {
    if shape.isDepthwise {
        let channels = shape.outputChannels
        for channel in 0..<channels {
            packed[channel] = bias[channel]
            for tap in 0..<shape.kernel {
                packed[(1 + tap) * channels + channel] = weights[channel * shape.kernel + tap]
            }
        }
        return
    }
    let depth = shape.kernel * (shape.inputChannels / shape.groups)
    let outputs = shape.outputChannels / shape.groups
    var target = packed
    for group in 0..<shape.groups {
        var first = 0
        while first < outputs {
            for lane in 0..<panelWidth {
                let inside = first + lane < outputs
                let channel = group * outputs + first + lane
                target[lane] = inside ? bias[channel] : 0
                for row in 0..<depth {
                    target[(1 + row) * panelWidth + lane] = inside ? weights[channel * depth + row] : 0
                }
            }
            target += panelWidth * (1 + depth)
            first += panelWidth
        }
    }
}
