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
        let others = [Self.ofAnotherModel(word), Self.ofAnotherModel(silent)]
        var store = WordStore(words: others)
        #expect(store.unusable(by: model) == ["center", "noise"] && store.taught(for: model) == [])
        let changed1 = store.renew(for: model, negatives, .complete)
        #expect(changed1)
        // A word without recordings stays as it was.
        #expect(store.unusable(by: model) == ["noise"] && store["noise"] == others[1])
        #expect(store.taught(for: model).map(\.name) == ["center"])
        #expect(store["center"]?.embedding == model.embeddingIdentity)
        let renewed = try #require(store["center"])
        #expect(renewed.takes.count == 3 && renewed.takes.map(\.audio) == word.takes.map(\.audio))
        for (before, after) in zip(word.takes, renewed.takes) {
            #expect(dot(before.templates[0], after.templates[0]) > 0.97)
        }
        #expect(abs(renewed.boundary - word.boundary) < 0.1)
        let before = store
        let changed2 = store.renew(for: model, negatives, .complete)
        #expect(!changed2, "the templates are of this model now")
        #expect(store == before)
    }

    @Test func `takes without recordings are given up only for a result that is not stored`() throws {
        let model = try RecordedTakes.model()
        var word = Self.ofAnotherModel(try RecordedTakes.word("center", try RecordedTakes.variants("Rear_Center", 3)))
        word.takes[1].audio = []
        var store = WordStore(words: [word])
        let changed3 = store.renew(for: model, nil, .complete)
        #expect(!changed3)
        let changed4 = store.renew(["other"], for: model, nil, .partial)
        #expect(!changed4)
        #expect(store.words == [word])
        let changed5 = store.renew(["center"], for: model, nil, .partial)
        #expect(changed5)
        #expect(store.words[0].takes.map(\.audio) == [word.takes[0].audio, word.takes[2].audio])
    }

    /// The word as another model with two dimensions would have taught it.
    static func ofAnotherModel(_ word: WordStore.Word) -> WordStore.Word {
        let takes = word.takes.map {
            WordStore.Take(templates: [[0.5, 0.5]], templateSpacing: 0, audio: $0.audio)
        }
        return WordStore.Word(name: word.name, embedding: "of another model", takes: takes)
    }

    @Test(arguments: [
        ("", EnrollmentError.name), ("  ", .name), ("_silence_", .name), ("two\nlines", .name), (" blank", .name),
        (String(repeating: "a", count: 201), .name), ("y\u{202E}es", .name), ("yes\u{200B}", .name), ("a\u{7F}", .name),
        ("a\u{200D}b", .name), ("\u{85}", .name), ("soft\u{AD}hyphen", .name),
    ]) func `an invalid name is refused`(name: String, error: EnrollmentError) {
        #expect(throws: error) { try WordStore.check(name: name) }
    }

    @Test(arguments: ["computer", "hey house", "Grüß Gott", "おはよう", "R2-D2", "it's", "می\u{200C}خواهم", "👩\u{200D}💻"])
    func `any line of text is a name`(name: String) throws { try WordStore.check(name: name) }
}
