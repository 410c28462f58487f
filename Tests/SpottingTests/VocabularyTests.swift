import Inference
import Testing

@testable import Spotting

struct VocabularyTests {
    @Test func `posteriors and probabilities of taught words are fused`() throws {
        let model = try RecordedVoice.model()
        func word(_ name: String) throws -> TaughtWord {
            try #require(TaughtWord(name: name, threshold: 0.5, templates: [[1]], templateSpacing: 0, boundary: 0.5))
        }
        // "stop" is one of the model's words already, so it gets no second label.
        let vocabulary = Vocabulary(model, taught: try ["lights", "stop", "lamp"].map(word))
        #expect(vocabulary.labels.count == model.labels.count + 2)
        #expect(vocabulary.silenceIndex == vocabulary.labels.count - 1)
        var posteriors = [Float](repeating: 0, count: model.labels.count)
        let stop = try #require(model.labels.firstIndex(of: "stop"))
        posteriors[stop] = 0.25
        posteriors[model.labels.count - 2] = 0.5
        posteriors[model.labels.count - 1] = 0.25
        var fused = vocabulary.fused(posteriors, [0.6, 0.2, 0.2])
        func share(_ name: String) -> Float { vocabulary.labels.firstIndex(of: name).map { fused[$0] } ?? -1 }
        // M = 0.6. The likeliest of the taught words keeps it; the other one has less by the ratio of their odds, 6 to 1, to
        // the power of 2.5. The model's words are
        // multiplied by 0.8, silence by 0.4 and unknown by 0.4^8. Then "stop", with q = 0.2, takes 1 / 33 of unknown
        // and silence.
        let doubt: Float = 0.4 * 0.4 * 0.4 * 0.4 * 0.4 * 0.4 * 0.4 * 0.4
        let power: Float = 6 * 6 * Float(6).squareRoot()
        #expect(abs(share("lights") - 0.6) < 1e-6 && abs(share("lamp") - 0.6 / power) < 1e-6)
        #expect(abs(share("stop") - (0.25 * 0.8 + (0.1 + 0.5 * doubt) / 33)) < 1e-6)
        #expect(
            abs(share("_unknown_") - 0.5 * doubt * 32 / 33) < 1e-6 && abs(share("_silence_") - 0.1 * 32 / 33) < 1e-6
        )
        fused = vocabulary.fused(posteriors, [0, 0, 0])
        #expect(share("stop") == 0.25 && fused.reduce(0, +) == 1)
        // Two words that sound alike: neither takes the other's score.
        fused = vocabulary.fused(posteriors, [0.9, 0, 0.89])
        #expect(abs(share("lights") - 0.9) < 1e-6 && share("lamp") > 0.65 && share("lamp") < 0.89)
    }
}
