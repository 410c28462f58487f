/// Floats that `packConvolution` writes for a shape.
public func packedConvolutionCount(_ shape: ConvolutionShape) -> Int {
    if shape.isDepthwise { return shape.outputChannels * (1 + shape.kernel) }
    let outputs = shape.outputChannels / shape.groups
    let panels = (outputs + Width.panel - 1) / Width.panel
    return shape.groups * panels * Width.panel * (1 + shape.kernel * (shape.inputChannels / shape.groups))
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
            for lane in 0..<Width.panel {
                let inside = first + lane < outputs
                let channel = group * outputs + first + lane
                target[lane] = inside ? bias[channel] : 0
                for row in 0..<depth {
                    target[(1 + row) * Width.panel + lane] = inside ? weights[channel * depth + row] : 0
                }
            }
            target += Width.panel * (1 + depth)
            first += Width.panel
        }
    }
}
