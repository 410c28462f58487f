import Core
import Foundation
import Inference
import Spotting
import TestSupport
import Testing

@testable import Enrollment

/// Phrases and their parts: "left" is not "rear left".
struct PhrasePartsTests {
    @Test func `gaps lie between the words of a name, as shares of its letters`() {
        let names = [
            "computer": [], "hey computer": [0.273], "turn it off": [0.444, 0.667], "a-b c_d e": [0.2, 0.4, 0.6],
        ]
        for (name, gaps) in names {
            #expect(PhraseParts.gaps(in: name).map { ($0 * 1000).rounded() / 1000 } == gaps, "\(name)")
        }
        #expect(PhraseParts.gaps(in: "") == [] && PhraseParts.gaps(in: " - ") == [])
    }

    @Test func `a part that is a word of its own is found by likelihood`() throws {
        #expect(PhraseParts.isPart("Computer", of: "hey computer") && PhraseParts.isPart("a b", of: "a-b c"))
        for (name, phrase) in [("put", "hey computer"), ("hey computer", "hey computer"), ("b", "a b c"), ("", "a b")] {
            #expect(!PhraseParts.isPart(name, of: phrase), "\(name) of \(phrase)")
        }
        let phrase = try RecordedTakes.word("rear left", try RecordedTakes.variants("Rear_Left", 2))
        let other = try RecordedTakes.word("center", try RecordedTakes.variants("Rear_Center", 2))
        let twin = try RecordedTakes.word("rear", try RecordedTakes.variants("Side_Left", 2))
        let model = try RecordedTakes.model()
        #expect(WordStore(words: [phrase, other]).taught(for: model).map(\.parts.count) == [2, 0])
        #expect(WordStore(words: [phrase, twin]).taught(for: model).map(\.parts.count) == [0, 0])
    }

    @Test func `a phrase is cut where it is quiet`() {
        // Two tones with 100 ms of quiet between, in the middle of a recording; by its letters the gap would be 30 ms later.
        let tone = (0..<8000).map { sin(Float($0) * 0.2) * 0.3 }
        func quiet(_ count: Int) -> [Float] { [Float](repeating: 0.0001, count: count) }
        let samples = quiet(4000) + tone.prefix(4000) + quiet(1600) + tone + quiet(4000)
        let phrase = Utterance(samples: samples, speech: 4000..<17_600)
        let parts = PhraseParts.utterances(of: phrase, name: "hey peter")
        #expect(parts.count == 2)
        let cut = parts[0].samples.count
        #expect((8000...9600).contains(cut), "\(cut)")
        #expect(parts[0].speech == 4000..<cut && parts[1].speech == 0..<17_600 - cut)
        #expect(parts[1].samples.count == samples.count - cut)
        // Speech that is shorter than a step is cut as well.
        let short = Utterance(samples: quiet(200), speech: 50..<60)
        #expect(PhraseParts.utterances(of: short, name: "hey peter").map(\.samples.count).reduce(0, +) == 200)
    }

    private func fires(_ word: WordStore.Word, _ utterance: Utterance) throws -> Bool {
        let vocabulary = Vocabulary(try RecordedTakes.model(), taught: [try #require(word.taught)])
        let label = try #require(vocabulary.labels.firstIndex(of: word.name))
        var settings = DetectorSettings(vocabulary)
        settings.thresholds.setAll(word.threshold)
        var detector = Detector(settings)
        var noise = QuietNoise(level: 0.0003)
        let audio = noise.samples(24_000) + utterance.samples + noise.samples(16_000)
        var fires = false
        for end in stride(from: 16_000, through: audio.count, by: 1600) {
            detector.process(window: audio.span.extracting(end - 16_000..<end)) {
                fires = fires || $0.kind == .word && $0.index == label
            }
        }
        return fires
    }

    @Test func `a phrase is found, and its last word alone is not`() throws {
        var word = try RecordedTakes.word("rear left", try RecordedTakes.variants("Rear_Left", 4))
        word.boundary = 0.4
        word.threshold = 0.7
        let phrase = try RecordedTakes.utterance("Rear_Left")
        let part = PhraseParts.utterances(of: phrase, name: "rear left")[1]
        #expect(word.takes.allSatisfy { $0.parts.count == 2 })
        #expect(try fires(word, phrase))
        #expect(try !fires(word, part))
        for index in word.takes.indices { word.takes[index].parts = [] }
        #expect(try fires(word, part), "the test needs a part that is like the phrase")
    }

    @Test func `a store keeps parts, sequences and looks, and only a store with them has their version`() throws {
        var word = try RecordedTakes.word("rear left", try RecordedTakes.variants("Rear_Left", 2))
        word.look = WordStore.Look(proposal: 0.25, boundary: 0.4)
        let newest = try WordStore(words: [word]).encoded()
        #expect(newest[7] == 8)
        #expect(try WordStore(bytes: newest, file: "f") == WordStore(words: [word]))
        #expect(word.taught?.speech?.takes.count == 2 && word.takes.allSatisfy { (6...26).contains($0.speech.count) })
        for damage in [WordStore.Look(proposal: 1.5, boundary: 0.4), WordStore.Look(proposal: 0.5, boundary: 5)] {
            var damaged = word
            damaged.look = damage
            let bytes = try WordStore(words: [damaged]).encoded()
            #expect(throws: EnrollmentError.damaged) { try WordStore(bytes: bytes, file: "f") }
        }
        word.look = nil
        for index in word.takes.indices { word.takes[index].speech = [] }
        let older = try WordStore(words: [word]).encoded()
        #expect(older[7] == 7 && word.taught?.speech == nil)
        #expect(try WordStore(bytes: older, file: "f") == WordStore(words: [word]))
        #expect(word.taught?.sequences.count == 2 && word.takes.allSatisfy { (3...14).contains($0.sequence.count) })
        for index in word.takes.indices { word.takes[index].sequence = [] }
        let bytes = try WordStore(words: [word]).encoded()
        #expect(bytes[7] == 6)
        #expect(try WordStore(bytes: bytes, file: "f") == WordStore(words: [word]))
        let short = Array(bytes.prefix(WordStore.detectorBytes(Array(bytes.prefix(24)))))
        let read = try WordStore(bytes: short, file: "f", withAudio: false)
        #expect(read.words.first?.taught == word.taught && read.words.first?.taught?.parts.count == 2)
        for index in word.takes.indices { word.takes[index].parts = [] }
        #expect(try WordStore(words: [word]).encoded()[7] == 2)
    }

    @Test func `a phrase that an earlier version stored gets its parts and sequences from its recordings, once`() throws
    {
        let folder = try TestFolder()
        let whole = try RecordedTakes.word("rear left", try RecordedTakes.variants("Rear_Left", 2))
        var (word, silent) = (whole, whole)
        for index in word.takes.indices {
            (word.takes[index].parts, word.takes[index].sequence) = ([], [])
            (silent.takes[index].parts, silent.takes[index].sequence) = ([], [])
            silent.takes[index].audio = []
        }
        let file = WordStoreFile(path: folder.file("words"))
        try file.create(WordStore(words: [word]))
        let taught = TaughtWords(folder.file("words"))
        let model = try RecordedTakes.model()
        let first = try taught.load(for: model, folder: nil)
        #expect(first.words.first?.parts.count == 2 && first.note == nil && first.lost == [])
        // Where the speech begins and ends in a recording that was cut out of a longer one may differ by some milliseconds.
        let sequences = try #require(first.words.first?.sequences)
        #expect(
            zip(sequences, whole.sequences).allSatisfy {
                HopWarping.distance(of: $0, in: $1, ends: HopWarping.ends) < 0.1
            }
        )
        #expect(sequences.count == 2)
        #expect(try taught.read()?.words.first?.takes.first?.parts == [])
        _ = try taught.load(for: model, folder: nil, stores: true)
        let stored = try #require(try taught.read()?.words.first)
        #expect(stored.takes.allSatisfy { $0.parts.count == 2 } && stored.sequences == sequences)
        // Without recordings the phrase stays as it is.
        try WordStoreFile(path: folder.file("silent")).create(WordStore(words: [silent]))
        #expect(try TaughtWords(folder.file("silent")).load(for: model, folder: nil).words.first?.parts == [])
    }
}
