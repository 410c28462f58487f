import Foundation
import Inference
import TestSupport
import Testing

@testable import Enrollment

/// Takes into words: strangers among them, where they fire, and what becomes of them under another model.
struct LessonTests {
    /// The same take in other surroundings: louder, with noise, a little later.
    private static func variants(_ name: String, _ count: Int) throws -> [Utterance] {
        let utterance = try TakeTests.utterance(name)
        return (0..<count).map { number in
            var noise = QuietNoise(level: 0.001 * Float(number))
            let added = noise.samples(utterance.samples.count)
            return Utterance(
                samples: zip(utterance.samples, added).map { $0 * (1 - 0.1 * Float(number)) + $1 },
                speech: utterance.speech
            )
        }
    }

    private static func lesson(_ name: String, _ utterances: [Utterance]) throws -> WordStore.Word {
        var lesson = try EnrollmentSession(name, known: nil, model: try TakeTests.model(), keepsAudio: true)
        for utterance in utterances { #expect(lesson.add(utterance) == nil) }
        return lesson.word
    }

    @Test func `a take of another word is a stranger, whichever it is`() throws {
        let same = try Self.variants("Rear_Center", 4)
        let other = try TakeTests.utterance("Front_Right")
        for place in 0...same.count {
            var all = same
            all.insert(other, at: place)
            var lesson = try EnrollmentSession("center", known: nil, model: try TakeTests.model(), keepsAudio: false)
            for utterance in all { #expect(lesson.add(utterance) == nil) }
            let dropped = lesson.dropStrangers()
            #expect(dropped.map(\.place) == [place] && lesson.takes.count == 4)
            #expect(!lesson.takes.contains { !$0.audio.isEmpty })
            #expect(lesson.dropStrangers().count == 0)
        }
    }

    @Test func `a word settles below its takes and above talk, and says what is near`() throws {
        let model = try TakeTests.model()
        let background = try NegativeSet(folder: TakeTests.folder, model: model)
        #expect(background.talk.count > 30000 && background.ends.count > 1000 && background.words.count == 10)
        var center = try Self.lesson("center", try Self.variants("Rear_Center", 4))
        let side = try Self.lesson("side left", try Self.variants("Side_Left", 3))
        let standing = center.settle(among: [side], background)
        #expect(center.boundary == standing.boundary && standing.suggested.threshold == 0.8)
        #expect(standing.suggested.missed < 0.1 && standing.suggested.spot < 2)
        #expect(standing.suggested.command <= standing.suggested.spot)
        for (lax, strict) in zip(standing.rates, standing.rates.dropFirst()) {
            #expect(lax.threshold < strict.threshold && lax.missed <= strict.missed && lax.spot >= strict.spot)
        }
        #expect(standing.nearestOwn?.name == "side left" && standing.nearestOwn?.taken == 0)
        #expect(standing.nearestBuiltIn != nil)
        // A word that sounds like one of the model's is told to.
        var left = try Self.lesson("links", try Self.variants("Front_Left", 3))
        let near = left.settle(among: [], background)
        #expect(near.nearestOwn == nil)
        #expect((near.nearestBuiltIn?.likeness ?? 0) > (standing.nearestBuiltIn?.likeness ?? 1) - 0.5)
    }

    @Test func `rare values beyond what was seen are rarer still`() {
        let values = (0..<4000).map { Float(-log(Double($0 + 1) / 4000)) }
        let tail = PeaksOverThreshold(values, hours: 2)
        // Of numbers with an exponential tail, so many are above a value: 4000 e^-x in two hours.
        for value in [5, 6, 8, 10, 12] as [Float] {
            let expected = 2000 * exp(-Double(value))
            #expect(tail.rate(above: value) > expected * 0.6 && tail.rate(above: value) < expected * 1.6)
            #expect(abs(tail.value(rate: tail.rate(above: value)) - value) < 0.3)
        }
        #expect(PeaksOverThreshold([], hours: 1).rate(above: 0) == 0)
    }

    @Test func `another model learns the words from the recordings that were kept`() throws {
        let model = try TakeTests.model()
        let background = try NegativeSet(folder: TakeTests.folder, model: model)
        var word = try Self.lesson("center", try Self.variants("Rear_Center", 3))
        _ = word.settle(among: [], background)
        var silent = try Self.lesson("noise", try Self.variants("Front_Right", 3))
        silent.takes = silent.takes.map { WordStore.Take(anchors: $0.anchors, lag: $0.lag) }
        var store = WordStore(embedding: "of another model", words: [word, silent])
        for index in store.words[0].takes.indices {
            store.words[0].takes[index].anchors = [[Float]](repeating: [0.5, 0.5], count: 1)
        }
        #expect(store.renew(for: model, background) == ["noise"])
        #expect(store.embedding == model.embeddingIdentity && store.words.map(\.name) == ["center"])
        let renewed = try #require(store["center"])
        #expect(renewed.takes.count == 3 && renewed.takes.map(\.audio) == word.takes.map(\.audio))
        for (before, after) in zip(word.takes, renewed.takes) {
            #expect(dot(before.anchors[0], after.anchors[0]) > 0.97)
        }
        #expect(abs(renewed.boundary - word.boundary) < 0.1)
        #expect(store.renew(for: model, background) == [], "it is made for this model now")
    }

    @Test func `a background of another embedding is refused`() throws {
        let folder = try TestFolder()
        let model = try TakeTests.model()
        let flat = URL(fileURLWithPath: TakeTests.folder).deletingLastPathComponent().appendingPathComponent(
            "flatspeech"
        )
        #expect(throws: ModelError.self) { try NegativeSet(folder: folder.path, model: model) }
        let other = try Model(folder: flat.path)
        #expect(throws: ModelError.self) { try NegativeSet(folder: TakeTests.folder, model: other) }
    }
}
