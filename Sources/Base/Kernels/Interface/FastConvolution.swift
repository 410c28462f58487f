// The fast FIR algorithm in two phases: two adjacent columns of a convolution with stride 1 cost three convolutions of half its taps, not
// four. With E the even and O the odd taps of the kernel, and x the input columns:
//
//     A[m] = Σ E[j] · x[2m + 2j]    B[m] = Σ O[j] · x[2m + 2j + 1]    D[m] = Σ (E[j] − O[j]) · (x[2m + 2j + 1] − x[2m + 2j + 2])
//
// Column 2m is A[m] + B[m], and column 2m + 1 is D[m] + A[m + 1] + B[m]. In integers that is exact, so that results are those of the
// plain convolution to the last bit. Differences of 7-bit inputs fit unsigned bytes after 127 is added. Differences of 8-bit weights rarely
// exceed 8 bits, because adjacent taps are similar: the excess is a short list of further rows of weights.

extension ConvolutionShape {
    /// Whether the fast algorithm computes so many columns in less time than `ConvolveQuantised`.
    ///
    /// The number of columns is odd, so that no input after the last one is read.
    public func isFast(columns: Int) -> Bool {
        columns >= 9 && columns % 2 == 1 && kernel >= 5 && stride == 1 && isContiguous && bands == 1
            && inputChannels % quantisedGroupSize == 0 && outputChannels % panelWidth == 0 && canBeQuantised
    }
}

/// The parts of a convolution that the fast algorithm computes, and where their weights are.
public struct FastConvolution: Sendable {
    /// The convolutions A, B and D, of every second column or of the plane of differences.
    public let even: ConvolutionShape
    public let odd: ConvolutionShape
    public let difference: ConvolutionShape
    private let panels: Int

    public init(_ shape: ConvolutionShape) {
        func part(kernel: Int, stride: Int) -> ConvolutionShape {
            ConvolutionShape(
                inputChannels: shape.inputChannels,
                outputChannels: shape.outputChannels,
                kernel: kernel,
                stride: stride,
                dilation: stride
            )
        }
        even = part(kernel: (shape.kernel + 1) / 2, stride: 2)
        odd = part(kernel: shape.kernel / 2, stride: 2)
        difference = part(kernel: (shape.kernel + 1) / 2, stride: 1)
        panels = shape.outputChannels / panelWidth
    }

    // Offsets in floats from the start of the packed weights: A, B, D, the sums of D's weights times 127, and the excess.

    public var oddOffset: Int { packedQuantisedCount(even) }
    public var differenceOffset: Int { oddOffset + packedQuantisedCount(odd) }
    /// One integer for each output channel.
    public var sumsOffset: Int { differenceOffset + packedQuantisedCount(difference) }
    /// For each panel the number of its excess rows, then for each row its lane in the inputs of a column of D, all as integers.
    public var excessOffset: Int { sumsOffset + panels * panelWidth }
    /// The excess rows of weights, a panel of four inputs each.
    public var excessWeightsOffset: Int {
        excessOffset + (panels + excessLimit + panelWidth - 1) / panelWidth * panelWidth
    }
    /// Floats of the packed weights.
    public var packedCount: Int { excessWeightsOffset + excessLimit * panelWidth }
    /// Rows of excess that are worth their time: an eighth of the rows of D.
    var excessLimit: Int { panels * difference.depth / 4 / 8 }

    /// Bytes of the plane of differences, rounded up to a cache line.
    public func planeBytes(columns: Int) -> Int {
        (difference.inputColumns(for: columns / 2) * difference.inputChannels + quantisedGroupSize + 63) / 64 * 64
    }
    /// Bytes of scratch memory: the plane, then the integer sums of A, B and D.
    public func scratchBytes(columns: Int) -> Int {
        planeBytes(columns: columns) + 4 * even.outputChannels * (columns + 1 + columns / 2)
    }
}

/// Packs a layer for `KernelSet.ConvolveFast` from its weights in the output of `packQuantisedConvolution`, with four inputs a lane.
///
/// - Parameters:
///   - shape: a shape with `isFast`.
///   - target: `FastConvolution.packedCount` floats, all zero, 64-byte aligned.
/// - Returns: false where the excess is too long to be fast; the target is then of no use.
public func packFastConvolution(
    _ packed: UnsafePointer<Float>,
    shape: ConvolutionShape,
    into target: UnsafeMutablePointer<Float>
) -> Bool {
    let (fast, panels) = (FastConvolution(shape), shape.outputChannels / panelWidth)
    let (source, bytes) = (UnsafeRawPointer(packed), UnsafeMutableRawPointer(target))
    let sums = (bytes + 4 * fast.sumsOffset).assumingMemoryBound(to: Int32.self)
    let counts = (bytes + 4 * fast.excessOffset).assumingMemoryBound(to: Int32.self)
    let excessRows = (bytes + 4 * fast.excessWeightsOffset).assumingMemoryBound(to: Int8.self)
    // The weights of four inputs for the channels of a panel are adjacent, in each of the parts.
    let width = 4 * panelWidth
    func place(_ panel: Int, _ part: ConvolutionShape, _ lane: Int) -> Int {
        QuantisedChannel(panel * panelWidth, of: part, .uint8x4).byteOffset(row: 4 * lane)
    }
    let zeros = UnsafeMutablePointer<Int8>.allocate(capacity: width)
    zeros.initialize(repeating: 0, count: width)
    defer { zeros.deallocate() }
    var excess = 0
    for panel in 0..<panels {
        let first = excess
        for lane in 0..<fast.difference.depth / 4 {
            let (pair, column) = (4 * lane).quotientAndRemainder(dividingBy: shape.inputChannels)
            func weights(_ tap: Int) -> UnsafePointer<Int8> {
                guard tap < shape.kernel else { return UnsafePointer(zeros) }
                let lane = (tap * shape.inputChannels + column) / 4
                return (source + place(panel, shape, lane)).assumingMemoryBound(to: Int8.self)
            }
            func part(_ part: ConvolutionShape, at offset: Int) -> UnsafeMutablePointer<Int8> {
                (bytes + 4 * offset + place(panel, part, lane)).assumingMemoryBound(to: Int8.self)
            }
            let (even, odd) = (weights(2 * pair), weights(2 * pair + 1))
            part(fast.even, at: 0).update(from: even, count: width)
            if pair < fast.odd.kernel { part(fast.odd, at: fast.oddOffset).update(from: odd, count: width) }
            let difference = part(fast.difference, at: fast.differenceOffset)
            var (lowest, highest): (Int32, Int32) = (0, 0)
            for index in 0..<width {
                let whole = Int32(even[index]) - Int32(odd[index])
                let bounded = min(max(whole, -128), 127)
                difference[index] = Int8(truncatingIfNeeded: bounded)
                lowest = min(lowest, whole - bounded)
                highest = max(highest, whole - bounded)
            }
            for index in 0..<panelWidth {
                var sum: Int32 = 0
                for input in 4 * index..<4 * index + 4 { sum += Int32(even[input]) - Int32(odd[input]) }
                sums[panel * panelWidth + index] += 127 * sum
            }
            guard lowest < 0 || highest > 0 else { continue }
            guard excess < fast.excessLimit, highest <= 127 else { return false }
            for index in 0..<width {
                let whole = Int32(even[index]) - Int32(odd[index])
                excessRows[excess * width + index] = Int8(truncatingIfNeeded: whole - Int32(difference[index]))
            }
            counts[panels + excess] = Int32(lane)
            excess += 1
        }
        counts[panel] = Int32(excess - first)
    }
    return true
}
