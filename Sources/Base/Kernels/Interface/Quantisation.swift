// Quantised convolutions: inputs of 7 bits, weights of 8 bits, sums of 32 bits. Integer sums are exact, so that every
// instruction set gives the same result to the last bit.

/// How a layer's inputs become 7-bit integers: `q = round(clamp(x · scale, low, high)) + zeroPoint`, within 0...127.
public struct Quantiser: Sendable, Equatable {
    public var scale: Float
    /// Bounds of the scaled input.
    public var low: Float
    public var high: Float
    /// Even, so that adding it does not change how a tie is rounded.
    public var zeroPoint: Float

    public init(scale: Float, low: Float, high: Float, zeroPoint: Float) {
        self.scale = scale
        self.low = low
        self.high = high
        self.zeroPoint = zeroPoint
    }

    /// - Parameters:
    ///   - range: the largest magnitude that is not clamped.
    ///   - isNonNegative: whether no input is negative; positive inputs then use all 7 bits.
    public init(range: Float, isNonNegative: Bool) {
        let high: Float = isNonNegative ? 127 : 63
        self.init(scale: high / range, low: isNonNegative ? 0 : -high, high: high, zeroPoint: isNonNegative ? 0 : 64)
    }

    /// Added to a clamped input, it leaves `q` in the low bits of the sum's bit pattern.
    @inlinable public var roundingBias: Float { integerRoundingBias + zeroPoint }
}

/// Where a quantised convolution writes its results: as floats, quantised for the layers that read them, or both.
public struct QuantisedOutput {
    /// The first output column, `StridedColumns.outputStride` floats from the next; nil for none.
    public var floats: UnsafeMutablePointer<Float>?
    /// The first quantised output column; nil for none.
    public var quantised: UnsafeMutableRawPointer?
    /// Bytes from one quantised column to the next.
    public var quantisedStride = 0
    /// How the readers' inputs are quantised.
    public var quantiser = Quantiser(range: 1, isNonNegative: true)

    public init() {}
}

/// 1.5 · 2²³: added to a number below 2²² in magnitude, it rounds to the nearest integer, ties to even, which is then in the low
/// bits of the sum's bit pattern.
@inlinable public var integerRoundingBias: Float { 0x1.8p23 }

/// The nearest integers of four numbers below 2²² in magnitude. On SSE2, `rounded()` would be a function call for each.
@inlinable public func nearestIntegers(_ numbers: SIMD4<Float>) -> SIMD4<Int32> {
    unsafeBitCast(numbers + SIMD4(repeating: integerRoundingBias), to: SIMD4<Int32>.self)
        &- SIMD4(repeating: Int32(bitPattern: integerRoundingBias.bitPattern))
}

/// How quantised inputs and weights fill the 32-bit lanes of an integer dot product.
public enum QuantisedLayout: Sendable {
    /// Two 16-bit inputs per lane: SSE2 and NEON.
    case int16x2
    /// Four unsigned 8-bit inputs per lane: AVX2 and AVX-512.
    case uint8x4

    /// Inputs of one lane.
    @inlinable public var inputsPerLane: Int {
        switch self {
        case .int16x2: 2
        case .uint8x4: 4
        }
    }

    @inlinable public var inputBytes: Int { 4 / inputsPerLane }
}

/// Number of inputs whose products AVX2 adds in 16 bits, two lanes per output channel. Runs are padded to a multiple of
/// it with zero weights, so that inputs read beyond a run's end do not matter.
@inlinable public var quantisedGroupSize: Int { 16 }

/// Floats before a panel's weights: `panelWidth` multipliers, then `panelWidth` biases.
@inlinable public var quantisedHeaderCount: Int { 2 * panelWidth }

/// Floats from one packed panel to the next.
public func quantisedPanelCount(_ shape: ConvolutionShape) -> Int {
    quantisedHeaderCount + shape.runs * shape.paddedRunLength * panelWidth / 4
}

/// Floats that `packQuantisedConvolution` writes, in either layout.
public func packedQuantisedCount(_ shape: ConvolutionShape) -> Int {
    (shape.outputChannels + panelWidth - 1) / panelWidth * quantisedPanelCount(shape)
}

extension ConvolutionShape {
    /// Whether quantised kernels can compute it: one group, a multiple of four input channels, and sums within 32 bits.
    public var canBeQuantised: Bool {
        groups == 1 && inputChannels % 4 == 0 && inputChannels <= 1 << 18 && depth <= 1 << 18
    }

    /// Inputs of a run, rounded up to a multiple of `quantisedGroupSize`.
    public var paddedRunLength: Int { (runLength + quantisedGroupSize - 1) / quantisedGroupSize * quantisedGroupSize }
}

/// Where the weights of one output channel are in the output of `packQuantisedConvolution`.
public struct QuantisedChannel {
    /// Float offset of the factor from integer sum to output; the bias is `panelWidth` floats after it.
    public let multiplier: Int
    private let firstByte: Int
    private let inputsPerLane: Int
    private let runLength: Int
    private let paddedRunLength: Int

    public init(_ channel: Int, of shape: ConvolutionShape, _ layout: QuantisedLayout) {
        let start = channel / panelWidth * quantisedPanelCount(shape)
        multiplier = start + channel % panelWidth
        inputsPerLane = layout.inputsPerLane
        firstByte = (start + quantisedHeaderCount) * 4 + inputsPerLane * (channel % panelWidth)
        (runLength, paddedRunLength) = (shape.runLength, shape.paddedRunLength)
    }

    /// Byte offset of a weight; `row = (band · kernel + tap) · inputChannels + input channel`.
    public func byteOffset(row: Int) -> Int {
        let index = row % runLength
        let lane = index % inputsPerLane
        return firstByte + (row / runLength * paddedRunLength + index - lane) * panelWidth + lane
    }
}

/// Rounds weights `[outputChannels × bands × kernel × inputChannels]` to 8-bit integers, with a step per output channel, and reorders them
/// for `KernelSet.ConvolveQuantised`.
///
/// - Parameters:
///   - quantiser: how the inputs will be quantised; the biases compensate for its zero point.
///   - packed: `packedQuantisedCount(shape)` floats, all zero.
public func packQuantisedConvolution(
    weights: UnsafePointer<Float>,
    bias: UnsafePointer<Float>,
    shape: ConvolutionShape,
    quantiser: Quantiser,
    layout: QuantisedLayout,
    into packed: UnsafeMutablePointer<Float>
) {
    packQuantisedConvolution(bias: bias, shape: shape, quantiser: quantiser, layout: layout, into: packed) {
        weights + $0 * shape.depth
    }
}

/// The same from weights that are made when they are needed.
///
/// - Parameter row: the weights of an output channel, valid until the next call.
public func packQuantisedConvolution(
    bias: UnsafePointer<Float>,
    shape: ConvolutionShape,
    quantiser: Quantiser,
    layout: QuantisedLayout,
    into packed: UnsafeMutablePointer<Float>,
    row: (_ channel: Int) -> UnsafePointer<Float>
) {
    for channel in 0..<shape.outputChannels {
        let row = UnsafeRawPointer(row(channel))
        let step = weightStep(row, shape)
        pack(channel, step: step, bias: bias[channel], shape, quantiser, layout, into: packed) {
            nearestIntegers(loadFour(row, $0) / step)
        }
    }
}

/// The same from weights that are stored as integers, with the step of each output channel.
///
/// - Parameters:
///   - integers: they must fit the lanes (``fitLanes(_:shape:)``).
///   - steps: `[outputChannels]`.
public func packQuantisedConvolution(
    integers: UnsafePointer<Int8>,
    steps: UnsafePointer<Float>,
    bias: UnsafePointer<Float>,
    shape: ConvolutionShape,
    quantiser: Quantiser,
    layout: QuantisedLayout,
    into packed: UnsafeMutablePointer<Float>
) {
    for channel in 0..<shape.outputChannels {
        let row = UnsafeRawPointer(integers + channel * shape.depth)
        pack(channel, step: steps[channel], bias: bias[channel], shape, quantiser, layout, into: packed) {
            fourIntegers(row, $0)
        }
    }
}

/// Whether every 16-bit sum of the AVX2 kernel fits 16 bits with these weights, for all possible inputs.
public func fitLanes(_ integers: UnsafePointer<Int8>, shape: ConvolutionShape) -> Bool {
    let bytes = UnsafeRawPointer(integers)
    for first in stride(from: 0, to: shape.weightCount, by: shape.runLength) {
        for group in stride(from: first, to: first + shape.runLength, by: quantisedGroupSize) {
            var positive = SIMD4<Int32>.zero
            var negative = SIMD4<Int32>.zero
            for index in stride(from: group, to: min(group + quantisedGroupSize, first + shape.runLength), by: 4) {
                let four = fourIntegers(bytes, index)
                positive &+= pointwiseMax(four, .zero)
                negative &+= pointwiseMax(0 &- four, .zero)
            }
            let sums = pointwiseMax(
                SIMD2(positive[0] &+ positive[1], positive[2] &+ positive[3]),
                SIMD2(negative[0] &+ negative[1], negative[2] &+ negative[3])
            )
            guard sums.max() <= laneSum else { return false }
        }
    }
    return true
}

/// The largest sum of the magnitudes of weights whose products with inputs of up to 127 fit 16 bits.
private var laneSum: Int32 { Int32(Int16.max) / 127 }

/// Packs one output channel; `four` gives the integers of the weights from an index on.
@inline(__always)
private func pack(
    _ channel: Int,
    step: Float,
    bias: Float,
    _ shape: ConvolutionShape,
    _ quantiser: Quantiser,
    _ layout: QuantisedLayout,
    into packed: UnsafeMutablePointer<Float>,
    four: (_ index: Int) -> SIMD4<Int32>
) {
    let bytes = UnsafeMutableRawPointer(packed)
    let target = QuantisedChannel(channel, of: shape, layout)
    var sums = SIMD4<Int32>.zero
    for run in 0..<shape.runs {
        // The weights of a run are at equal distances: only its first one needs its place computed.
        var offset = target.byteOffset(row: run * shape.runLength)
        for index in stride(from: run * shape.runLength, to: (run + 1) * shape.runLength, by: 4) {
            let four = four(index)
            sums &+= four
            store(four, to: bytes, offset, layout)
            offset += 4 * panelWidth
        }
    }
    let multiplier = step / quantiser.scale
    packed[target.multiplier] = multiplier
    packed[target.multiplier + panelWidth] = bias - Float(sums.wrappedSum()) * quantiser.zeroPoint * multiplier
}

@inline(__always)
private func fourIntegers(_ row: UnsafeRawPointer, _ index: Int) -> SIMD4<Int32> {
    SIMD4<Int32>(truncatingIfNeeded: row.loadUnaligned(fromByteOffset: index, as: SIMD4<Int8>.self))
}

@inline(__always)
private func loadFour(_ row: UnsafeRawPointer, _ index: Int) -> SIMD4<Float> {
    row.loadUnaligned(fromByteOffset: 4 * index, as: SIMD4<Float>.self)
}

/// Stores four 8-bit weights; a run's length is a multiple of four, so they belong to one run.
@inline(__always)
private func store(
    _ four: SIMD4<Int32>,
    to bytes: UnsafeMutableRawPointer,
    _ offset: Int,
    _ layout: QuantisedLayout
) {
    let low = four & 0xFF
    let first = UInt32(truncatingIfNeeded: low[0] | low[1] << 8)
    let second = UInt32(truncatingIfNeeded: low[2] | low[3] << 8)
    switch layout {
    case .uint8x4:
        bytes.storeBytes(of: (first | second << 16).littleEndian, toByteOffset: offset, as: UInt32.self)
    case .int16x2:
        bytes.storeBytes(of: UInt16(first).littleEndian, toByteOffset: offset, as: UInt16.self)
        bytes.storeBytes(of: UInt16(second).littleEndian, toByteOffset: offset + 2 * panelWidth, as: UInt16.self)
    }
}

/// The quantisation step of an output channel: the smallest with which each weight fits 8 bits, and every 16-bit sum of
/// the AVX2 kernel fits 16 bits for all possible inputs.
private func weightStep(_ row: UnsafeRawPointer, _ shape: ConvolutionShape) -> Float {
    var largest = SIMD4<Float>.zero
    var largestSum: Float = 0
    for run in 0..<shape.runs {
        let first = run * shape.runLength
        for group in stride(from: first, to: first + shape.runLength, by: quantisedGroupSize) {
            // Of every four inputs, the first two share one 16-bit lane, and the other two share another. Inputs are
            // not negative, so the extreme sums are those of all positive and of all negative weights.
            var positive = SIMD4<Float>.zero
            var negative = SIMD4<Float>.zero
            for index in stride(from: group, to: min(group + quantisedGroupSize, first + shape.runLength), by: 4) {
                let four = loadFour(row, index)
                // Not `pointwiseMax`, which is a call for each number of a float vector.
                let magnitude = four.replacing(with: -four, where: four .< 0)
                largest = largest.replacing(with: magnitude, where: magnitude .> largest)
                positive += four.replacing(with: 0, where: four .< 0)
                negative += magnitude.replacing(with: 0, where: four .> 0)
            }
            largestSum = max(
                largestSum,
                max(positive[0] + positive[1], positive[2] + positive[3]),
                max(negative[0] + negative[1], negative[2] + negative[3])
            )
        }
    }
    // Rounding may add half a step for each of the eight weights of a lane.
    let laneLimit = Float(laneSum) - Float(quantisedGroupSize / 4)
    let greatest = max(max(largest[0], largest[1]), max(largest[2], largest[3]))
    // The lower bound keeps the step of an all-zero channel positive; its output is its bias.
    return max(greatest / 127, largestSum / laneLimit, 1e-30)
}
