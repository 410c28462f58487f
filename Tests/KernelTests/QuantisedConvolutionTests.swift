import KernelInterface
import Kernels
import TestSupport
import Testing

/// The quantised kernels against integer arithmetic: sums are exact, so that results must be equal to the last bit.
struct QuantisedConvolutionTests {
    @Test(arguments: InstructionSet.supported)
    func `quantised convolutions are exact`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 91)
        for round in 0..<100 {
            let columns = random.int(1...15)
            var shape = ConvolutionShape(
                inputChannels: 4 * random.int(1...(round % 10 == 0 ? 35 : 9)),
                outputChannels: random.int(1...(round % 7 == 0 ? 140 : 20)),
                kernel: random.int(1...7),
                stride: random.int(1...4),
                dilation: random.int(1...3)
            )
            if round % 3 == 0 {
                shape.dilation = 1
                shape = shape.over(bands: random.int(2...5), columns: columns, more: 4 * random.int(0...9))
            }
            #expect(shape.canBeQuantised)
            var weights = random.floats(shape.weightCount)
            if round % 5 == 0 {
                // A channel with zero weights.
                for index in 0..<shape.depth { weights[index] = 0 }
            }
            let layer = QuantisedReference(
                shape,
                weights: weights,
                bias: random.floats(shape.outputChannels),
                quantiser: Quantiser(range: 3, isNonNegative: round % 4 < 2)
            )
            let input = random.floats(shape.inputCount(for: columns), -3.1...3.1)
            let residual = round % 3 == 0 ? nil : random.floats(columns * shape.outputChannels)
            let quantised = layer.quantised(input)
            #expect(quantised.allSatisfy { $0 >= 0 && $0 <= 127 })
            layer.check(kernels, input, columns: columns, residual: residual, relu: round % 2 == 0)
        }
    }

    /// The largest inputs, with weights of equal and of alternating signs, would show an overflow of AVX2's 16-bit sums.
    @Test(arguments: InstructionSet.supported, [true, false])
    func `no inputs and weights overflow`(set: InstructionSet, isNonNegative: Bool) throws {
        let kernels = try #require(set.kernels)
        let patterns: [(Int) -> Float] = [
            { _ in 1 }, { _ in -1 }, { $0 % 2 == 0 ? 1 : -1 }, { $0 % 4 < 2 ? 1 : -1 }, { $0 % 4 < 2 ? 0.01 : -1 },
            { $0 % 16 == 3 ? 1 : 0.3 }, { $0 == 7 ? -1 : 0.5 }, { $0 % 3 == 0 ? -0.5 : 0.25 },
        ]
        for (inputs, kernel, dilation) in [(64, 7, 1), (40, 5, 1), (12, 3, 2), (1_016, 1, 1), (4, 1, 1)] {
            let shape = ConvolutionShape(
                inputChannels: inputs,
                outputChannels: patterns.count,
                kernel: kernel,
                dilation: dilation
            )
            let depth = inputs * kernel
            let layer = QuantisedReference(
                shape,
                weights: patterns.flatMap { pattern in (0..<depth).map(pattern) },
                bias: [Float](repeating: 1, count: patterns.count),
                quantiser: Quantiser(range: 1, isNonNegative: isNonNegative)
            )
            let count = shape.inputColumns(for: 3) * inputs
            for input: (Int) -> Float in [
                { _ in 2 }, { _ in -2 }, { $0 % 2 == 0 ? 2 : -2 }, { $0 % 4 < 2 ? 2 : -2 }, { $0 % 3 == 0 ? -2 : 2 },
            ] {
                layer.check(kernels, (0..<count).map(input), columns: 3)
            }
        }
        #expect(!ConvolutionShape(inputChannels: 4, outputChannels: 1, kernel: 65_537).canBeQuantised)
        #expect(!ConvolutionShape(inputChannels: 6, outputChannels: 1).canBeQuantised)
    }

    @Test func `the step of weights is as small as 16-bit sums allow`() {
        let shape = ConvolutionShape(inputChannels: 16, outputChannels: 3)
        // One large weight among small ones uses all 8 bits. Of sixteen equal weights, the eight of a lane may add up to 254 steps.
        // In the third channel the negative weights are the limit.
        let weights =
            [1] + [Float](repeating: 0.01, count: 15) + [Float](repeating: -0.5, count: 16)
            + (0..<16).map { $0 % 4 < 2 ? 0.1 : -0.8 }
        let layer = QuantisedReference(
            shape,
            weights: weights,
            bias: [0, 0, 0],
            quantiser: Quantiser(range: 1, isNonNegative: true)
        )
        #expect(abs(layer.steps[0] - 1 / 127) < 1e-8)
        #expect(abs(layer.steps[1] - 4 / 254) < 1e-8)
        #expect(abs(layer.steps[2] - 6.4 / 254) < 1e-8)
    }

    @Test(arguments: InstructionSet.supported)
    func `inputs are rounded to the nearest integer, ties to even, and clamped`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        let cases: [(Float, signed: Int, positive: Int)] = [
            (0, 64, 0), (-0.0, 64, 0), (0.25, 64, 0), (0.75, 66, 2), (-0.25, 64, 0), (-0.75, 62, 0), (1.25, 66, 2),
            (0.3, 65, 1), (-0.3, 63, 0), (31.2, 126, 62), (31.5, 127, 63), (31.7, 127, 63), (63.4, 127, 127),
            (63.5, 127, 127), (1e30, 127, 127), (-31.5, 1, 0), (-1e30, 1, 0), (12.34, 89, 25), (-24.75, 14, 0),
            (-24.7, 15, 0),
        ]
        let signed = Quantiser(scale: 2, low: -63, high: 63, zeroPoint: 64)
        let positive = Quantiser(scale: 2, low: 0, high: 127, zeroPoint: 0)
        for count in [1, 3, 4, 7, 8, 15, 16, 19, 31, 32, 33, 40, 75] {
            let input = (0..<count).map { cases[$0 % cases.count].0 }
            let quantised = QuantisedInputs(count, kernels.quantisedLayout)
            #expect(kernels.quantise(input, quantised.base, count, signed))
            #expect(quantised.numbers == (0..<count).map { cases[$0 % cases.count].signed })
            #expect(kernels.quantise(input, quantised.base, count, positive))
            #expect(quantised.numbers == (0..<count).map { cases[$0 % cases.count].positive })
            #expect(quantised.isUntouchedBehind)
            for invalid in [Float.nan, .infinity, -.infinity] {
                let accepted = (0..<count).filter { place in
                    var changed = input
                    changed[place] = invalid
                    return kernels.quantise(changed, quantised.base, count, signed)
                }
                #expect(accepted == [], "\(invalid) of \(count)")
            }
        }
    }

    @Test func `the error of quantisation is that of rounding`() {
        var random = SplitMix(seed: 92)
        let shape = ConvolutionShape(inputChannels: 64, outputChannels: 24, kernel: 3)
        let layer = QuantisedReference(
            shape,
            weights: random.floats(shape.weightCount),
            bias: random.floats(24),
            quantiser: Quantiser(range: 2, isNonNegative: false)
        )
        let columns = 9
        let input = random.floats(shape.inputColumns(for: columns) * 64, -2...2)
        let exact = ScalarReference.convolve(
            input,
            weights: layer.weights,
            bias: layer.bias,
            shape: shape,
            columns: columns,
            relu: false
        )
        let error = largestDifference(layer.run(.best, input, columns: columns), exact)
        // 192 products of a weight, uniform in ±1, and an input, uniform in ±2. A weight is off by up to half a step, about 1/50 here,
        // and an input by up to half of 2/63. The standard deviations are √192 · (1/50/√12) · (2/√3) = 0.092 and
        // √192 · (2/63/√12) · (1/√3) = 0.073, together 0.118. The largest of 216 errors is about three of them.
        #expect(error < 5 * 0.118 && error > 0.118)
        print("int8, 192 products: worst error \(error)")
    }
}
