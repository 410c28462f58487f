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

    @Test(arguments: [12, 15]) func `a batch that begins to look at a word within a stream has the audio before`(
        change: Int
    ) throws {
        let (word, _, _) = try Self.words()
        // Without networks that confirm, and without the speech embedding, there is no second look. Mode spot does not look ahead, as batches.
        let model = try Model(folder: RecordedTakes.folder, confirms: false)
        let taught = [try #require(word.taught)]
        var before = DetectorSettings(Vocabulary(model, taught: taught))
        var after = DetectorSettings(Vocabulary(model, taught: taught, speech: .ofTakes))
        (before.gate.mode, after.gate.mode) = (.spot, .spot)
        let pause = [Float](repeating: 0, count: 16_000)
        let audio = try pause + RecordedTakes.voice("Rear_Left") + pause
        let padded = pause + audio
        var (alone, together, throughout): ([Detection], [Detection], [Detection]) = ([], [], [])
        var detector = Detector(before)
        var looking = Detector(after)
        var batch = BatchDetector(before)
        let stream = batch.makeStream()
        for hop in 0..<audio.count / 1600 {
            if hop == change {
                _ = detector.update(after)
                batch.update(after)
            }
            let end = 16_000 + (hop + 1) * 1600
            let window = padded.span.extracting(end - 16_000..<end)
            detector.process(window: window) { alone.append($0) }
            looking.process(window: window) { throughout.append($0) }
            stream.fill { room in
                for index in room.indices { room[index] = audio[hop * 1600 + index] }
                return room.count
            }
            batch.process([stream]) { together.append($1) }
        }
        let label = try #require(after.vocabulary.labels.firstIndex(of: "rear left"))
        #expect(alone.contains { $0.index == label && $0.confirmed != nil })
        #expect(together.map(\.confirmed) == alone.map(\.confirmed))
        #expect(alone.map(\.confirmed) == throughout.map(\.confirmed))
    }

    @Test func `a phrase that is as near to a part is refused; to its end, if it is quiet before it`() throws {
        let (word, _, model) = try Self.words()
        let taught = try #require(word.taught)
        #expect(taught.parts.count == 2 && taught.speech?.firstGap == 0.5)
        let vocabulary = Vocabulary(model, taught: [taught], speech: .ofTakes)
        let label = try #require(vocabulary.labels.firstIndex(of: "rear left"))
        let look = WordLooks(vocabulary, ofModel: false)
        let utterance = try RecordedTakes.utterance("Rear_Left")
        let end = try #require(PhraseParts.utterances(of: utterance, name: "rear left").last)
        func confidence(in samples: [Float], noise: Float = 0, _ beginning: Float, _ atEnd: Float) -> Float {
            var quiet = QuietNoise(level: noise)
            let added = quiet.samples(48_000)
            let proposed = ProposedWord(
                label: label,
                score: 0.95,
                middle: 0,
                end: samples.count,
                hops: 1,
                partMargin: PartMargin(beginning: beginning, end: atEnd)
            )
            let verdict = look.look(proposed, []) { first, target in
                for place in target.indices {
                    let sample = samples.indices.contains(first + place) ? samples[first + place] : 0
                    target[place] = sample + added[place % added.count]
                }
            }
            return verdict.confidence
        }
        let whole = try RecordedTakes.voice("Rear_Left")
        // Margins beside a beginning and an end, and whether the phrase is found.
        for (beginning, atEnd, isFound) in [
            (.infinity, .infinity, true), (0.5, 0.5, true), (-0.5, 0.5, false), (-0.5, -0.5, false), (0.5, -0.2, true),
        ] as [(Float, Float, Bool)] {
            let found = confidence(in: whole, beginning, atEnd)
            #expect((found >= word.threshold) == isFound, "\(beginning), \(atEnd): \(found)")
        }
        // Its end alone, also in noise: the margin beside the end counts.
        for noise in [Float(0), 0.01] {
            let free = confidence(in: end.samples, noise: noise, 0.5, 0.5)
            let found = confidence(in: end.samples, noise: noise, 0.5, -0.9)
            #expect(found < free / 2 && found < 0.1, "\(noise): \(free), \(found)")
        }
        // And at the end of something else.
        let other = try RecordedTakes.utterance("Front_Center")
        let after = Array(other.samples[..<other.speech.upperBound]) + end.samples
        #expect(confidence(in: after, 0.5, -0.9) < 0.1)
        let nothing = confidence(in: [Float](repeating: 0, count: 32_000), 0.5, -0.9)
        let broken = confidence(in: [Float](repeating: .nan, count: 32_000), 0.5, -0.9)
        #expect(nothing < 0.1 && broken < 0.1)
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
