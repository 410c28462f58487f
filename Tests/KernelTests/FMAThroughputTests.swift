import KernelInterface
import Kernels
import Testing

struct FMAThroughputTests {
    @Test(arguments: InstructionSet.supported)
    func `all multiply-adds that are counted are executed`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        guard let fmaThroughput = kernels.fmaThroughput else {
            #expect(set == .scalar)
            return
        }
        for rounds in [0, 1, 2, 7] {
            var output = [Float](repeating: .nan, count: 16)
            let count = fmaThroughput(rounds, &output)
            let lanes = output.count { !$0.isNaN }
            #expect([4, 8, 16].contains(lanes) && count == rounds * 12 * lanes)
            // Twelve sums start at 0.5, 1.5, … 11.5. Each round adds 0.5 · 0.25 to each sum; without FMA it halves each
            // sum and adds 0.25.
            let fused = 72 + 12 * 0.125 * Float(rounds)
            let halved = (0..<rounds).reduce(72) { sum, _ in sum * 0.5 + 12 * 0.25 } as Float
            for value in output.prefix(lanes) { #expect(value == fused || value == halved) }
        }
    }
}
