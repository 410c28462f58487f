import Foundation
import Inference
import Spotting
import TestSupport
import Testing

/// Where the gate's knowledge of pauses comes from.
struct HopScorerTests {
    /// A network of random weights with an activity layer.
    private static func model() throws -> Model {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try Model(folder: tests.appendingPathComponent("InferenceTests/Fixtures/streaming").path)
    }

    /// Three seconds of a tone that glides from 100 to 3100 Hz, under noise every other tenth.
    private static let audio: [Float] = {
        var random = SplitMix(seed: 91)
        return (0..<48_000).map { index in
            let time = Double(index) / 16_000
            let noise = Float.random(in: -1...1, using: &random) * (index / 1600 % 2 == 0 ? 0.2 : 0.001)
            return noise + 0.3 * Float(sin(2 * Double.pi * (100 + 500 * time) * time))
        }
    }()

    @Test func `a model with an activity layer says itself where there is speech`() throws {
        let model = try Self.model()
        var scorer = HopScorer(model: model)
        var session = Session(model)
        let audio = Self.audio
        var said: [Bool] = []
        for hop in 1...20 {
            let window = audio.span.extracting(hop * 1600..<hop * 1600 + 16_000)
            scorer.hear(window: window)
            session.score(window: window)
            said += session.activity.map { $0 >= 0 }
            #expect(scorer.sound.newest(4) == said.suffix(4))
        }
        #expect(scorer.sound.stepSeconds == 0.025 && said.contains(true) && said.contains(false))
        scorer.flush()
        #expect(scorer.sound == SoundActivity(stepSeconds: 0.025))
    }

    @Test func `a hop is foreseen in quiet, and the stream is not touched`() throws {
        let model = try Self.model()
        var plain = HopScorer(model: model)
        var ahead = HopScorer(model: model, foreseenQuiet: 0.05...0.5)
        let audio = Self.audio
        var foreseen = 0
        for hop in 1...20 {
            let window = audio.span.extracting(hop * 1600..<hop * 1600 + 16_000)
            plain.hear(window: window)
            ahead.hear(window: window)
            #expect(ahead.answer == plain.answer && plain.foreseen == nil)
            let isQuiet = (0.05...0.5).contains(ahead.sound.quietSeconds)
            #expect((ahead.foreseen != nil) == isQuiet)
            guard let posteriors = ahead.foreseen?.posteriors else { continue }
            foreseen += 1
            // A stream is a window once it has heard one whole.
            guard hop > 10 else { continue }
            // The same by hand: a window moved on, its end made of the newest quiet, mirrored.
            let quiet = min(1600, Int(ahead.sound.quietSeconds * 16_000))
            let tail = (0..<quiet).map { window[16_000 - quiet + $0] }
            let fill = Array((tail.reversed() + tail + tail.reversed() + tail).prefix(1600))
            var session = Session(model)
            let moved = (0..<14_400).map { window[1600 + $0] } + fill
            session.scoreWhole(window: moved.span)
            for (left, right) in zip(posteriors, session.posteriors) { #expect(abs(left - right) < 1e-4) }
        }
        #expect(foreseen > 0 && foreseen < 20)
        ahead.flush()
        #expect(ahead.foreseen == nil)
    }

    /// Holds what a trial changes.
    private final class Stream {
        var scorer: HopScorer

        init(_ model: Model) { scorer = HopScorer(model: model, foreseenQuiet: 0...60) }

        func hear(_ audio: [Float]) {
            for hop in 1...4 { scorer.hear(window: audio.span.extracting(hop * 1600..<hop * 1600 + 16_000)) }
            scorer.flush()
        }
    }

    @Test func `following speech allocates nothing`() throws {
        let stream = Stream(try Self.model())
        let audio = Self.audio
        #expect(HeapTrial { stream.hear(audio) }.isQuiet(seconds: 30))
    }
}
