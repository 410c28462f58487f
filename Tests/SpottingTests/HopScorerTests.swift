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
    /// Holds what a trial changes.
    private final class Stream {
        var scorer: HopScorer

        init(_ model: Model) { scorer = HopScorer(model: model) }

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
