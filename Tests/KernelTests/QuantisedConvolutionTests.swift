import KernelInterface
import Kernels
import TestSupport
import Testing

/// The kernels of whole numbers against plain arithmetic: a sum of products is exact, so that nothing may differ at all.
struct QuantisedKernelTests {
    @Test(arguments: InstructionSet.supported)
    func `convolutions in whole numbers are exact`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 91)
        for round in 0..<100 {
            let shape = ConvolutionShape(
                inputChannels: 4 * random.int(1...(round % 10 == 0 ? 35 : 9)),
                outputChannels: random.int(1...(round % 7 == 0 ? 140 : 20)),
                kernel: random.int(1...7),
                stride: random.int(1...4),
                dilation: random.int(1...3)
            )
            #expect(shape.canBeQuantised)
            var weights = random.floats(shape.weightCount)
            if round % 5 == 0 {
                // A channel that ignores its inputs.
                for index in 0..<shape.kernel * shape.inputChannels { weights[index] = 0 }
            }
            let layer = WholeLayer(
                shape,
                weights: weights,
                bias: random.floats(shape.outputChannels),
                quantiser: Quantiser(range: 3, isNonNegative: round % 4 < 2)
            )
            let columns = random.int(1...15)
            let input = random.floats(shape.inputColumns(for: columns) * shape.inputChannels, -3.1...3.1)
            let residual = round % 3 == 0 ? nil : random.floats(columns * shape.outputChannels)
            let whole = layer.whole(input)
            #expect(whole.allSatisfy { $0 >= 0 && $0 <= 127 })
            layer.check(kernels, input, columns: columns, residual: residual, rectify: round % 2 == 0)
        }
    }

    /// Were a sum of 16 bits to overflow, the largest inputs would show it, with weights of one sign as with any other.
    @Test(arguments: InstructionSet.supported, [true, false])
    func `no input and no weights overflow`(set: InstructionSet, isNonNegative: Bool) throws {
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
            let layer = WholeLayer(
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

    @Test func `weights are rounded as finely as the sums of sixteen bits allow`() {
        let shape = ConvolutionShape(inputChannels: 16, outputChannels: 3)
        // One large weight among small ones has all of eight bits; sixteen equal ones must leave room for the sum of the
        // eight that meet in a lane, 254 steps; the third channel is bound by its other sign.
        let weights =
            [1] + [Float](repeating: 0.01, count: 15) + [Float](repeating: -0.5, count: 16)
            + (0..<16).map { $0 % 4 < 2 ? 0.1 : -0.8 }
        let layer = WholeLayer(
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
    func `numbers are rounded to the nearest whole one, to even, and cut`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        let cases: [(Float, signed: Int, positive: Int)] = [
            (0, 64, 0), (-0.0, 64, 0), (0.25, 64, 0), (0.75, 66, 2), (-0.25, 64, 0), (-0.75, 62, 0), (1.25, 66, 2),
            (0.3, 65, 1), (-0.3, 63, 0), (31.2, 126, 62), (31.5, 127, 63), (31.7, 127, 63), (63.4, 127, 127),
            (63.5, 127, 127), (1e30, 127, 127), (-31.5, 1, 0), (-1e30, 1, 0), (12.34, 89, 25), (-24.75, 14, 0),
            (-24.7, 15, 0),
        ]
        let signed = Quantiser(scale: 2, low: -63, high: 63, offset: 64)
        let positive = Quantiser(scale: 2, low: 0, high: 127, offset: 0)
        for count in [1, 3, 4, 7, 8, 15, 16, 19, 31, 32, 33, 40, 75] {
            let input = (0..<count).map { cases[$0 % cases.count].0 }
            let whole = WholeNumbers(count, kernels.quantisedLayout)
            #expect(kernels.quantise(input, whole.base, count, signed))
            #expect(whole.numbers == (0..<count).map { cases[$0 % cases.count].signed })
            #expect(kernels.quantise(input, whole.base, count, positive))
            #expect(whole.numbers == (0..<count).map { cases[$0 % cases.count].positive })
            #expect(whole.isUntouchedBehind)
            for broken in [Float.nan, .infinity, -.infinity] {
                let missed = (0..<count).filter { place in
                    var changed = input
                    changed[place] = broken
                    return kernels.quantise(changed, whole.base, count, signed)
                }
                #expect(missed == [], "\(broken) of \(count)")
            }
        }
    }

    @Test func `what is rounded lies within half a step of what it was`() {
        var random = SplitMix(seed: 92)
        let shape = ConvolutionShape(inputChannels: 64, outputChannels: 24, kernel: 3)
        let layer = WholeLayer(
            shape,
            weights: random.floats(shape.weightCount),
            bias: random.floats(24),
            quantiser: Quantiser(range: 2, isNonNegative: false)
        )
        let columns = 9
        let input = random.floats(shape.inputColumns(for: columns) * 64, -2...2)
        let plain = ScalarReference.convolve(
            input,
            weights: layer.weights,
            bias: layer.bias,
            shape: shape,
            columns: columns,
            rectify: false
        )
        let error = largestDifference(layer.run(.best, input, columns: columns), plain)
        // Of 192 products each weight, evenly spread in ±1, is off by up to half of its step, about 1/50 here, and times an input
        // evenly spread in ±2; each input is off by up to half of 2/63. The deviations are √192 · (1/50/√12) · (2/√3) = 0.092
        // and √192 · (2/63/√12) · (1/√3) = 0.073, together 0.118; a 216th of numbers may lie three of these off.
        #expect(error < 5 * 0.118 && error > 0.118)
        print("whole numbers, 192 products: worst error \(error)")
    }
}
