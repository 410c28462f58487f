import Testing

@testable import Spotting

/// Where there is sound in a piece of audio.
struct SoundLevelsTests {
    /// One second of a hum at an amplitude, with noise before it, `[32,000]`; what is measured at samples 0 to 10,000.
    private static func isSound(_ before: Float, noise: Float = 0) -> Bool {
        let samples = (0..<32_000).map { index -> Float in
            let amplitude = index >= 16_000 ? 0.5 : (4000..<8000).contains(index) ? before : 0
            let hum: Float = index % 40 < 20 ? 1 : -1
            let random = Float((index &* 7919) % 1000) / 500 - 1
            return amplitude * hum + noise * random
        }
        var levels = SoundLevels(samples: samples.count)
        samples.withUnsafeBufferPointer { levels.measure($0) }
        return levels.isSound(0..<10_000, recent: 24_000)
    }

    @Test(arguments: [(0.5, 0, true), (0.05, 0, true), (0.02, 0, false), (0, 0, false)] as [(Float, Float, Bool)])
    func `sound is at most 25 dB below the loudest`(before: Float, noise: Float, isSound: Bool) {
        #expect(Self.isSound(before, noise: noise) == isSound)
    }

    @Test(
        arguments: [(0, 0.1, false), (0.05, 0.1, false), (0.3, 0.1, true), (0, 0.5, false)] as [(Float, Float, Bool)]
    )
    func `sound is 6 dB above what is always there`(before: Float, noise: Float, isSound: Bool) {
        #expect(Self.isSound(before, noise: noise) == isSound)
    }

    @Test func `nothing is not sound, wherever it is sought`() {
        var levels = SoundLevels(samples: 1000)
        for samples in [[Float](repeating: 0, count: 1000), [Float](repeating: .infinity, count: 1000), [1]] {
            samples.withUnsafeBufferPointer { levels.measure($0) }
            for range in [0..<1000, -9000..<(-10), 5000..<9000, 10..<20, -100..<100_000] {
                #expect(!levels.isSound(range, recent: 24_000) || samples == [1])
            }
        }
        var none = SoundLevels(samples: 0)
        [Float]().withUnsafeBufferPointer { none.measure($0) }
        #expect(!none.isSound(0..<100, recent: 100))
    }
}
