import Core
import Inference
import Testing
import WakeWords

@testable import Enrollment
@testable import Spotting

/// The second look at taught words: which recordings it takes for the word.
struct TaughtWordLookTests {
    /// "Rear left" from three takes, calibrated, and the word with looks at everything.
    private static func words() throws -> (calibrated: WordStore.Word, curious: TaughtWord, model: Model) {
        let model = try RecordedTakes.model()
        let negatives = try NegativeSet(folder: RecordedTakes.folder, model: model)
        var word = try RecordedTakes.word("rear left", try RecordedTakes.variants("Rear_Left", 3))
        _ = word.calibrate(among: [], negatives)
        let look = try #require(word.look)
        #expect(look.proposal > 0.01 && look.proposal < 0.7 && look.boundary < word.boundary)
        var curious = word
        curious.look?.proposal = 0.001
        return (word, try #require(curious.taught), model)
    }

    @Test func `a look takes only the word for the word`() throws {
        let (word, curious, model) = try Self.words()
        // Recordings of one voice, and whether the word is found in them, also where everything is looked at.
        for (name, isWord) in [("Rear_Left", true), ("Front_Center", false), ("Side_Right", false), ("Noise", false)] {
            let audio = try RecordedTakes.voice(name)
            let found = word.highestProbability(in: audio, model)
            #expect((found >= word.threshold) == isWord, "\(name): \(found)")
            for level in [Float(0.03), 1] {
                let looked = curious.highestProbability(in: audio.map { $0 * level }, model)
                #expect((looked >= word.threshold) == isWord, "\(name) at \(level): \(looked)")
            }
        }
    }

    @Test func `a detector looks at what templates propose`() throws {
        let (word, _, model) = try Self.words()
        let vocabulary = Vocabulary(model, taught: [try #require(word.taught)], speech: .ofTakes)
        let label = try #require(vocabulary.labels.firstIndex(of: "rear left"))
        let pause = [Float](repeating: 0, count: 16_000)
        let audio = try pause + RecordedTakes.voice("Rear_Left") + pause + RecordedTakes.voice("Front_Center") + pause
        for trigger in [GateSettings.Trigger.early, .end] {
            var settings = DetectorSettings(vocabulary)
            settings.gate.trigger = trigger
            settings.gate.mode = .command
            var detector = Detector(settings)
            var found: [Detection] = []
            for end in stride(from: 16_000, through: audio.count, by: 1600) {
                detector.process(window: audio.span.extracting(end - 16_000..<end)) { found.append($0) }
            }
            let own = found.filter { $0.index == label }
            #expect(own.count == 1 && detector.looks >= 1, "\(trigger): \(found)")
            let detection = try #require(own.first)
            #expect(detection.confidence >= word.threshold)
            #expect(detection.proposed ?? 0 > 0 && detection.confirmed ?? 0 > 0.5)
        }
        // Without the embedding the templates decide.
        let plain = Vocabulary(model, taught: vocabulary.taught)
        #expect(plain.proposals(mode: .spot)[label] == nil && vocabulary.proposals(mode: .spot)[label] != nil)
    }

    @Test func `a phrase that is as near to a part as to itself is refused by the look`() throws {
        let (word, _, model) = try Self.words()
        let taught = try #require(word.taught)
        let vocabulary = Vocabulary(model, taught: [taught], speech: .ofTakes)
        let label = try #require(vocabulary.labels.firstIndex(of: "rear left"))
        let look = try #require(TaughtWordLook(vocabulary))
        let audio = try RecordedTakes.voice("Rear_Left")
        func confidence(_ margin: Float) throws -> Float {
            let word = ProposedWord(
                label: label,
                score: 0.95,
                middle: 0,
                end: audio.count,
                hops: 1,
                partMargin: margin
            )
            let verdict = look.look(word) { first, target in
                for place in target.indices {
                    target[place] = audio.indices.contains(first + place) ? audio[first + place] : 0
                }
            }
            return try #require(verdict).confidence
        }
        let found = try [Float.infinity, 0.5, -0.2, -0.5].map(confidence)
        #expect(found[0] == found[1] && found[0] >= word.threshold)
        #expect(found[2] < found[1] && found[3] < 0.1, "\(found)")
        // Two parts: how far the takes' own parts are from the takes says how near a part may come.
        #expect(taught.partOffsets.count == 2 && taught.partOffsets.allSatisfy { (-0.8...0).contains($0) })
        #expect(taught.partOffsets.contains { $0 < 0 }, "\(taught.partOffsets)")
        var single = word
        single.takes = [word.takes[0]]
        #expect(single.taught?.partOffsets == [0, 0])
        single.takes = word.takes
        single.look = nil
        #expect(single.taught?.partOffsets == [0, 0])
    }

    @Test func `a negative example is heard by the second look, too`() throws {
        var (word, _, model) = try Self.words()
        // A word that fires at something else, as one with a low threshold does.
        word.threshold = 0.3
        word.look?.boundary -= 0.4
        let other = try RecordedTakes.voice("Rear_Right")
        try #require(word.highestProbability(in: other, model) >= word.threshold)
        let effect = try word.addNegative(other, keepsAudio: false, model: model)
        #expect(effect.before >= word.threshold && effect.after < word.threshold)
        #expect(word.highestProbability(in: try RecordedTakes.voice("Rear_Left"), model) >= word.threshold)
    }
}
