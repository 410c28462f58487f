/// Inputs whose products AVX2 adds up in 16 bits, two lanes for each output channel. Runs are filled up to a multiple of it, with
/// weights of zero: what the kernels read behind a run's end does not matter.
@inlinable public var quantisedGroup: Int { 16 }

/// Where the weights of one output channel lie in what `packQuantisedConvolution` wrote.
public struct QuantisedChannel {
    /// What turns a sum of products into what the layer computes, in floats; the bias is `panelWidth` behind it.
    public let multiplier: Int
    /// In bytes.
    private let first: Int
    private let atOnce: Int
    private let runLength: Int
    private let runDepth: Int

    public init(_ channel: Int, of shape: ConvolutionShape, _ layout: QuantisedLayout) {
        let start = channel / panelWidth * quantisedPanelCount(shape)
        multiplier = start + channel % panelWidth
        atOnce = layout.atOnce
        first = (start + quantisedHeadCount) * 4 + atOnce * (channel % panelWidth)
        (runLength, runDepth) = (shape.runLength, shape.runDepth)
    }

    /// The byte of a weight; rows are taps, one input channel after the other.
    public func place(of row: Int) -> Int {
        let inside = row % runLength
        return first + (row / runLength * runDepth + inside - inside % atOnce) * panelWidth + inside % atOnce
    }
}

/// Floats in front of a panel's weights: a multiplier for each channel, then the biases.
@inlinable public var quantisedHeadCount: Int { 2 * panelWidth }

/// Floats from one panel to the next.
public func quantisedPanelCount(_ shape: ConvolutionShape) -> Int {
    quantisedHeadCount + shape.runs * shape.runDepth * panelWidth / 4
}

/// Floats that `packQuantisedConvolution` writes, in either layout.
public func packedQuantisedCount(_ shape: ConvolutionShape) -> Int {
    (shape.outputChannels + panelWidth - 1) / panelWidth * quantisedPanelCount(shape)
}

extension ConvolutionShape {
    /// Every input channel goes into every output channel, they come in fours, and there are so few that sums stay within 32
    /// bits: what the kernels do in whole numbers.
    public var canBeQuantised: Bool {
        groups == 1 && inputChannels % 4 == 0 && inputChannels <= 1 << 18 && kernel * inputChannels <= 1 << 18
    }

    /// Inputs of a run, filled up.
    public var runDepth: Int { (runLength + quantisedGroup - 1) / quantisedGroup * quantisedGroup }
}

/// Rounds weights `[outputChannels, kernel, inputChannels]` to whole numbers of seven bits, those of each output channel by a
/// step of their own, and lays them out as `convolveQuantised` reads them.
///
/// - Parameters:
///   - quantiser: how the inputs are rounded; what its offset adds to a sum is taken off in the bias.
///   - packed: zeros at first.
public func packQuantisedConvolution(
    weights: UnsafePointer<Float>,
    bias: UnsafePointer<Float>,
    shape: ConvolutionShape,
    quantiser: Quantiser,
    layout: QuantisedLayout,
    into packed: UnsafeMutablePointer<Float>
) {
    let depth = shape.kernel * shape.inputChannels
    let bytes = UnsafeMutableRawPointer(packed)
    for channel in 0..<shape.outputChannels {
        let row = weights + channel * depth
        let step = weightStep(row, shape)
        let target = QuantisedChannel(channel, of: shape, layout)
        var sum = 0
        for index in 0..<depth {
            let weight = Int8(truncatingIfNeeded: nearestWhole(row[index] / step))
            bytes.storeBytes(of: weight, toByteOffset: target.place(of: index), as: Int8.self)
            sum += Int(weight)
        }
        let multiplier = step / quantiser.scale
        packed[target.multiplier] = multiplier
        packed[target.multiplier + panelWidth] = bias[channel] - Float(sum) * quantiser.offset * multiplier
    }
}

/// The step of an output channel's weights: the smallest that leaves each weight within 8 bits, and all sums that AVX2 makes in 16
/// bits within these, whatever the inputs are.
private func weightStep(_ row: UnsafePointer<Float>, _ shape: ConvolutionShape) -> Float {
    var largest: Float = 0
    var largestSum: Float = 0
    for run in 0..<shape.runs {
        let weights = row + run * shape.runLength
        for group in stride(from: 0, to: shape.runLength, by: quantisedGroup) {
            // Of every four inputs the first two meet in one lane, the others in another. None is below zero, so that the weights
            // of either sign may count alone.
            var above: SIMD2<Float> = .zero
            var below: SIMD2<Float> = .zero
            for index in group..<min(group + quantisedGroup, shape.runLength) {
                let weight = weights[index]
                largest = max(largest, abs(weight))
                if weight > 0 { above[index % 4 / 2] += weight } else { below[index % 4 / 2] -= weight }
            }
            largestSum = max(largestSum, above.max(), below.max())
        }
    }
    // Half a step for each of the eight weights of a lane is what rounding may add.
    let roomInLane = Float(Int(Int16.max) / 127) - Float(quantisedGroup / 4)
    // A channel of zeros, or of next to nothing, is its bias.
    return max(largest / 127, largestSum / roomInLane, 1e-30)
}
