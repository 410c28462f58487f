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
        let row = UnsafeRawPointer(weights + channel * depth)
        let step = weightStep(row, shape)
        let target = QuantisedChannel(channel, of: shape, layout)
        var sums = SIMD4<Int32>.zero
        for index in stride(from: 0, to: depth, by: 4) {
            let four = nearestWholes(quad(row, index) / step)
            sums &+= four
            store(four, to: bytes, target, index, layout)
        }
        let multiplier = step / quantiser.scale
        packed[target.multiplier] = multiplier
        packed[target.multiplier + panelWidth] =
            bias[channel] - Float(sums.wrappedSum()) * quantiser.offset * multiplier
    }
}

/// Four neighbours of a row, which come in fours.
@inline(__always)
private func quad(_ row: UnsafeRawPointer, _ index: Int) -> SIMD4<Float> {
    row.loadUnaligned(fromByteOffset: 4 * index, as: SIMD4<Float>.self)
}

/// Four weights of eight bits, which no run parts.
@inline(__always)
private func store(
    _ four: SIMD4<Int32>,
    to bytes: UnsafeMutableRawPointer,
    _ target: QuantisedChannel,
    _ index: Int,
    _ layout: QuantisedLayout
) {
    let low = four & 0xFF
    let first = UInt32(truncatingIfNeeded: low[0] | low[1] << 8)
    let second = UInt32(truncatingIfNeeded: low[2] | low[3] << 8)
    let place = target.place(of: index)
    switch layout {
    case .quads:
        bytes.storeBytes(of: (first | second << 16).littleEndian, toByteOffset: place, as: UInt32.self)
    case .pairs:
        bytes.storeBytes(of: UInt16(first).littleEndian, toByteOffset: place, as: UInt16.self)
        bytes.storeBytes(of: UInt16(second).littleEndian, toByteOffset: place + 2 * panelWidth, as: UInt16.self)
    }
}

/// The step of an output channel's weights: the smallest that leaves each weight within 8 bits, and all sums that AVX2 makes in 16
/// bits within these, whatever the inputs are.
private func weightStep(_ row: UnsafeRawPointer, _ shape: ConvolutionShape) -> Float {
    var largest = SIMD4<Float>.zero
    var largestSum: Float = 0
    for run in 0..<shape.runs {
        let first = run * shape.runLength
        for group in stride(from: first, to: first + shape.runLength, by: quantisedGroup) {
            // Of every four inputs the first two meet in one lane, the others in another. None is below zero, so that the weights
            // of either sign may count alone.
            var above = SIMD4<Float>.zero
            var below = SIMD4<Float>.zero
            for index in stride(from: group, to: min(group + quantisedGroup, first + shape.runLength), by: 4) {
                let four = quad(row, index)
                let size = four.replacing(with: -four, where: four .< 0)
                largest = largest.replacing(with: size, where: size .> largest)
                above += four.replacing(with: 0, where: four .< 0)
                below += size.replacing(with: 0, where: four .> 0)
            }
            largestSum = max(
                largestSum,
                max(above[0] + above[1], above[2] + above[3]),
                max(below[0] + below[1], below[2] + below[3])
            )
        }
    }
    // Half a step for each of the eight weights of a lane is what rounding may add.
    let roomInLane = Float(Int(Int16.max) / 127) - Float(quantisedGroup / 4)
    let greatest = max(max(largest[0], largest[1]), max(largest[2], largest[3]))
    // A channel of zeros, or of next to nothing, is its bias.
    return max(greatest / 127, largestSum / roomInLane, 1e-30)
}
