/// How the inputs of a layer become whole numbers: times `scale`, rounded, and cut to ± `limit`.
public struct Quantiser: Sendable, Equatable {
    public var scale: Float
    /// At most 32,767, and so small that no sum of the layer's products leaves 32 bits.
    public var limit: Float

    public init(scale: Float, limit: Float) {
        self.scale = scale
        self.limit = limit
    }
}

/// Where the weights of one output channel lie in what `packQuantisedConvolution` wrote.
public struct QuantisedChannel {
    /// What turns a sum of products into what the layer computes, in floats; the bias is `panelWidth` behind it.
    public let multiplier: Int
    /// In bytes.
    private let first: Int

    public init(_ channel: Int, of shape: ConvolutionShape) {
        let start = channel / panelWidth * quantisedPanelCount(shape)
        multiplier = start + channel % panelWidth
        first = (start + quantisedHeadCount) * 4 + 2 * (channel % panelWidth)
    }

    /// The byte of a weight; rows are taps, one input channel after the other.
    public func place(of row: Int) -> Int { first + row / 2 * (2 * panelWidth) + row % 2 }
}

/// Added to a number below 2²², it rounds it to a whole one, to even, whose low bits are then those of the sum.
@inlinable public var wholeNumberRounding: Float { 0x1.8p23 }

/// The nearest whole number of one below 2²², without the function call that it is on SSE2.
@inlinable public func nearestWhole(_ number: Float) -> Int32 {
    Int32(bitPattern: (number + wholeNumberRounding).bitPattern) &- Int32(bitPattern: wholeNumberRounding.bitPattern)
}

/// Floats in front of a panel's weights: a multiplier for each channel, then the biases.
@inlinable public var quantisedHeadCount: Int { 2 * panelWidth }
/// Floats that two weights of each channel of a panel take, side by side as whole numbers of 8 bits.
@inlinable public var quantisedRowCount: Int { panelWidth / 2 }

/// Floats from one panel to the next.
public func quantisedPanelCount(_ shape: ConvolutionShape) -> Int {
    let count = quantisedHeadCount + shape.kernel * (shape.inputChannels / 2) * quantisedRowCount
    return (count + panelWidth - 1) / panelWidth * panelWidth
}

/// Floats that `packQuantisedConvolution` writes.
public func packedQuantisedCount(_ shape: ConvolutionShape) -> Int {
    (shape.outputChannels + panelWidth - 1) / panelWidth * quantisedPanelCount(shape)
}

extension ConvolutionShape {
    /// Every input channel goes into every output channel, they come in pairs, and there are so few that inputs of eight bits
    /// and more leave sums within 32: what the kernels do in whole numbers.
    public var canBeQuantised: Bool {
        groups == 1 && inputChannels % 2 == 0 && inputChannels <= 1 << 16 && kernel * inputChannels <= 1 << 16
    }
}

/// Rounds weights `[outputChannels, kernel, inputChannels]` to whole numbers from −127 to 127, those of each output
/// channel by a step of their own, and lays them out as `convolveQuantised` reads them.
///
/// - Parameters:
///   - range: the largest input that must not be cut.
///   - packed: zeros at first.
/// - Returns: how the inputs are to be rounded.
public func packQuantisedConvolution(
    weights: UnsafePointer<Float>,
    bias: UnsafePointer<Float>,
    shape: ConvolutionShape,
    range: Float,
    into packed: UnsafeMutablePointer<Float>
) -> Quantiser {
    let depth = shape.kernel * shape.inputChannels
    let bytes = UnsafeMutableRawPointer(packed)
    var largestSum = 1
    for channel in 0..<shape.outputChannels {
        let row = weights + channel * depth
        var largest: Float = 0
        for index in 0..<depth where abs(row[index]) > largest { largest = abs(row[index]) }
        // A channel of zeros, or of next to nothing, is its bias.
        let steps = largest > 1e-30 ? 127 / largest : 0
        let target = QuantisedChannel(channel, of: shape)
        var sum = 0
        for index in 0..<depth {
            let weight = Int8(truncatingIfNeeded: nearestWhole(row[index] * steps))
            bytes.storeBytes(of: weight, toByteOffset: target.place(of: index), as: Int8.self)
            sum += abs(Int(weight))
        }
        if sum > largestSum { largestSum = sum }
        packed[target.multiplier] = largest / 127
        packed[target.multiplier + panelWidth] = bias[channel]
    }
    let limit = Float(min(Int(Int16.max), Int(Int32.max) / largestSum))
    for channel in 0..<shape.outputChannels {
        packed[QuantisedChannel(channel, of: shape).multiplier] *= range / limit
    }
    return Quantiser(scale: limit / range, limit: limit)
}
