import Core
import Foundation
import Inference
import Spotting
import TestSupport
import Testing

@testable import Enrollment

/// Recordings of what a taught word is not.
struct NegativeExampleTests {
    /// "Left" of one recording, taught as a word, that is found in other recordings' "left" too: its boundary is low.
    private func word(_ name: String = "links") throws -> WordStore.Word {
        var word = try RecordedTakes.word(name, try RecordedTakes.variants("Rear_Left", 4))
        word.boundary = 0.4
        word.threshold = 0.7
        return word
    }

    /// The highest score of a word in audio, by a detector on the stream, and whether it fired.
    private func heard(_ word: WordStore.Word, _ samples: [Float], shift: Int = 0) throws -> (score: Float, fires: Bool)
    {
        let model = try RecordedTakes.model()
        let vocabulary = Vocabulary(model, taught: [try #require(word.taught)])
        let label = try #require(vocabulary.labels.firstIndex(of: word.name))
        var settings = DetectorSettings(vocabulary)
        settings.thresholds.setAll(word.threshold)
        var detector = Detector(settings)
        let audio = [Float](repeating: 0, count: 24_000 + shift) + samples + [Float](repeating: 0, count: 16_000)
        var (score, fires): (Float, Bool) = (0, false)
        for end in stride(from: 16_000, through: audio.count, by: 1600) {
            detector.process(window: audio.span.extracting(end - 16_000..<end)) {
                fires = fires || $0.kind == .word && $0.index == label
            }
            score = max(score, detector.scores[label])
        }
        return (score, fires)
    }

    @Test(arguments: ["Front_Left"])
    func `a false accept is not found any more, and the takes still are`(_ name: String) throws {
        let model = try RecordedTakes.model()
        var word = try word()
        let other = try RecordedTakes.voice(name)
        #expect(try heard(word, other).fires, "the test needs a false accept")
        let effect = try word.addNegative(other, keepsAudio: true, model: model)
        #expect(effect.before >= word.threshold && effect.after < word.threshold && effect.lowestTake >= word.threshold)
        // Wherever the hops lie in it, and a little quieter.
        for shift in [0, 400, 800, 1200] {
            let found = try heard(word, other.map { $0 * 0.8 }, shift: shift)
            #expect(!found.fires, "\(shift): \(found.score)")
        }
        for take in word.takes {
            #expect(try heard(word, take.audio.map { Float($0) / 32_768 }).fires)
        }
        // The recording that the takes come from, which is none of them.
        #expect(try heard(word, try RecordedTakes.voice("Rear_Left")).fires)
        // The store keeps it, and a detector needs no recordings for it.
        let bytes = try WordStore(words: [word]).encoded()
        #expect(bytes[7] == 8)
        #expect(try WordStore(bytes: bytes, file: "f") == WordStore(words: [word]))
        let read = try WordStore(
            bytes: Array(bytes.prefix(WordStore.detectorBytes(Array(bytes.prefix(24))))),
            file: "f",
            withAudio: false
        )
        #expect(read.words.first?.taught == word.taught)
    }

    @Test func `takes without recordings are checked by their templates`() throws {
        let model = try RecordedTakes.model()
        var word = try word()
        for index in word.takes.indices { word.takes[index].audio = [] }
        let effect = try word.addNegative(try RecordedTakes.voice("Side_Left"), keepsAudio: false, model: model)
        #expect(effect.lowestTake >= word.threshold && word.negatives.first?.audio == [])
    }

    @Test func `what is the word itself, or nothing like it, is refused, and nothing changes`() throws {
        let model = try RecordedTakes.model()
        let word = try word()
        var changed = word
        let same = try RecordedTakes.voice("Rear_Left")
        #expect(throws: EnrollmentError.negative) { try changed.addNegative(same, keepsAudio: true, model: model) }
        let noise = [Float](repeating: 0.001, count: 16_000)
        #expect(throws: EnrollmentError.negative) { try changed.addNegative(noise, keepsAudio: true, model: model) }
        #expect(throws: EnrollmentError.negative) { try changed.addNegative([], keepsAudio: true, model: model) }
        let long = [Float](repeating: 0.001, count: 16_000 * 10 + 1)
        #expect(throws: EnrollmentError.negative) { try changed.addNegative(long, keepsAudio: true, model: model) }
        #expect(changed == word)
    }

    @Test func `what is too like the word says which command helps, as a shell takes it`() throws {
        var word = try word("Peter's lamp")
        let same = try RecordedTakes.voice("Rear_Left")
        let error = #expect(throws: EnrollmentError.self) {
            try word.addNegative(same, keepsAudio: true, model: try RecordedTakes.model())
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains(#"raise the threshold: beckon set 'Peter'\''s lamp=…'"#), "\(text)")
        #expect(TaughtWords.lostLine("Peter's lamp").hasSuffix(#"beckon enroll 'Peter'\''s lamp'"#))
    }

    @Test func `damaged counts of negatives are not store`() throws {
        var word = try word()
        _ = try word.addNegative(
            try RecordedTakes.voice("Side_Left"),
            keepsAudio: true,
            model: try RecordedTakes.model()
        )
        let bytes = try WordStore(words: [word]).encoded()
        for count in [0, 9, 200, bytes.count / 2, bytes.count - 1] {
            #expect(throws: EnrollmentError.damaged) { try WordStore(bytes: Array(bytes.prefix(count)), file: "f") }
        }
        word.negatives[0].moments = Array(repeating: word.negatives[0].moments[0], count: WordStore.Limit.moments + 1)
        let many = try WordStore(words: [word]).encoded()
        #expect(throws: EnrollmentError.damaged) { try WordStore(bytes: many, file: "f") }
    }
}
