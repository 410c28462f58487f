import Foundation
import Inference
import TestSupport
import Testing

@testable import Enrollment
@testable import Spotting

struct NegativeSetTests {
    @Test func `a negative set of another embedding is refused`() throws {
        let folder = try TestFolder()
        let model = try RecordedTakes.model()
        let flat = URL(fileURLWithPath: RecordedTakes.folder).deletingLastPathComponent().appendingPathComponent(
            "flatspeech"
        )
        #expect(throws: ModelError.self) { try NegativeSet(folder: folder.path, model: model) }
        let other = try Model(folder: flat.path)
        #expect(throws: ModelError.self) { try NegativeSet(folder: RecordedTakes.folder, model: other) }
    }

    @Test(arguments: 1...4) func `talk has the similarities that a detector computes of it`(count: Int) throws {
        let model = try RecordedTakes.model()
        let negatives = try NegativeSet(folder: RecordedTakes.folder, model: model)
        // Templates from the talk itself, each as late as the allowed shift permits: they match at `peak`.
        let (spacing, peak) = (4, 1000)
        let templates = (0..<count).map { negatives.talk[peak - $0 * spacing + $0] }
        let highest = try #require(negatives.talkSimilarities(templates, spacing: spacing).first)
        let boundary: Float = 0.8
        let word = try #require(
            PersonalWord(
                name: "w",
                threshold: 0.8,
                templates: templates,
                templateSpacing: spacing,
                boundary: boundary
            )
        )
        var scorer = PersonalScorer([word], dimensions: model.embeddingCount)
        var best: Float = 0
        for hop in peak - 40...peak + 10 {
            scorer.add(negatives.talk[hop])
            best = max(best, scorer.probabilities[0])
        }
        #expect(abs(boundary + PersonalWord.margin(probability: best) - highest) < 1e-3)
    }
}
