import Glibc
import TestSupport
import Testing

@testable import Diagnostics

/// Measurements, compared with the parameters of synthetic signals.
struct MeasureTests {
    private func statistics(_ samples: [Float], rate: Int = 16_000, piece: Int = 777) -> SampleStatistics {
        var statistics = SampleStatistics(sampleRate: rate)
        for start in stride(from: 0, to: samples.count, by: piece) {
            statistics.add(Array(samples[start..<min(start + piece, samples.count)]).span)
        }
        return statistics
    }

    @Test(arguments: [1.2, 2, 10])
    func `a sine cut off at full scale is clipped for as long as it would be above`(_ amplitude: Double) {
        // |a sin| is above 1 for 1 − 2/π · asin(1/a) of the time.
        let expected = 1 - 2 / Double.pi * asin(1 / amplitude)
        let samples = Signals.sine(97, amplitude: amplitude, seconds: 2, rate: 48_000).map { min(max($0, -1), 1) }
        let found = statistics(samples, rate: 48_000)
        #expect(abs(found.clippedShare - expected) < 0.005, "\(found.clippedShare)")
        // Two runs per period, 97 periods per second, two seconds.
        #expect(found.clippedTimes.count == 388)
        #expect(abs(found.clippedTimes[1] - found.clippedTimes[0] - 1 / 194.0) < 1e-4)
        #expect(found.peak == 1)
    }

    @Test func `a peak that touches full scale once is not clipped`() {
        #expect(statistics([0, 0.5, 1, 0.5, -1, 1, 0]).clippedCount == 2)
        #expect(statistics([0, 0.5, 1, 0.5, 0]).clippedCount == 0)
        #expect(statistics(Signals.sine(440, amplitude: 0.99, seconds: 1)).clippedCount == 0)
    }

    @Test func `results do not depend on the size of the pieces`() {
        let samples =
            Signals.sine(50, amplitude: 3, seconds: 1).map { min(max($0, -1), 1) } + [Float](repeating: 0, count: 5000)
        let whole = statistics(samples, piece: samples.count)
        for piece in [1, 2, 1000] { #expect(statistics(samples, piece: piece) == whole) }
    }

    @Test func `the mean is the offset`() {
        let found = statistics(Signals.sine(100, amplitude: 0.2, seconds: 1) + 0.05)
        #expect(abs(found.mean - 0.05) < 1e-5)
        #expect(statistics([]).mean == 0)
    }

    @Test func `stretches of zeros count from a tenth of a second on`() {
        let sound = [Float](repeating: 0.1, count: 4000)
        func zeros(_ count: Int) -> [Float] { [Float](repeating: 0, count: count) }
        #expect(statistics(sound + zeros(4000) + sound + zeros(4000)).silentShare == 0.5)
        #expect(statistics(sound + zeros(1600) + sound).silentShare == 0)
        #expect(statistics(zeros(8000)).silentShare == 1)
    }

    @Test func `levels of a tone over quiet noise`() {
        // One second of the five is a sine of −6 dB amplitude, −9.03 dB mean square.
        var samples = Signals.noise(-70, seconds: 5)
        samples.replaceSubrange(16_000..<32_000, with: Signals.sine(400, amplitude: 0.5, seconds: 1))
        let levels = Levels(samples + 0.05, sampleRate: 16_000)
        #expect(abs(levels.loudest + 9.03) < 0.1, "\(levels.loudest)")
        #expect(abs(levels.overall + 9.03 + 6.99) < 0.1, "\(levels.overall)")
        #expect(abs(levels.floor + 70) < 1, "\(levels.floor)")
    }

    @Test func `levels of very short recordings`() {
        for samples in [[], [0], [Float](repeating: 0, count: 9999)] as [[Float]] {
            let levels = Levels(samples, sampleRate: 16_000)
            #expect(levels.overall == -120 && levels.loudest == -120 && levels.floor == -120)
        }
        #expect(Levels([0.5, -0.5], sampleRate: 16_000).loudest.rounded() == -6)
    }

    @Test(arguments: [(50.0, -30.0, -25.0), (60, -30, -25), (50, -45, -30), (60, -60, -60)])
    func `hum is found at its frequency and level, under speech too`(
        _ hertz: Double,
        _ level: Double,
        _ speech: Double
    ) {
        let amplitude = (2 * pow(10, level / 10)).squareRoot()
        let samples = mixed(
            Signals.sine(hertz, amplitude: amplitude, seconds: 3.3),
            Signals.speech(speech, seconds: 3.3)
        )
        let hum = Hum.find(in: samples, sampleRate: 16_000)
        #expect(hum?.hertz == hertz)
        #expect(abs((hum?.level ?? 0) - level) < 1, "\(String(describing: hum))")
    }

    @Test func `no hum in noise, in speech, in other tones, in too little sound`() throws {
        let signals = [
            Signals.noise(-20, seconds: 2), Signals.speech(-20, seconds: 2),
            Signals.sine(70, amplitude: 0.3, seconds: 2),
            Signals.sine(50, amplitude: 0.0002, seconds: 2), Signals.sine(50, amplitude: 0.3, seconds: 0.4), [],
            Array(repeating: 0.3, count: 32_000), Array(repeating: 0, count: 32_000),
        ]
        for (index, signal) in signals.enumerated() {
            let hum = Hum.find(in: signal, sampleRate: 16_000)
            #expect(hum == nil, "\(index)")
        }
    }

    @Test(arguments: [1000.0, 3400, 5500])
    func `band-limited noise ends where it was cut`(_ hertz: Double) throws {
        let samples = Signals.lowPassed(hertz, level: -20, seconds: 1)
        let highest = try #require(Bandwidth.highest(of: samples, sampleRate: 16_000))
        // The filter's slope reaches about 350 Hz past the edge.
        #expect(highest >= hertz - 125 && highest <= hertz + 400, "\(highest)")
    }

    @Test func `white noise reaches the end, a tone only itself, silence nothing`() throws {
        #expect(try #require(Bandwidth.highest(of: Signals.noise(-30, seconds: 1), sampleRate: 16_000)) == 7875)
        let tone = Bandwidth.highest(of: Signals.sine(1000, amplitude: 0.1, seconds: 1), sampleRate: 16_000)
        #expect(try (1000...1250).contains(#require(tone)))
        #expect(Bandwidth.highest(of: [Float](repeating: 0, count: 9000), sampleRate: 16_000) == nil)
        #expect(Bandwidth.highest(of: [0.5], sampleRate: 16_000) == nil)
    }
}
