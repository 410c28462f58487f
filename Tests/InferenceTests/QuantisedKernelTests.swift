import KernelContract
import Kernels
import TestSupport
import Testing

/// The kernels of whole numbers against plain arithmetic: a sum of products is exact, so that nothing may differ at all.
struct QuantisedKernelTests {
    /// A layer in whole numbers, worked out apart from how the kernels read it.
    private struct Layer {
        let shape: ConvolutionShape
        let weights: [Float]
        let bias: [Float]
        let range: Float
        /// What `packQuantisedConvolution` is documented to round to, and each channel's step.
        let rounded: [Int]
        let steps: [Float]

        init(_ shape: ConvolutionShape, weights: [Float], bias: [Float], range: Float) {
            (self.shape, self.weights, self.bias, self.range) = (shape, weights, bias, range)
            let depth = shape.kernel * shape.inputChannels
            var rounded: [Int] = []
            var steps: [Float] = []
            for channel in 0..<shape.outputChannels {
                let row = weights[channel * depth..<(channel + 1) * depth]
                var largest: Float = 0
                for weight in row { largest = max(largest, abs(weight)) }
                for weight in row {
                    rounded.append(largest > 0 ? Int((weight * (127 / largest)).rounded(.toNearestOrEven)) : 0)
                }
                steps.append(largest / 127)
            }
            (self.rounded, self.steps) = (rounded, steps)
        }

        func sums(_ input: [Int16], columns: Int) -> [Int] {
            var result: [Int] = []
            for column in 0..<columns {
                for channel in 0..<shape.outputChannels {
                    var sum = 0
                    for tap in 0..<shape.kernel {
                        let source = (column * shape.stride + tap * shape.dilation) * shape.inputChannels
                        let row = (channel * shape.kernel + tap) * shape.inputChannels
                        for index in 0..<shape.inputChannels {
                            sum += Int(input[source + index]) * rounded[row + index]
                        }
                    }
                    result.append(sum)
                }
            }
            return result
        }
    }

    private func pack(_ layer: Layer) -> (packed: Aligned, quantiser: Quantiser) {
        let packed = Aligned(packedQuantisedCount(layer.shape))
        packed.base.initialize(repeating: 0, count: packedQuantisedCount(layer.shape))
        let quantiser = packQuantisedConvolution(
            weights: layer.weights,
            bias: layer.bias,
            shape: layer.shape,
            range: layer.range,
            into: packed.base
        )
        return (packed, quantiser)
    }

    /// Runs a layer and expects each output to be its sum times the step, and the bias, to the last bit.
    private func check(
        _ kernels: KernelSet,
        _ layer: Layer,
        _ input: [Int16],
        columns: Int,
        residual: [Float]? = nil,
        rectify: Bool = false
    ) {
        let shape = layer.shape
        let (packed, quantiser) = pack(layer)
        let sums = layer.sums(input, columns: columns)
        #expect(sums.allSatisfy { abs($0) <= Int(Int32.max) }, "\(shape)")
        let expected = sums.enumerated().map { index, sum in
            let channel = index % shape.outputChannels
            let plain = Float(sum) * (layer.steps[channel] * (layer.range / quantiser.limit)) + layer.bias[channel]
            let value = plain + (residual?[index] ?? 0)
            return rectify && value < 0 ? 0 : value
        }
        let output = Aligned(expected.count + 2)
        output.base[0] = 77
        output.base[expected.count + 1] = 78
        // Where a column begins, an address of 64 bits or less is enough.
        let place = Aligned(input.count / 2 + 2)
        let source = UnsafeMutableRawPointer(place.base + 1).bindMemory(to: Int16.self, capacity: input.count)
        source.update(from: input, count: input.count)
        kernels.convolveQuantised(
            source,
            output.base + 1,
            shape.run(of: columns),
            packed.base,
            shape,
            residual,
            rectify
        )
        #expect(output.base[0] == 77 && output.base[expected.count + 1] == 78, "\(shape) wrote outside its output")
        #expect(Array(UnsafeBufferPointer(start: output.base + 1, count: expected.count)) == expected, "\(shape)")
    }

    @Test(arguments: InstructionSet.supported)
    func `convolutions in whole numbers are exact`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        var random = Seeded(91)
        for round in 0..<80 {
            let shape = ConvolutionShape(
                inputChannels: 2 * random.int(1...(round % 10 == 0 ? 70 : 9)),
                outputChannels: random.int(1...(round % 7 == 0 ? 140 : 20)),
                kernel: random.int(1...7),
                stride: random.int(1...4),
                dilation: random.int(1...3)
            )
            #expect(shape.canBeQuantised)
            var layer = Layer(
                shape,
                weights: random.floats(shape.weightCount),
                bias: random.floats(shape.outputChannels),
                range: 3
            )
            if round % 5 == 0 {
                // A channel that ignores its inputs.
                let depth = shape.kernel * shape.inputChannels
                let silent = [Float](repeating: 0, count: depth) + layer.weights.dropFirst(depth)
                layer = Layer(shape, weights: silent, bias: layer.bias, range: layer.range)
            }
            let columns = random.int(1...15)
            let limit = Int(pack(layer).quantiser.limit)
            let input = (0..<shape.inputColumns(for: columns) * shape.inputChannels).map { _ in
                Int16(random.int(-limit...limit))
            }
            let residual = round % 3 == 0 ? nil : random.floats(columns * shape.outputChannels)
            check(kernels, layer, input, columns: columns, residual: residual, rectify: round % 2 == 0)
        }
    }

    @Test(arguments: InstructionSet.supported)
    func `the largest numbers in the deepest layers do not overflow`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        for (inputs, kernel) in [(64, 7), (96, 7), (15_872, 1), (2, 32_768)] {
            let shape = ConvolutionShape(inputChannels: inputs, outputChannels: 2, kernel: kernel)
            let layer = Layer(
                shape,
                weights: (0..<shape.weightCount).map { $0 % 3 == 0 ? -0.5 : 0.5 },
                bias: [Float](repeating: 1, count: 2),
                range: 1
            )
            let limit = Int16(pack(layer).quantiser.limit)
            #expect(limit > 250)
            let rows = layer.rounded.prefix(kernel * inputs)
            // Every product has the same sign: no sum can be larger.
            check(kernels, layer, rows.map { $0 < 0 ? -limit : limit }, columns: 1)
            check(kernels, layer, rows.map { $0 < 0 ? limit : -limit }, columns: 1)
        }
        #expect(!ConvolutionShape(inputChannels: 2, outputChannels: 1, kernel: 32_769).canBeQuantised)
    }

    @Test(arguments: InstructionSet.supported)
    func `numbers are rounded to the nearest whole one, to even, and cut`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        let quantiser = Quantiser(scale: 2, limit: 1000)
        let cases: [(Float, Int16)] = [
            (0, 0), (-0.0, 0), (0.25, 0), (0.75, 2), (-0.25, 0), (-0.75, -2), (1.25, 2), (0.3, 1), (-0.3, -1),
            (499.9, 1000), (500, 1000), (500.4, 1000), (1e30, 1000), (-500, -1000), (-1e30, -1000), (123.4, 247),
            (-249.75, -500), (-249.7, -499),
        ]
        for count in [1, 3, 4, 7, 8, 15, 16, 19, 40] {
            let input = (0..<count).map { cases[$0 % cases.count].0 }
            var output = [Int16](repeating: 7, count: count + 1)
            #expect(kernels.quantise(input, &output, count, quantiser))
            #expect(Array(output.prefix(count)) == (0..<count).map { cases[$0 % cases.count].1 })
            #expect(output[count] == 7)
            for broken in [Float.nan, .infinity, -.infinity] {
                let missed = (0..<count).filter { place in
                    var changed = input
                    changed[place] = broken
                    return kernels.quantise(changed, &output, count, quantiser)
                }
                #expect(missed == [], "\(broken) of \(count)")
            }
        }
    }

    @Test func `what is rounded lies within half a step of what it was`() {
        var random = Seeded(92)
        let shape = ConvolutionShape(inputChannels: 64, outputChannels: 24, kernel: 3)
        let layer = Layer(
            shape,
            weights: random.floats(shape.weightCount),
            bias: random.floats(24),
            range: 2
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
        let (packed, quantiser) = pack(layer)
        #expect(quantiser.limit == 32_767 && abs(quantiser.scale - 32_767 / 2) < 0.1)
        var rounded = [Int16](repeating: 0, count: input.count)
        #expect(KernelSet.best.quantise(input, &rounded, input.count, quantiser))
        let output = Aligned(plain.count)
        KernelSet.best.convolveQuantised(rounded, output.base, shape.run(of: columns), packed.base, shape, nil, false)
        let error = worst(Array(UnsafeBufferPointer(start: output.base, count: plain.count)), plain)
        // 192 weights off by up to half of 1/127, evenly spread, times inputs of ±2, evenly spread: the deviation of
        // the sum is √192 · (1/127/√12) · (2/√3) = 0.036; a 216th of numbers may lie three of these off.
        #expect(error < 5 * 0.036 && error > 0.036)
        print("whole numbers, 192 products: worst error \(error)")
    }
}
