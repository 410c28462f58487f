import Foundation
import Spotting
import Testing

struct EnergyActivityDetectorTests {
    /// Noise of one amplitude with a louder part in it, given in seconds from the start.
    private func audio(seconds: Double, background: Float, loud: Float, from: Double, to: Double) -> [Float] {
        var generator = SystemRandomNumberGenerator()
        return (0..<Int(seconds * 16000)).map { index in
            let time = Double(index) / 16000
            let amplitude = time >= from && time < to ? loud : background
            return Float.random(in: -1...1, using: &generator) * amplitude
        }
    }

    @Test(arguments: [Float(0), 0.001, 0.01, 0.05])
    func `start and end of a sound in noise`(_ background: Float) throws {
        let samples = audio(seconds: 4, background: background, loud: 0.3, from: 3, to: 3.5)
        var detector = EnergyActivityDetector()
        for start in stride(from: 0, to: samples.count, by: 1600) {
            detector.add(samples.span.extracting(start..<start + 1600))
        }
        let bounds = try #require(detector.history.lastSegment(within: 1.5))
        #expect(abs(bounds.start - 1.0) < 0.03)
        #expect(abs(bounds.end - 0.5) < 0.03)
        #expect(abs(detector.history.quietSeconds - 0.5) < 0.03)
    }

    @Test func `steady noise is the noise floor at every level, after a few seconds`() {
        for amplitude in [Float(0), 0.0001, 0.01, 1] {
            let samples = audio(seconds: 5, background: amplitude, loud: 0, from: 9, to: 9)
            var detector = EnergyActivityDetector()
            detector.add(samples.span)
            #expect(detector.history.lastSegment(within: 1.5) == nil, "amplitude \(amplitude)")
        }
    }

    @Test func `a flush forgets`() {
        var detector = EnergyActivityDetector()
        detector.add(audio(seconds: 1, background: 0, loud: 0.5, from: 0.5, to: 1).span)
        #expect(detector.history.lastSegment(within: 1) != nil)
        detector.flush()
        #expect(detector.history.lastSegment(within: 1) == nil)
        #expect(detector.history.quietSeconds > 1000)
    }
}
