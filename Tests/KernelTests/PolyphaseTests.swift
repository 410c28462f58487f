import Glibc
import KernelInterface
import Kernels
import TestSupport
import Testing

struct PolyphaseTests {
    @Test(arguments: InstructionSet.supported)
    func `resampling agrees with scalar sums, for chunks of any size`(set: InstructionSet) throws {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 51)
        for round in 0..<90 {
            // Decimation, then ratios above and below 1.
            let phases = round % 3 == 0 ? 1 : random.int(2...9)
            let shape = PolyphaseShape(phases: phases, step: random.int(1...25), tapCount: 16 * random.int(1...20))
            let (count, phase) = (random.int(1...70), random.int(0...(phases - 1)))
            let taps = random.floats(shape.phases * shape.tapCount)
            let input = random.floats((phase + (count - 1) * shape.step) / phases + shape.tapCount)
            var output = [Float](repeating: 0, count: count + 1)
            output[count] = 77
            kernels.resample(input, &output, count, phase, shape, taps)
            #expect(output[count] == 77)
            for index in 0..<count {
                let (first, own) = (phase + index * shape.step).quotientAndRemainder(dividingBy: phases)
                let weights = taps[own * shape.tapCount..<(own + 1) * shape.tapCount]
                let sum = zip(weights, input[first...]).reduce(0) { $0 + Double($1.0) * Double($1.1) }
                #expect(abs(Double(output[index]) - sum) < 2e-5, "round \(round)")
                var alone: Float = 0
                kernels.resample(Array(input[first...]), &alone, 1, own, shape, taps)
                #expect(alone == output[index])
            }
        }
    }

    @Test(arguments: InstructionSet.supported) func `a correlation is the sum of products at each place`(
        set: InstructionSet
    ) throws {
        let kernels = try #require(set.kernels)
        var random = SplitMix(seed: 61)
        for (short, long) in [(1, 1), (15, 40), (16, 16), (17, 64), (256, 513), (3, 2)] {
            let (pattern, signal) = (random.floats(short), random.floats(long))
            let expected = (0..<max(0, long - short + 1)).map { place in
                (0..<short).reduce(0.0) { $0 + Double(pattern[$1]) * Double(signal[place + $1]) }
            }
            let products = kernels.correlation(of: pattern, with: signal)
            #expect(products.count == expected.count)
            for (product, sum) in zip(products, expected) { #expect(abs(Double(product) - sum) < 1e-5) }
        }
        #expect(kernels.correlation(of: [], with: [1, 2]) == [0, 0, 0])
    }

    @Test func `the taps of all phases are samples of one symmetric low-pass`() {
        let shape = PolyphaseShape(phases: 160, step: 441, tapCount: 288)
        #expect(PolyphaseShape.taps(transition: 1_000 / 44_100, attenuation: 100) == 288)
        let taps = shape.lowPass(cutOff: 7_500 / 22_050, attenuation: 100)
        let rows = (0..<160).map { Array(taps[$0 * 288..<($0 + 1) * 288]) }
        // Mirroring the time turns phase p into phase 160 − p, one input later.
        for phase in 1..<160 { #expect(rows[phase] == rows[160 - phase].reversed()) }
        #expect(rows[0].prefix(287) == rows[0].prefix(287).reversed()[...])
        for (phase, row) in rows.enumerated() {
            let gain = row.reduce(0.0) { $0 + Double($1) }
            #expect(abs(gain - 1) < 2e-5, "gain of phase \(phase)")
        }
        // The gain of the filter at a frequency, from its impulse response at 160 times the input rate.
        func gain(_ hertz: Double) -> Double {
            var (real, imaginary) = (0.0, 0.0)
            for (phase, row) in rows.enumerated() {
                for (tap, weight) in row.enumerated() {
                    let angle = 2 * Double.pi * hertz / 44_100 * (Double(tap - 143) - Double(phase) / 160)
                    real += Double(weight) * cos(angle)
                    imaginary += Double(weight) * sin(angle)
                }
            }
            return (real * real + imaginary * imaginary).squareRoot() / 160
        }
        for step in 0...20 { #expect(abs(gain(7_000 * Double(step) / 20) - 1) < 1.5e-5) }
        for step in 0...40 { #expect(gain(8_000 + 350_000 * Double(step) / 40) < 1.5e-5) }
    }
}
