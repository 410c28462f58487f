import KernelInterface
import Kernels
import Testing

/// A layer in whole numbers, worked out apart from how the kernels read it.
struct WholeLayer {
    let shape: ConvolutionShape
    let weights: [Float]
    let bias: [Float]
    let quantiser: Quantiser
    /// What `packQuantisedConvolution` is documented to round to, and each channel's step.
    let rounded: [Int]
    let steps: [Float]

    init(_ shape: ConvolutionShape, weights: [Float], bias: [Float], quantiser: Quantiser) {
        (self.shape, self.weights, self.bias, self.quantiser) = (shape, weights, bias, quantiser)
        let depth = shape.kernel * shape.inputChannels
        var rounded: [Int] = []
        var steps: [Float] = []
        for channel in 0..<shape.outputChannels {
            let row = Array(weights[channel * depth..<(channel + 1) * depth])
            let step = WholeLayer.step(row, shape)
            rounded += row.map { step > 0 ? Int(($0 / step).rounded(.toNearestOrEven)) : 0 }
            steps.append(step)
        }
        (self.rounded, self.steps) = (rounded, steps)
    }

    /// The largest weight is at most 127 steps, and in each group of sixteen inputs those of either sign in a lane 254.
    private static func step(_ row: [Float], _ shape: ConvolutionShape) -> Float {
        let run = shape.dilation == 1 ? row.count : shape.inputChannels
        var step = (row.map(abs).max() ?? 0) / 127
        for first in stride(from: 0, to: row.count, by: run) {
            for group in stride(from: first, to: first + run, by: 16) {
                let end = min(group + 16, first + run)
                var (above, below) = ([Float](repeating: 0, count: 4), [Float](repeating: 0, count: 4))
                for index in group..<end {
                    if row[index] > 0 { above[index % 4] += row[index] } else { below[index % 4] -= row[index] }
                }
                for lane in [0, 2] {
                    step = max(step, (above[lane] + above[lane + 1]) / 254, (below[lane] + below[lane + 1]) / 254)
                }
            }
        }
        return step
    }

    /// What `Quantise` is documented to round to.
    func whole(_ input: [Float]) -> [Int] {
        input.map { value in
            let cut = min(max(value * quantiser.scale, quantiser.low), quantiser.high)
            return Int(cut.rounded(.toNearestOrEven) + quantiser.offset)
        }
    }

    /// Each output is its sum times both steps, and the bias less what the offset brought in.
    func expected(_ input: [Float], columns: Int, residual: [Float]?, rectify: Bool) -> [Float] {
        let whole = whole(input)
        let depth = shape.kernel * shape.inputChannels
        var result: [Float] = []
        for column in 0..<columns {
            for channel in 0..<shape.outputChannels {
                var (sum, weightSum) = (0, 0)
                for tap in 0..<shape.kernel {
                    let first = (column * shape.stride + tap * shape.dilation) * shape.inputChannels
                    let row = channel * depth + tap * shape.inputChannels
                    for index in 0..<shape.inputChannels {
                        sum += rounded[row + index] * whole[first + index]
                        weightSum += rounded[row + index]
                    }
                }
                let step = steps[channel] / quantiser.scale
                let offset = Float(weightSum) * quantiser.offset * step
                let plain = Float(sum) * step + (bias[channel] - offset)
                let value = plain + (residual?[result.count] ?? 0)
                result.append(rectify && value < 0 ? 0 : value)
            }
        }
        return result
    }

    /// What the kernels make of it; they may write nothing but the output.
    func run(
        _ kernels: KernelSet,
        _ input: [Float],
        columns: Int,
        residual: [Float]? = nil,
        rectify: Bool = false
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
        let whole = WholeNumbers(input.count, kernels.quantisedLayout)
        #expect(kernels.quantise(input, whole.base, input.count, quantiser))
        #expect(whole.numbers == self.whole(input))
        let count = columns * shape.outputChannels
        let output = AlignedFloats(count + 2)
        output.base[0] = 77
        output.base[count + 1] = 78
        kernels.convolveQuantised(
            whole.base,
            output.base + 1,
            shape.run(of: columns),
            packed.base,
            shape,
            residual,
            rectify
        )
        #expect(output.base[0] == 77 && output.base[count + 1] == 78, "\(shape) wrote outside its output")
        return Array(UnsafeBufferPointer(start: output.base + 1, count: count))
    }

    /// Expects what the kernels make of it to be right to the last bit.
    func check(
        _ kernels: KernelSet,
        _ input: [Float],
        columns: Int,
        residual: [Float]? = nil,
        rectify: Bool = false
    ) {
        let expected = expected(input, columns: columns, residual: residual, rectify: rectify)
        #expect(run(kernels, input, columns: columns, residual: residual, rectify: rectify) == expected, "\(shape)")
    }
}

/// Memory for inputs as whole numbers, at an address of 32 bits, filled with ones, as is what the kernels may read behind its end.
final class WholeNumbers {
    let base: UnsafeMutableRawPointer
    private let memory: AlignedFloats
    private let count: Int
    private let layout: QuantisedLayout

    init(_ count: Int, _ layout: QuantisedLayout) {
        (self.count, self.layout) = (count, layout)
        let bytes = (count + quantisedGroup) * layout.inputBytes
        memory = AlignedFloats(bytes / 4 + 2)
        base = UnsafeMutableRawPointer(memory.base + 1)
        base.initializeMemory(as: UInt8.self, repeating: 0xFF, count: bytes)
    }

    var numbers: [Int] { (0..<count).map(number) }
    var isUntouchedBehind: Bool { (count..<count + quantisedGroup).allSatisfy { [-1, 255].contains(number($0)) } }

    private func number(_ index: Int) -> Int {
        switch layout {
        case .pairs: Int(base.load(fromByteOffset: 2 * index, as: Int16.self))
        case .quads: Int(base.load(fromByteOffset: index, as: UInt8.self))
        }
    }
}
