import KernelInterface
import Kernels
import TestSupport
import Testing

/// The convolution kernels against scalar loops, over random geometries.
struct ConvolutionTests {
    /// Runs one random case, and returns its largest error divided by the square root of the number of terms.
    private func error(
        _ kernels: KernelSet,
        _ shape: ConvolutionShape,
        columns: Int,
        relu: Bool,
        _ random: inout SplitMix
    ) -> Float {
        let input = random.floats(shape.inputCount(for: columns))
        let weights = random.floats(shape.weightCount)
        let bias = random.floats(shape.outputChannels)
        let residual = random.int(0...1) == 0 ? nil : random.floats(columns * shape.outputChannels)
        let sums = ScalarReference.convolve(
            input,
            weights: weights,
            bias: bias,
            shape: shape,
            columns: columns,
            relu: residual == nil && relu
        )
        let expected = residual.map { zip(sums, $0).map { relu ? max(0, $0 + $1) : $0 + $1 } } ?? sums

        let count = packedConvolutionCount(shape)
        let packed = AlignedFloats(count)
        packConvolution(weights: weights, bias: bias, shape: shape, into: packed.base)
        // One more float on each side detects writes outside the output.
        let output = AlignedFloats(expected.count + 2)
        output.base[0] = 77
        output.base[expected.count + 1] = 78
        kernels.convolve(input, output.base + 1, shape.adjacentColumns(columns), packed.base, shape, residual, relu)
        #expect(output.base[0] == 77 && output.base[expected.count + 1] == 78, "\(shape) wrote outside its output")
        let result = Array(UnsafeBufferPointer(start: output.base + 1, count: expected.count))
        let terms = Float(shape.depth)
        return largestDifference(result, expected) / terms.squareRoot()
    }

    @Test(arguments: InstructionSet.supported)
    func `convolutions over several bands agree with scalar loops`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 12)
        for round in 0..<200 {
            let columns = random.int(1...40)
            let shape = ConvolutionShape(
                inputChannels: random.int(1...(round % 5 == 0 ? 40 : 12)),
                outputChannels: random.int(1...(round % 7 == 0 ? 140 : 20)),
                kernel: random.int(1...5),
                stride: random.int(1...2)
            ).over(bands: random.int(2...5), columns: columns, more: random.int(0...30))
            #expect(error(kernels, shape, columns: columns, relu: round % 2 == 0, &random) < 1e-6, "\(shape)")
        }
    }

    @Test(arguments: InstructionSet.supported)
    func `dense, strided, dilated and grouped convolutions agree with scalar loops`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 11)
        var largest: Float = 0
        for round in 0..<400 {
            let groups = round % 3 == 0 ? random.int(1...5) : 1
            let shape = ConvolutionShape(
                inputChannels: groups * random.int(1...(round % 10 == 0 ? 70 : 18)),
                outputChannels: groups * random.int(1...(round % 7 == 0 ? 140 : 20)),
                kernel: random.int(1...7),
                stride: random.int(1...4),
                dilation: random.int(1...3),
                groups: groups
            )
            let error = error(kernels, shape, columns: random.int(1...15), relu: round % 2 == 0, &random)
            #expect(error < 1e-6, "\(shape)")
            largest = max(largest, error)
        }
        print("\(set) convolution: worst error \(largest) per √term")
    }

    @Test(arguments: InstructionSet.supported) func `depthwise convolutions agree with scalar loops`(
        set: InstructionSet
    )
        throws
    {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 12)
        var largest: Float = 0
        for round in 0..<200 {
            let channels = random.int(2...75)
            let shape = ConvolutionShape(
                inputChannels: channels,
                outputChannels: channels,
                kernel: random.int(1...17),
                stride: random.int(1...3),
                dilation: random.int(1...4),
                groups: channels
            )
            #expect(shape.isDepthwise)
            let error = error(kernels, shape, columns: random.int(1...15), relu: round % 2 == 0, &random)
            #expect(error < 1e-6, "\(shape)")
            largest = max(largest, error)
        }
        print("\(set) depthwise convolution: worst error \(largest) per √term")
    }

    @Test(arguments: InstructionSet.supported) func `a column does not depend on the other columns of the call`(
        set: InstructionSet
    ) throws {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 13)
        let shape = ConvolutionShape(inputChannels: 33, outputChannels: 50, kernel: 3)
        let input = random.floats(12 * 33)
        let packed = AlignedFloats(packedConvolutionCount(shape))
        packConvolution(
            weights: random.floats(shape.weightCount),
            bias: random.floats(50),
            shape: shape,
            into: packed.base
        )
        let all = AlignedFloats(10 * 50)
        kernels.convolve(input, all.base, shape.adjacentColumns(10), packed.base, shape, nil, false)
        for column in 0..<10 {
            let one = AlignedFloats(50)
            let source = Array(input[(column * 33)...])
            kernels.convolve(source, one.base, shape.adjacentColumns(1), packed.base, shape, nil, false)
            for channel in 0..<50 { #expect(one.base[channel] == all.base[column * 50 + channel]) }
        }
    }

    @Test(arguments: InstructionSet.supported)
    func `folded columns are those of the layer to the last bit`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 14)
        func result(
            _ shape: ConvolutionShape,
            _ columns: Int,
            _ input: [Float],
            _ layer: (weights: [Float], bias: [Float])
        ) -> [Float] {
            let packed = AlignedFloats(packedConvolutionCount(shape))
            packConvolution(weights: layer.weights, bias: layer.bias, shape: shape, into: packed.base)
            let count = columns * shape.outputChannels
            let output = AlignedFloats(count)
            kernels.convolve(input, output.base, shape.adjacentColumns(columns), packed.base, shape, nil, true)
            return Array(UnsafeBufferPointer(start: output.base, count: count))
        }
        for round in 0..<100 {
            let stride = random.int(1...3)
            let count = random.int(1...9)
            var shape = ConvolutionShape(
                inputChannels: random.int(1...9),
                outputChannels: random.int(1...8),
                kernel: 2 * stride + random.int(0...4),
                stride: stride
            )
            let folded = shape.foldableColumns
            #expect(folded == 16 / shape.outputChannels)
            if round % 4 == 0 { shape = shape.over(bands: 3, columns: folded * count, more: random.int(0...9)) }
            let input = random.floats(shape.inputCount(for: folded * count))
            let (weights, bias) = (random.floats(shape.weightCount), random.floats(shape.outputChannels))
            let expected = result(shape, folded * count, input, (weights, bias))
            let layer = foldConvolution(weights: weights, bias: bias, shape: shape, columns: folded)
            #expect(result(shape.folded(folded), count, input, layer) == expected, "\(shape)")
        }
    }

    @Test func `only layers whose columns share inputs and leave panels half empty are folded`() {
        func columns(_ outputs: Int, kernel: Int, stride: Int, dilation: Int = 1, groups: Int = 1) -> Int {
            ConvolutionShape(
                inputChannels: 4,
                outputChannels: outputs,
                kernel: kernel,
                stride: stride,
                dilation: dilation,
                groups: groups
            ).foldableColumns
        }
        let outputs = [1, 2, 3, 4, 5, 8, 9, 16, 17, 40]
        #expect(outputs.map { columns($0, kernel: 4, stride: 2) } == [16, 8, 5, 4, 3, 2, 1, 1, 1, 1])
        #expect(columns(2, kernel: 3, stride: 2) == 1)
        #expect(columns(2, kernel: 1, stride: 1) == 1)
        #expect(columns(2, kernel: 4, stride: 1, dilation: 2) == 1)
        #expect(columns(2, kernel: 4, stride: 1, groups: 2) == 1)
    }
}
