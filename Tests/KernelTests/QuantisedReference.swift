import Glibc
import KernelInterface
import Kernels
import Testing

/// A quantised layer, computed without the packing code of the kernels.
struct QuantisedReference {
    let shape: ConvolutionShape
    let weights: [Float]
    let bias: [Float]
    let quantiser: Quantiser
    /// The weights as integers, as `packQuantisedConvolution` documents.
    let rounded: [Int]
    /// The step of each output channel.
    let steps: [Float]

    init(_ shape: ConvolutionShape, weights: [Float], bias: [Float], quantiser: Quantiser) {
        (self.shape, self.weights, self.bias, self.quantiser) = (shape, weights, bias, quantiser)
        let depth = shape.depth
        var rounded: [Int] = []
        var steps: [Float] = []
        for channel in 0..<shape.outputChannels {
            let row = Array(weights[channel * depth..<(channel + 1) * depth])
            let step = QuantisedReference.step(row, shape)
            rounded += row.map { step > 0 ? Int(($0 / step).rounded(.toNearestOrEven)) : 0 }
            steps.append(step)
        }
        (self.rounded, self.steps) = (rounded, steps)
    }

    /// The largest weight is at most 127 steps. In each group of sixteen inputs, the weights of one sign that share a 16-bit lane add up
    /// to at most 254.
    private static func step(_ row: [Float], _ shape: ConvolutionShape) -> Float {
        let run = shape.dilation == 1 ? row.count / shape.bands : shape.inputChannels
        var step = (row.map(abs).max() ?? 0) / 127
        for first in stride(from: 0, to: row.count, by: run) {
            for group in stride(from: first, to: first + run, by: 16) {
                let end = min(group + 16, first + run)
                var (positive, negative) = ([Float](repeating: 0, count: 4), [Float](repeating: 0, count: 4))
                for index in group..<end {
                    if row[index] > 0 { positive[index % 4] += row[index] } else { negative[index % 4] -= row[index] }
                }
                for lane in [0, 2] {
                    step = max(
                        step,
                        (positive[lane] + positive[lane + 1]) / 254,
                        (negative[lane] + negative[lane + 1]) / 254
                    )
                }
            }
        }
        return step
    }

    /// The inputs as integers, as `KernelSet.Quantise` documents.
    func quantised(_ input: [Float]) -> [Int] {
        input.map { value in
            let clamped = min(max(value * quantiser.scale, quantiser.low), quantiser.high)
            return Int(clamped.rounded(.toNearestOrEven) + quantiser.zeroPoint)
        }
    }

    /// Each output is its integer sum times both steps, plus the bias, minus the part that the zero point added.
    func expected(_ input: [Float], columns: Int, residual: [Float]?, relu: Bool) -> [Float] {
        let quantised = quantised(input)
        let depth = shape.depth
        var result: [Float] = []
        for column in 0..<columns {
            for channel in 0..<shape.outputChannels {
                var (sum, weightSum) = (0, 0)
                for (band, tap) in (0..<shape.bands).flatMap({ band in (0..<shape.kernel).map { (band, $0) } }) {
                    let place = column * shape.stride + tap * shape.dilation
                    let first = band * shape.bandStride + place * shape.inputChannels
                    let row = channel * depth + (band * shape.kernel + tap) * shape.inputChannels
                    for index in 0..<shape.inputChannels {
                        sum += rounded[row + index] * quantised[first + index]
                        weightSum += rounded[row + index]
                    }
                }
                let step = steps[channel] / quantiser.scale
                let offset = Float(weightSum) * quantiser.zeroPoint * step
                let scaled = Float(sum) * step + (bias[channel] - offset)
                let value = scaled + (residual?[result.count] ?? 0)
                result.append(relu && value < 0 ? 0 : value)
            }
        }
        return result
    }

    /// The output of the kernels; checks that they write nothing else.
    func run(
        _ kernels: KernelSet,
        _ input: [Float],
        columns: Int,
        residual: [Float]? = nil,
        relu: Bool = false
    ) -> [Float] {
        let packed = AlignedFloats(packedQuantisedCount(shape))
        packed.base.initialize(repeating: 0, count: packedQuantisedCount(shape))
        packQuantisedConvolution(
            weights: weights,
            bias: bias,
            shape: shape,
            quantiser: quantiser,
            layout: kernels.quantisedLayout,
            into: packed.base
        )
        let again = AlignedFloats(packedQuantisedCount(shape))
        again.base.initialize(repeating: 0, count: packedQuantisedCount(shape))
        let integers = rounded.map { Int8($0) }
        #expect(fitLanes(integers, shape: shape))
        packQuantisedConvolution(
            integers: integers,
            steps: steps.map { max($0, 1e-30) },
            bias: bias,
            shape: shape,
            quantiser: quantiser,
            layout: kernels.quantisedLayout,
            into: again.base
        )
        let isSame = memcmp(packed.base, again.base, 4 * packedQuantisedCount(shape)) == 0
        #expect(isSame, "\(shape): integers are packed as the floats that they stand for")
        let quantised = QuantisedInputs(input.count, kernels.quantisedLayout)
        #expect(kernels.quantise(input, quantised.base, input.count, quantiser))
        #expect(quantised.numbers == self.quantised(input))
        let count = columns * shape.outputChannels
        let output = AlignedFloats(count + 2)
        output.base[0] = 77
        output.base[count + 1] = 78
        var target = QuantisedOutput()
        target.floats = output.base + 1
        kernels.convolveQuantised(
            quantised.base,
            target,
            shape.adjacentColumns(columns),
            packed.base,
            shape,
            residual,
            relu
        )
        #expect(output.base[0] == 77 && output.base[count + 1] == 78, "\(shape) wrote outside its output")
        let floats = Array(UnsafeBufferPointer(start: output.base + 1, count: count))

        // The same quantised for the next layer, alone and beside the floats, with columns further apart.
        let next = Quantiser(range: 2, isNonNegative: relu)
        let expected = QuantisedInputs(count, kernels.quantisedLayout)
        #expect(kernels.quantise(floats, expected.base, count, next))
        for withFloats in [false, true] {
            let gap = withFloats ? 3 : 0
            let numbers = QuantisedInputs(columns * (shape.outputChannels + gap), kernels.quantisedLayout)
            output.base.update(repeating: 77, count: count + 2)
            target.floats = withFloats ? output.base + 1 : nil
            (target.quantised, target.quantiser) = (numbers.base, next)
            target.quantisedStride = (shape.outputChannels + gap) * kernels.quantisedLayout.inputBytes
            kernels.convolveQuantised(
                quantised.base,
                target,
                shape.adjacentColumns(columns),
                packed.base,
                shape,
                residual,
                relu
            )
            let written: [Int] = numbers.numbers
            let width = shape.outputChannels + gap
            for column in 0..<columns {
                let row: [Int] = Array(written[column * width..<(column + 1) * width])
                let wanted = expected.numbers[column * shape.outputChannels..<(column + 1) * shape.outputChannels]
                #expect(Array(row.prefix(shape.outputChannels)) == Array(wanted), "\(shape)")
                #expect(row.suffix(gap).allSatisfy { $0 == -1 || $0 == 255 }, "\(shape): wrote between columns")
            }
            #expect(numbers.isUntouchedBehind)
            let again = Array(UnsafeBufferPointer(start: output.base + 1, count: count))
            #expect(again == (withFloats ? floats : [Float](repeating: 77, count: count)))
        }
        return floats
    }

    /// Expects the output of the kernels to be exact.
    func check(
        _ kernels: KernelSet,
        _ input: [Float],
        columns: Int,
        residual: [Float]? = nil,
        relu: Bool = false
    ) {
        let expected = expected(input, columns: columns, residual: residual, relu: relu)
        #expect(run(kernels, input, columns: columns, residual: residual, relu: relu) == expected, "\(shape)")
    }
}

/// Memory for quantised inputs, 4-byte aligned, and for the inputs that kernels may read behind them; initially all
/// bits are set.
final class QuantisedInputs {
    let base: UnsafeMutableRawPointer
    private let memory: AlignedFloats
    private let count: Int
    private let layout: QuantisedLayout

    init(_ count: Int, _ layout: QuantisedLayout) {
        (self.count, self.layout) = (count, layout)
        let bytes = (count + quantisedGroupSize) * layout.inputBytes
        memory = AlignedFloats(bytes / 4 + 2)
        base = UnsafeMutableRawPointer(memory.base + 1)
        base.initializeMemory(as: UInt8.self, repeating: 0xFF, count: bytes)
    }

    var numbers: [Int] { (0..<count).map(number) }
    var isUntouchedBehind: Bool { (count..<count + quantisedGroupSize).allSatisfy { [-1, 255].contains(number($0)) } }

    private func number(_ index: Int) -> Int {
        switch layout {
        case .int16x2: Int(base.load(fromByteOffset: 2 * index, as: Int16.self))
        case .uint8x4: Int(base.load(fromByteOffset: index, as: UInt8.self))
        }
    }
}
