/// Output channels of a packed panel: one AVX-512 register, two AVX2 registers, or four of SSE2 or NEON.
@inlinable public var panelWidth: Int { 16 }

/// Where the weights of one output channel are in the output of `packConvolution`; offsets count floats.
public struct PackedChannel {
    public let group: Int
    /// Offset of the bias.
    public let bias: Int
    private let rowStride: Int

    public init(_ channel: Int, of shape: ConvolutionShape) {
        if shape.isDepthwise {
            group = channel
            bias = channel
            rowStride = shape.outputChannels
            return
        }
        let outputs = shape.outputChannels / shape.groups
        let panels = (outputs + panelWidth - 1) / panelWidth
        group = channel / outputs
        let lane = channel % outputs
        bias = (group * panels + lane / panelWidth) * panelWidth * (1 + shape.depth) + lane % panelWidth
        rowStride = panelWidth
    }

    /// Offset of a weight; `row = (band · kernel + tap) · inputChannels / groups + input channel`.
    public func offset(row: Int) -> Int { bias + (1 + row) * rowStride }
}

/// Floats that `packConvolution` writes for a shape.
public func packedConvolutionCount(_ shape: ConvolutionShape) -> Int {
    if shape.isDepthwise { return shape.outputChannels * (1 + shape.kernel) }
    let outputs = shape.outputChannels / shape.groups
    let panels = (outputs + panelWidth - 1) / panelWidth
    return shape.groups * panels * panelWidth * (1 + shape.depth)
}

/// Reorders weights `[outputChannels × bands × kernel × inputChannels / groups]` and a bias `[outputChannels]` for `KernelSet.Convolve`.
///
/// A depthwise layer becomes `[1 + kernel][outputChannels]`: the biases, then a row of channels per tap. Any other becomes, per
/// group, panels of `panelWidth` output channels padded with zeros, `[panel][1 + depth][panelWidth]`, the
/// biases first, so that a kernel reads memory strictly forwards.
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
    let depth = shape.depth
    let outputs = shape.outputChannels / shape.groups
    var target = packed
    for group in 0..<shape.groups {
        var first = 0
        while first < outputs {
            for lane in 0..<panelWidth {
                let isChannel = first + lane < outputs
                let channel = group * outputs + first + lane
                target[lane] = isChannel ? bias[channel] : 0
                for row in 0..<depth {
                    target[(1 + row) * panelWidth + lane] = isChannel ? weights[channel * depth + row] : 0
                }
            }
            target += panelWidth * (1 + depth)
            first += panelWidth
        }
    }
}
