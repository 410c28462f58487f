import Glibc
import KernelInterface
import Kernels
import TestSupport
import Testing

struct ElementwiseTests {
    @Test(arguments: InstructionSet.supported) func `sums are exact, and never negative after ReLU`(
        set: InstructionSet
    ) throws {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 21)
        for count in [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 100] {
            let left = random.floats(count)
            let right = random.floats(count)
            for relu in [false, true] {
                var output = [Float](repeating: 0, count: count)
                kernels.add(left, right, &output, count, relu)
                #expect(output == zip(left, right).map { relu ? max(0, $0 + $1) : $0 + $1 })
            }
        }
    }

    @Test(arguments: InstructionSet.supported) func `NaN passes through a sum with ReLU`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        let left: [Float] = [.nan, 1, -1, 2, .nan]
        var output = [Float](repeating: 0, count: 5)
        kernels.add(left, left, &output, 5, true)
        #expect(output[0].isNaN && output[4].isNaN)
        #expect(Array(output[1...3]) == [2, 0, 4])
    }

    @Test(arguments: InstructionSet.supported) func `means agree with scalar loops`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 22)
        var largest: Float = 0
        for _ in 0..<100 {
            let (columns, width, channels) = (random.int(1...6), random.int(1...20), random.int(1...37))
            let input = random.floats((columns + width - 1) * channels)
            var output = [Float](repeating: 0, count: columns * channels)
            kernels.mean(input, &output, columns, width, channels)
            let expected = ScalarReference.mean(input, columns: columns, width: width, channels: channels)
            largest = max(largest, largestDifference(output, expected))
        }
        print("\(set) mean: worst error \(largest)")
        #expect(largest < 5e-7)
    }

    @Test(arguments: InstructionSet.supported) func `SiLU agrees with double precision, and keeps NaN`(
        set: InstructionSet
    ) throws {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 24)
        for count in [1, 3, 4, 7, 8, 9, 16, 31, 100] {
            var values = random.floats(count, -20...20)
            values[0] = [0, -90, 90, -1e30, 1e30][count % 5]
            let expected = values.map { Double($0) / (1 + exp(-Double($0))) }
            values.withUnsafeMutableBufferPointer { buffer in
                if let base = buffer.baseAddress { kernels.silu(base, count) }
            }
            for (value, number) in zip(values, expected) {
                #expect(abs(Double(value) - number) <= 1e-6 * max(1, abs(number)))
            }
        }
        var values: [Float] = [.nan, 1, .infinity]
        values.withUnsafeMutableBufferPointer { buffer in
            if let base = buffer.baseAddress { kernels.silu(base, 3) }
        }
        #expect(values[0].isNaN && abs(values[1] - 0.731_058_6) < 1e-6 && values[2] == .infinity)
    }

    @Test(arguments: InstructionSet.supported) func `softmax agrees with double precision and sums to one`(
        set: InstructionSet
    ) throws {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 23)
        var largest = 0.0
        for round in 0..<500 {
            // Attention has a hundred.
            let count = random.int(1...(round % 2 == 0 ? 40 : 150))
            let width = Float([0.1, 1, 10, 100, 1e30][round % 5])
            let logits = random.floats(count, -width...width)
            let scale = random.float(0.1...3)
            var output = [Float](repeating: 0, count: count)
            #expect(kernels.softmax(logits, &output, count, scale))
            let sum = output.reduce(0, +)
            #expect(abs(sum - 1) < 1e-5)
            guard width < 1e6 else { continue }
            for (value, expected) in zip(output, ScalarReference.softmax(logits, scale: scale)) where expected > 1e-30 {
                // The rounding of the difference of two logits limits the accuracy of any exponential.
                largest = max(largest, abs(Double(value) / expected - 1) / Double(1 + width * scale))
            }
        }
        print("\(set) softmax: worst relative error \(largest), per unit of logit")
        #expect(largest < 4e-7)
    }

    @Test(arguments: [Float.nan, .infinity, -.infinity])
    func `softmax refuses logits that are not finite`(invalid: Float) throws {
        for set in InstructionSet.supported {
            let kernels = try #require(set.kernels)
            var output = [Float](repeating: 0, count: 3)
            #expect(!kernels.softmax([1, invalid, 2], &output, 3, 1))
            for place in [0, 50, 99] {
                var many = [Float](repeating: 1, count: 100)
                many[place] = invalid
                output = many
                #expect(!kernels.softmax(many, &output, 100, 1))
            }
        }
    }

    @Test(arguments: InstructionSet.supported) func `softmax handles the largest differences`(set: InstructionSet)
        throws
    {
        let kernels = try #require(set.kernels)
        var output = [Float](repeating: 0, count: 2)
        let largest = Float.greatestFiniteMagnitude
        #expect(kernels.softmax([largest, -largest], &output, 2, 1000))
        #expect(output[0] == 1 && output[1] < 1e-30)
    }
}
