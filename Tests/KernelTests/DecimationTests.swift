import KernelInterface
import Kernels
import TestSupport
import Testing

struct DecimationTests {
    @Test(arguments: InstructionSet.supported)
    func `decimation agrees with scalar sums, for chunks of any size`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 51)
        for round in 0..<60 {
            let (count, factor, tapCount) = (random.int(1...21), random.int(1...12), 16 * random.int(1...20))
            let taps = random.floats(tapCount)
            let input = random.floats((count - 1) * factor + tapCount)
            var output = [Float](repeating: 0, count: count + 1)
            output[count] = 77
            kernels.decimate(input, &output, count, factor, taps, tapCount)
            #expect(output[count] == 77)
            for index in 0..<count {
                let sum = (0..<tapCount).reduce(0) { $0 + Double(taps[$1]) * Double(input[index * factor + $1]) }
                #expect(abs(Double(output[index]) - sum) < 2e-5, "round \(round)")
                var alone: Float = 0
                kernels.decimate(Array(input[(index * factor)...]), &alone, 1, factor, taps, tapCount)
                #expect(alone == output[index])
            }
        }
    }
}
