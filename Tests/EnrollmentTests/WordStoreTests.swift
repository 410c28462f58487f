import Inference
import Testing

@testable import Enrollment

struct WordStoreTests {
    @Test func `another model computes the words anew from their recordings`() throws {
        let model = try RecordedTakes.model()
        let negatives = try NegativeSet(folder: RecordedTakes.folder, model: model)
        var word = try RecordedTakes.word("center", try RecordedTakes.variants("Rear_Center", 3))
        _ = word.calibrate(among: [], negatives)
        var silent = try RecordedTakes.word("noise", try RecordedTakes.variants("Front_Right", 3))
        silent.takes = silent.takes.map {
            WordStore.Take(templates: $0.templates, templateSpacing: $0.templateSpacing)
        }
        var store = WordStore(embedding: "of another model", words: [word, silent])
        for index in store.words[0].takes.indices {
            store.words[0].takes[index].templates = [[Float]](repeating: [0.5, 0.5], count: 1)
        }
        #expect(store.reembed(for: model, negatives) == ["noise"])
        #expect(store.embedding == model.embeddingIdentity && store.words.map(\.name) == ["center"])
        let renewed = try #require(store["center"])
        #expect(renewed.takes.count == 3 && renewed.takes.map(\.audio) == word.takes.map(\.audio))
        for (before, after) in zip(word.takes, renewed.takes) {
            #expect(dot(before.templates[0], after.templates[0]) > 0.97)
        }
        #expect(abs(renewed.boundary - word.boundary) < 0.1)
        #expect(store.reembed(for: model, negatives) == [], "the templates are of this model now")
    }

    @Test(arguments: [
        ("", EnrollmentError.name), ("  ", .name), ("_silence_", .name), ("two\nlines", .name), (" blank", .name),
        (String(repeating: "a", count: 201), .name),
    ]) func `an invalid name is refused`(name: String, error: EnrollmentError) {
        #expect(throws: error) { try WordStore.check(name: name) }
    }

    @Test(arguments: ["computer", "hey house", "Grüß Gott", "おはよう", "R2-D2", "it's"])
    func `any line of text is a name`(name: String) throws { try WordStore.check(name: name) }
}
