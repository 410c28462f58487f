import Foundation
import Inference
import Spotting
import TestSupport
import Testing

/// Activity and lookahead scores, on a network with random weights.
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

    @Test func `a model with an activity layer gives the activity`() throws {
        let model = try Self.model()
        var scorer = HopScorer(Vocabulary(model))
        var session = InferenceStream(model)
        let audio = Self.audio
        var said: [Bool] = []
        for hop in 1...20 {
            let window = audio.span.extracting(hop * 1600..<hop * 1600 + 16_000)
            scorer.score(window: window)
            session.score(window: window)
            said += session.activity.map { $0 >= 0 }
            #expect(scorer.activity.newest(4) == said.suffix(4))
        }
        #expect(scorer.activity.stepSeconds == 0.025 && said.contains(true) && said.contains(false))
        scorer.flush()
        #expect(scorer.activity == ActivityHistory(stepSeconds: 0.025))
    }

    @Test func `the next hop is computed ahead in quiet, and the stream stays the same`() throws {
        let model = try Self.model()
        var plain = HopScorer(Vocabulary(model))
        var ahead = HopScorer(Vocabulary(model), lookaheadQuiet: 0.05...0.5)
        let audio = Self.audio
        var computed = 0
        for hop in 1...20 {
            let window = audio.span.extracting(hop * 1600..<hop * 1600 + 16_000)
            plain.score(window: window)
            ahead.score(window: window)
            #expect(ahead.scores == plain.scores && plain.lookahead == nil)
            let isQuiet = (0.05...0.5).contains(ahead.activity.quietSeconds)
            #expect((ahead.lookahead != nil) == isQuiet)
            guard let posteriors = ahead.lookahead?.posteriors else { continue }
            computed += 1
            // Up to here, the stream has not processed a whole window.
            guard hop > 10 else { continue }
            // The same by hand: the window one hop later, its last hop filled with the newest quiet, mirrored.
            let quiet = min(1600, Int(ahead.activity.quietSeconds * 16_000))
            let tail = (0..<quiet).map { window[16_000 - quiet + $0] }
            let fill = Array((tail.reversed() + tail + tail.reversed() + tail).prefix(1600))
            var session = InferenceStream(model)
            let moved = (0..<14_400).map { window[1600 + $0] } + fill
            session.scoreWhole(window: moved.span)
            for (left, right) in zip(posteriors, session.posteriors) { #expect(abs(left - right) < 1e-4) }
        }
        #expect(computed > 0 && computed < 20)
        ahead.flush()
        #expect(ahead.lookahead == nil)
    }

    @Test func `the next hop is computed ahead only if some word is likely`() throws {
        let fast = try Voices.samples("Side_Left")
        let voice = stride(from: 0, to: fast.count, by: 3).map { fast[$0] }
        let audio = [Float](repeating: 0, count: 16_000) + voice + [Float](repeating: 0, count: 16_000)
        var scorer = HopScorer(Vocabulary(try Model(folder: Checkout.model)), lookaheadQuiet: 0...60)
        var computed: [Double] = []
        for hop in 1...(audio.count - 16_000) / 1600 {
            scorer.score(window: audio.span.extracting(hop * 1600..<hop * 1600 + 16_000))
            guard scorer.lookahead != nil else { continue }
            #expect(scorer.scores.posteriors.prefix(10).contains { $0 >= 0.02 })
            computed.append(Double(hop) / 10)
        }
        // "side left" is said from 0.3 to 1.1 s, and the window has left it a second later; the hops are of 2.4 s.
        #expect(!computed.isEmpty && computed.count < 15 && computed.allSatisfy { $0 > 0.2 && $0 < 2.2 }, "\(computed)")
    }

    /// The mutable state of a trial.
    private final class Stream {
        var scorer: HopScorer

        init(_ model: Model) { scorer = HopScorer(Vocabulary(model), lookaheadQuiet: 0...60) }

        func process(_ audio: [Float]) {
            for hop in 1...4 { scorer.score(window: audio.span.extracting(hop * 1600..<hop * 1600 + 16_000)) }
            scorer.flush()
        }
    }

    @Test func `scoring hops, the next ones included, allocates nothing`() throws {
        let stream = Stream(try Self.model())
        let audio = Self.audio
        #expect(HeapTrial { stream.process(audio) }.isQuiet(seconds: 30))
    }
}
