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

    @Test(arguments: 1...3) func `talk has the similarities that a detector computes of it`(count: Int) throws {
        let model = try RecordedTakes.model()
        let negatives = try NegativeSet(folder: RecordedTakes.folder, model: model)
        // Templates of a phrase from the talk itself, each as late as the allowed shift permits: they match at `peak`.
        let (spacing, peak) = (5, 1000)
        let templates = (0..<count).map { negatives.talk[peak - $0 * spacing + $0] }
        let taught = WordStore.Word(
            name: "w",
            embedding: model.embeddingIdentity,
            takes: [WordStore.Take(templates: templates, templateSpacing: spacing)]
        )
        let highest = try #require(negatives.similarities(to: taught).anywhere.first)
        let boundary: Float = 0.8
        let word = try #require(
            TaughtWord(
                name: "w",
                threshold: 0.8,
                templates: templates,
                templateSpacing: spacing,
                boundary: boundary
            )
        )
        var scorer = TaughtWordScorer([word], dimensions: model.embeddingCount)
        var best: Float = 0
        for hop in peak - 40...peak + 10 {
            scorer.add(negatives.talk[hop])
            best = max(best, scorer.probabilities[0])
        }
        #expect(abs(boundary + TaughtWord.margin(probability: best) - highest) < 1e-3)
    }

    @Test func `vectors of four bits are unit vectors near those that were stored`() throws {
        // Two rows of three numbers, and a zero that fills the last byte of each: (7, −7, 0) and (1, 2, 2).
        let bytes: [UInt8] = [15 + 16 * 1, 8 + 16 * 8, 9 + 16 * 10, 10 + 16 * 8]
        var file = TensorFile()
        file.add("v", [2, 2], type: "U8", bytes)
        let tensors = try SafeTensors(bytes: file.bytes, file: "f")
        let table = try VectorTable(tensors, "v", dimensions: 3)
        let root = Float(0.5).squareRoot()
        let second: [Float] = [1 / 3, 2 / 3, 2 / 3]
        #expect(table.count == 2 && table[0] == [root, -root, 0] && table[1] == second)
        let cosines = table.cosines(with: [0, 0, 1], 0..<2)
        #expect(cosines[0] == 0 && abs(cosines[1] - 2 / 3) < 1e-6)
        #expect(table.cosines(with: [0, 0, 1], 1..<2) == [cosines[1]] && table.cosines(with: [1], 0..<2) == [0, 0])
        #expect(throws: ModelError.self) { try VectorTable(tensors, "v", dimensions: 5) }
    }

    @Test func `talk has the speech frames of its hops`() throws {
        let model = try RecordedTakes.model()
        let file = try SafeTensors(path: RecordedTakes.folder + "/" + NegativeSet.fileName)
        let hops = try Int(try #require(file.floats("talk.rows").first))
        let frames = try VectorTable(file, "speech.talk", dimensions: 96)
        let newest = try file.steps("speech.steps", count: hops, within: frames.count)
        #expect(newest.last == frames.count - 1 && zip(newest, newest.dropFirst()).allSatisfy { $0 <= $1 })
        let speech = try #require(try NegativeSet(folder: RecordedTakes.folder, model: model).speech)
        for row in [500, 20_000, 90_000] {
            let vectors = (newest[row] - 7...newest[row]).map { frames[$0] }
            #expect(abs(dot(vectors[0], vectors[0]) - 1) < 1e-4)
            let take = speech.compared([vectors])[0]
            #expect(speech.distance(of: [take], at: row) < 1e-3, "the same frames")
            #expect(speech.distance(of: [take, take], at: row + 2) < 1e-3, "a take may end a few frames before")
            #expect(speech.distance(of: [take], at: row + 200) > 0.05, "other frames")
        }
        #expect(
            speech.distance(of: [], at: 5) == 1 && speech.distance(of: speech.compared([[frames[0]]]), at: hops) == 1
        )
    }

    @Test func `a word keeps away from the talk that is nearest to its takes`() throws {
        let model = try RecordedTakes.model()
        let negatives = try NegativeSet(folder: RecordedTakes.folder, model: model)
        var word = try RecordedTakes.word("center", try RecordedTakes.variants("Rear_Center", 4))
        let (means, alignment) = (word.prototype, word.alignment)
        #expect(alignment == TemplateAlignment(count: 2, spacing: 4) && means.count == 2)
        let highest = try #require(negatives.similarities(to: word).alone.dropFirst(9).first)
        _ = word.calibrate(among: [], negatives)
        let (cohort, templates) = (word.cohort, word.prototype)
        #expect(abs(alignment.mean { dot(cohort[$0], cohort[$0]) } - 1) < 1e-5)
        for index in 0..<2 {
            // The cohort is nearer to the takes than talk in general, and the template farther from it.
            let cosines = negatives.talk.cosines(with: means[index], 0..<negatives.talk.count)
            let ordinary = cosines.reduce(0, +) / Float(negatives.talk.count)
            let length = dot(cohort[index], cohort[index]).squareRoot()
            #expect(dot(cohort[index], means[index]) > (ordinary + 0.15) * length)
            #expect(dot(cohort[index], templates[index]) < dot(cohort[index], means[index]) - 0.1)
            #expect(abs(dot(templates[index], templates[index]) - 1) < 1e-5)
        }
        // Talk of one half falls behind the takes by templates whose cohort is of the other half.
        let takes = word.takes.map { take in
            alignment.mean { dot(take.templates[$0], templates[$0]) }
                / alignment.mean { dot(take.templates[$0], means[$0]) }
        }
        let kept = takes.reduce(0, +) / Float(takes.count)
        #expect(try #require(negatives.similarities(to: word).alone.dropFirst(9).first) < highest * kept)
    }
}
