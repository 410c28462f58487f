import Inference
import Spotting
import Testing

@testable import Enrollment

/// Which takes and words sound alike.
struct SoundAlikeTests {
    private static func negatives() throws -> NegativeSet {
        try NegativeSet(folder: RecordedTakes.folder, model: try RecordedTakes.model())
    }

    private static func word(_ name: String, _ utterances: [Utterance], _ negatives: NegativeSet) throws
        -> WordStore.Word
    {
        var word = try RecordedTakes.word(name, utterances)
        _ = word.calibrate(among: [], negatives)
        return word
    }

    @Test func `two words from takes of the same word sound alike, others do not`() throws {
        let negatives = try Self.negatives()
        let takes = try RecordedTakes.variants("Rear_Center", 5)
        let center = try Self.word("center", Array(takes[..<2]), negatives)
        let twin = try Self.word("centre", Array(takes[3...]), negatives)
        #expect(center.soundsLike(twin) && twin.soundsLike(center))
        for other in ["Front_Right", "Side_Left"] {
            let word = try Self.word(other, try RecordedTakes.variants(other, 2), negatives)
            #expect(!center.soundsLike(word) && !word.soundsLike(center), "\(other)")
        }
    }

    @Test func `a word said within a phrase sounds like the phrase`() {
        let (first, last): ([Float], [Float]) = ([1, 0], [0, 1])
        func word(_ name: String, _ templates: [[Float]]) -> WordStore.Word {
            let take = WordStore.Take(templates: templates, templateSpacing: templates.count > 1 ? 5 : 0)
            return WordStore.Word(name: name, embedding: "e", takes: [take, take])
        }
        let phrase = word("computer anna", [last, first])
        #expect(word("computer", [first]).soundsLike(phrase) && phrase.soundsLike(word("anna", [last])))
        #expect(!word("other", [[-1, 0]]).soundsLike(phrase))
        // Templates of different embeddings cannot be compared.
        let foreign = WordStore.Word(name: "computer", embedding: "f", takes: word("", [first]).takes)
        #expect(!foreign.soundsLike(phrase))
    }

    @Test func `a word is found in the middle of a longer recording, at the hop where it ends`() {
        let (quiet, word): ([Float], [Float]) = ([1, 0], [0, 1])
        let hops = [quiet, quiet, word, word, word, quiet, quiet]
        func similarity(_ hops: [[Float]], _ templates: [[Float]], spacing: Int = 0) -> Float {
            SoundAlike.similarity(
                ofHops: hops,
                to: templates,
                TemplateAlignment(count: templates.count, spacing: spacing)
            )
        }
        #expect(similarity(hops, [word]) == 1)
        // Smoothed over three hops.
        #expect(similarity([quiet, word, word, quiet], [word]) == Float(2) / 3)
        // The beginning is two hops before the end, and weighs 0.3: it is there at two of three hops.
        #expect(abs(similarity(hops, [word, quiet], spacing: 2) - (0.7 + 0.3 * 2 / 3)) < 1e-6)
        // The first part of a phrase is six hops before the last one, and weighs as much.
        let phrase = [word] + Array(repeating: quiet, count: 5) + [word, word, word]
        #expect(abs(similarity(phrase, [word, word], spacing: 6) - (1.0 / 2 + 1.0 / 6)) < 1e-6)
        #expect(similarity([word, word], [word]) == -1)
        #expect(similarity(hops, []) == -1)
    }

    @Test func `a phrase that begins with a taught word sounds like it`() throws {
        let (model, negatives) = (try RecordedTakes.model(), try Self.negatives())
        // "rear center", and its first word alone.
        let phrases = try RecordedTakes.variants("Rear_Center", 3)
        let words = phrases.map { phrase in
            let half = phrase.speech.lowerBound..<phrase.speech.lowerBound + phrase.speech.count * 2 / 5
            let tail = [Float](repeating: 1e-4, count: Utterance.sampleRate / 4)
            return Utterance(samples: Array(phrase.samples[..<half.upperBound]) + tail, speech: half)
        }
        let phrase = try Self.word("rear center", phrases, negatives)
        let word = try Self.word("rear", words, negatives)
        #expect(word.soundsLike(phrase, by: model) && phrase.soundsLike(word, by: model))
        let other = try Self.word("side left", try RecordedTakes.variants("Side_Left", 3), negatives)
        #expect(!word.soundsLike(other, by: model) && !phrase.soundsLike(other, by: model))
    }

    @Test func `examples of the model's words pass as their own word, and few as another`() throws {
        let negatives = try Self.negatives()
        let check = ModelWordCheck(negatives)
        var (own, others, passed) = (0, 0, 0)
        for word in negatives.words {
            for take in word.takes { own += check.fault(take.templates, as: word.name) == nil ? 1 : 0 }
            for other in negatives.words where other.name != word.name {
                others += other.takes.count
                passed += other.takes.count { check.fault($0.templates, as: word.name) == nil }
            }
        }
        print("examples that pass as their own word: \(own); as another: \(passed) of \(others)")
        #expect(Double(own) >= 0.95 * Double(negatives.words.reduce(0) { $0 + $1.takes.count }))
        #expect(Double(passed) / Double(others) < 0.25)
        let examples = try #require(negatives.words.first { $0.name == "no" }?.takes.map(\.templates))
        #expect(examples.count { check.fault($0, as: "yes") == .otherWord("yes", heard: "no") } > examples.count / 2)
        // A name that the model does not know may sound like anything.
        #expect(examples.allSatisfy { check.fault($0, as: "computer") == nil })
    }

    @Test func `takes that sound nothing like the model's word are refused, unless nothing checks them`() throws {
        let (model, negatives) = (try RecordedTakes.model(), try Self.negatives())
        let utterance = try RecordedTakes.utterance("Rear_Center")
        var session = try Teaching(
            "stop",
            existing: nil,
            model: model,
            keepsAudio: false,
            negatives: negatives
        )
        #expect(session.add(utterance) == .otherWord("stop", heard: nil) && session.takes.isEmpty)
        var forced = try Teaching("stop", existing: nil, model: model, keepsAudio: false)
        #expect(forced.add(utterance) == nil)
    }
}
