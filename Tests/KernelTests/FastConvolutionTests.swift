import KernelInterface
import Kernels
import TestSupport
import Testing

/// The fast algorithm against the plain quantised convolution: in integers both are exact, so that results must be equal to the last bit.
struct FastConvolutionTests {
    private struct Layer {
        let shape: ConvolutionShape
        let packed: AlignedFloats
        let fast: AlignedFloats
        /// Whether the fast algorithm can compute it.
        let isPacked: Bool

        init(_ shape: ConvolutionShape, _ weights: [Float], _ bias: [Float], _ quantiser: Quantiser) {
            self.shape = shape
            func zeros(_ count: Int) -> AlignedFloats {
                let floats = AlignedFloats(count)
                floats.base.initialize(repeating: 0, count: count)
                return floats
            }
            packed = zeros(packedQuantisedCount(shape))
            packQuantisedConvolution(
                weights: weights,
                bias: bias,
                shape: shape,
                quantiser: quantiser,
                layout: .uint8x4,
                into: packed.base
            )
            fast = zeros(FastConvolution(shape).packedCount)
            isPacked = packFastConvolution(packed.base, shape: shape, into: fast.base)
        }
    }

    @Test(arguments: InstructionSet.supported)
    func `the fast algorithm gives the results of the plain one to the last bit`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        guard let convolveFast = kernels.convolveFast else { return }
        var random = SplitMix(seed: 99)
        var (packedCount, excessCount) = (0, 0)
        for round in 0..<80 {
            let shape = ConvolutionShape(
                inputChannels: 16 * random.int(1...6),
                outputChannels: 16 * random.int(1...9),
                kernel: random.int(5...9)
            )
            let columns = 2 * random.int(4...14) + 1
            #expect(shape.isFast(columns: columns))
            // In most rounds some weights are far from those of the next tap, by more than 8 bits.
            var weights = random.floats(shape.weightCount, round % 4 == 0 ? -1...1 : -0.1...0.1)
            if round % 4 != 0 {
                for _ in 0..<shape.outputChannels / 16 {
                    let place = random.int(0...shape.weightCount - shape.inputChannels - 1)
                    weights[place] = 1
                    weights[place + shape.inputChannels] = -1
                }
            }
            let quantiser = Quantiser(range: 3, isNonNegative: round % 2 == 0)
            let layer = Layer(shape, weights, random.floats(shape.outputChannels), quantiser)
            guard layer.isPacked else { continue }
            packedCount += 1
            let counts = UnsafeRawPointer(layer.fast.base + FastConvolution(shape).excessOffset)
            let rows = (0..<shape.outputChannels / 16).map { counts.load(fromByteOffset: 4 * $0, as: Int32.self) }
            if rows.contains(where: { $0 > 0 }) { excessCount += 1 }
            let input = random.floats(shape.inputColumns(for: columns) * shape.inputChannels, -3.1...3.1)
            let quantised = QuantisedInputs(input.count, kernels.quantisedLayout)
            #expect(kernels.quantise(input, quantised.base, input.count, quantiser))
            let count = columns * shape.outputChannels
            let residual = round % 3 == 0 ? nil : random.floats(count)
            let scratch = AlignedFloats(FastConvolution(shape).scratchBytes(columns: columns) / 4)
            for (hasFloats, isQuantised) in [(true, false), (false, true), (true, true)] {
                func results(_ compute: (QuantisedOutput) -> Void) -> (floats: [Float], numbers: [Int]) {
                    let floats = AlignedFloats(count + 1)
                    floats.base.initialize(repeating: 77, count: count + 1)
                    let numbers = QuantisedInputs(count, kernels.quantisedLayout)
                    var output = QuantisedOutput()
                    if hasFloats { output.floats = floats.base }
                    if isQuantised { output.quantised = numbers.base }
                    output.quantisedStride = shape.outputChannels * kernels.quantisedLayout.inputBytes
                    output.quantiser = Quantiser(range: 2, isNonNegative: true)
                    compute(output)
                    #expect(numbers.isUntouchedBehind)
                    return (Array(UnsafeBufferPointer(start: floats.base, count: count + 1)), numbers.numbers)
                }
                let (bytes, packed, fast) = (quantised.base, layer.packed.base, layer.fast.base)
                let expected = results { output in
                    let adjacent = shape.adjacentColumns(columns)
                    kernels.convolveQuantised(bytes, output, adjacent, packed, shape, residual, true)
                }
                let memory = UnsafeMutableRawPointer(scratch.base)
                let found = results { output in
                    convolveFast(bytes, output, columns, packed, fast, shape, residual, true, memory)
                }
                #expect(found.floats == expected.floats, "\(shape), \(columns) columns")
                #expect(found.numbers == expected.numbers, "\(shape), \(columns) columns")
            }
        }
        #expect(packedCount > 40 && excessCount > 20)
        print("\(set) fast convolution: \(packedCount) layers, \(excessCount) with excess")
    }

    @Test func `a layer whose adjacent taps differ too often is left to the plain algorithm`() {
        let shape = ConvolutionShape(inputChannels: 32, outputChannels: 16, kernel: 6)
        // One large weight in each lane of AVX2's sums, with the opposite sign in the next tap.
        func layer(_ isAlternating: (_ input: Int) -> Bool) -> Layer {
            let weights = (0..<shape.weightCount).map { place -> Float in
                let (tap, input) = (place / 32 % 6, place % 32)
                return isAlternating(input) ? (tap % 2 == 0 ? 1 : -1) : 0.01
            }
            return Layer(shape, weights, [Float](repeating: 0, count: 16), Quantiser(range: 1, isNonNegative: true))
        }
        #expect(layer { $0 == 3 }.isPacked)
        #expect(!layer { $0 % 16 == 3 || $0 % 16 == 5 }.isPacked)
    }

    @Test func `few or evenly many columns, strides and short kernels are not computed fast`() {
        func isFast(
            _ outputs: Int = 16,
            _ columns: Int = 9,
            kernel: Int = 5,
            stride: Int = 1,
            dilation: Int = 1
        ) -> Bool {
            ConvolutionShape(
                inputChannels: 16,
                outputChannels: outputs,
                kernel: kernel,
                stride: stride,
                dilation: dilation
            ).isFast(columns: columns)
        }
        #expect(isFast())
        #expect(!isFast(20) && !isFast(16, 7) && !isFast(16, 10))
        #expect(!isFast(kernel: 4) && !isFast(stride: 2) && !isFast(dilation: 2))
    }
}
