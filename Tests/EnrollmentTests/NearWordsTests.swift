import Foundation
import Inference
import TestSupport
import Testing

@testable import Enrollment

/// Common words that sound like others, by the shipped model.
struct NearWordsTests {
    @Test func `words that sound alike are near, and words that begin alike are left out`() throws {
        let model = try RecordedTakes.model()
        let near = try #require(try NearWords.beside(model, in: RecordedTakes.folder))
        let encoder = try #require(try NegativeSet(folder: RecordedTakes.folder, model: model).text)
        for (word, expected) in [("peter", "bitter"), ("house", "host"), ("light", "might"), ("center", "enter")] {
            let found = near.nearest(to: encoder.vector(of: word), count: 12, least: 0.4, except: word)
            #expect(found.contains(expected), "\(word): \(found)")
            #expect(!found.contains { $0.hasPrefix(word) || word.hasPrefix($0) })
        }
        #expect(near.nearest(to: [1, 0], count: 5, least: 0.1, except: "") == [])
        #expect(near.nearest(to: encoder.vector(of: "house"), count: 5, least: 1.1, except: "house") == [])
    }

    @Test func `a phrase may be taken for its beginnings, its ends, and itself with another word`() throws {
        let model = try RecordedTakes.model()
        let negatives = try NegativeSet(folder: RecordedTakes.folder, model: model)
        let near = try NearWords.beside(model, in: RecordedTakes.folder)
        let phrase = WordStore.Word(name: "Hey Peter", embedding: "", takes: [])
        #expect(phrase.similarTexts(nil, negatives) == ["hey", "peter"])
        let texts = phrase.similarTexts(near, negatives)
        #expect(texts.prefix(2) == ["hey", "peter"] && texts.count > 3)
        #expect(texts.dropFirst(2).allSatisfy { $0.hasPrefix("hey ") || $0.hasSuffix(" peter") }, "\(texts)")
        let three = WordStore.Word(name: "turn it off", embedding: "", takes: [])
        #expect(three.similarTexts(nil, negatives) == ["turn", "it off", "turn it", "off"])
        // Without takes nothing is known of a single word.
        #expect(WordStore.Word(name: "peter", embedding: "", takes: []).similarTexts(near, negatives) == [])
        #expect(WordStore.Word(name: "打开 灯", embedding: "", takes: []).similarTexts(near, negatives) == ["打开", "灯"])
    }

    @Test func `what sounds like the takes is near, and a recording tells how likely it is`() throws {
        let model = try RecordedTakes.model()
        let negatives = try NegativeSet(folder: RecordedTakes.folder, model: model)
        let near = try NearWords.beside(model, in: RecordedTakes.folder)
        var word = try RecordedTakes.word("left", try RecordedTakes.variants("Rear_Left", 3))
        _ = word.calibrate(among: [], negatives)
        #expect(!word.similarTexts(near, negatives).contains("left"))
        #expect(word.highestProbability(in: try RecordedTakes.voice("Rear_Left"), model) > 0.9)
        #expect(word.highestProbability(in: try RecordedTakes.voice("Rear_Center"), model) < word.threshold)
        #expect(word.highestProbability(in: [], model) < 0.1)
    }

    @Test func `a damaged file is an error, none is none`() throws {
        let model = try RecordedTakes.model()
        let folder = try TestFolder()
        #expect(try NearWords.beside(model, in: folder.path) == nil)
        try Data("no tensors".utf8).write(to: URL(fileURLWithPath: folder.file(NearWords.fileName)))
        #expect(throws: ModelError.self) { try NearWords.beside(model, in: folder.path) }
        // The negative set is a file of tensors, but of others.
        let other = try Data(contentsOf: URL(fileURLWithPath: RecordedTakes.folder + "/" + NegativeSet.fileName))
        try other.write(to: URL(fileURLWithPath: folder.file(NearWords.fileName)))
        #expect(throws: ModelError.self) { try NearWords.beside(model, in: folder.path) }
    }
}
