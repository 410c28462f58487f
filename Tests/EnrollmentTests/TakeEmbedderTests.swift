import Testing

@testable import Enrollment

struct TakeEmbedderTests {
    @Test func `a word is most similar to itself at another level`() throws {
        let model = try RecordedTakes.model()
        var embedder = TakeEmbedder(model)
        func templates(_ name: String, gain: Float = 1) throws -> [[Float]] {
            let utterance = try RecordedTakes.utterance(name)
            let samples = utterance.samples.map { $0 * gain }
            return embedder.templates(of: Utterance(samples: samples, speech: utterance.speech), spacing: 0)
        }
        let names = ["Front_Left", "Side_Right", "Rear_Center"]
        let vectors = try names.map { try templates($0)[0] }
        for (index, vector) in vectors.enumerated() {
            #expect(abs(dot(vector, vector) - 1) < 1e-4)
            let quieter = try templates(names[index], gain: 0.3)[0]
            #expect(dot(vector, quieter) > 0.9)
            for other in vectors[(index + 1)...] { #expect(dot(vector, other) < 0.75) }
        }
    }

    /// 0.78 with templates of the utterance's own speed alone.
    @Test func `a word is similar to itself at another speed`() throws {
        var embedder = TakeEmbedder(try RecordedTakes.model())
        var similarities: [Float] = []
        for name in ["Front_Left", "Side_Right", "Rear_Center"] {
            let said = try RecordedTakes.utterance(name)
            let own = embedder.templates(of: said, spacing: 0)[0]
            for speed in [0.75, 1.35] {
                let samples = said.samples[...].stretched(speed: speed)
                let speech = Int(Double(said.speech.lowerBound) / speed)..<Int(Double(said.speech.upperBound) / speed)
                let changed = Utterance(samples: samples, speech: speech)
                similarities.append(dot(own, embedder.templates(of: changed, spacing: 0)[0]))
            }
        }
        #expect((similarities.min() ?? 0) > 0.83, "\(similarities)")
    }

    @Test func `the templates of a phrase are further apart than those of a word`() throws {
        let model = try RecordedTakes.model()
        for seconds in [0.3, 0.6, 1.2] {
            #expect(TakeEmbedder.templateSpacing(seconds: seconds, name: "hey big house", model) == 4)
        }
        #expect(TakeEmbedder.templateSpacing(seconds: 1.4, name: "hey big house", model) == 6)
        #expect(TakeEmbedder.templateSpacing(seconds: 2, name: "hey big house", model) == 12)
        #expect(TakeEmbedder.templateSpacing(seconds: 9, name: "hey big house", model) == 14)
        var embedder = TakeEmbedder(model)
        let templates = embedder.templates(of: try RecordedTakes.utterance("Rear_Left"), spacing: 6)
        #expect(templates.count == 2 && dot(templates[0], templates[1]) < 0.9)
    }
}
