import Core
import Foundation
import Inference
import TestSupport
import Testing

@testable import Spotting

/// A kind of words that the program does not know is found wherever words are.
struct WordKindTests {
    /// A second of silence, of a tone of 440 Hz, of silence, of one of 1 kHz, and two of silence.
    private static func audio(_ level: Float = 0.5) -> [Float] {
        (0..<96_000).map { index in
            let hertz: [Double] = [0, 440, 0, 1000, 0, 0]
            return level * Float(sin(2 * Double.pi * hertz[index / 16_000] * Double(index) / 16_000))
        }
    }

    private static func settings(_ rule: FiringRule, isLookedAt: Bool = false) throws -> DetectorSettings {
        let kind = ToneKind(tones: [("low tone", 440), ("high tone", 1000)], rule: rule, isLookedAt: isLookedAt)
        let model = try RecordedVoice.model(confirms: false)
        let taught = try RecordedVoice.taught("rear center", by: "Rear_Center", model)
        return DetectorSettings(Vocabulary(model, taught: [taught], more: [kind]))
    }

    private static func live(_ settings: DetectorSettings, _ audio: [Float], flushAt: Int? = nil) -> [Detection] {
        var detector = Detector(settings)
        let window = [Float](repeating: 0, count: 16_000) + audio
        var found: [Detection] = []
        for hop in 1...audio.count / 1600 {
            if hop == flushAt { detector.flush() }
            detector.process(window: window.span.extracting(hop * 1600..<hop * 1600 + 16_000)) { found.append($0) }
        }
        detector.finish { found.append($0) }
        return found
    }

    @Test(arguments: [FiringRule.rising, .gate])
    func `words of another kind are found live, in batches, in files and in clips`(rule: FiringRule) throws {
        let settings = try Self.settings(rule)
        let labels = settings.vocabulary.labels
        #expect(labels.suffix(5) == ["rear center", "low tone", "high tone", "_unknown_", "_silence_"])
        let audio = Self.audio()
        let found = Self.live(settings, audio)
        #expect(found.map { settings.name(of: $0) } == ["low tone", "high tone"], "\(found)")
        #expect(found.map(\.threshold) == [0.5, 0.5] && found.allSatisfy { $0.confidence > 0.9 })
        // They fire by themselves at the first hop; the gate waits for a second one.
        let times = rule == .rising ? [1.1, 3.1] : [1.2, 3.2]
        #expect(zip(found, times).allSatisfy { abs($0.time - $1) < 0.11 }, "\(found.map(\.time))")

        var batch = BatchDetector(settings)
        let stream = batch.makeStream()
        var together: [Detection] = []
        for hop in 0..<audio.count / 1600 {
            stream.fill { room in
                for index in room.indices { room[index] = audio[hop * 1600 + index] }
                return room.count
            }
            stream.endsWithHop = hop == audio.count / 1600 - 1
            batch.process([stream]) { together.append($1) }
        }
        #expect(together == found)
        let folder = try TestFolder()
        let file = try folder.write("a.wav", format: 0x010006, audio)
        let inFile = try FileDetector(settings).detections(in: file)
        #expect(inFile.map(\.index) == found.map(\.index) && inFile.map(\.time) == found.map(\.time))

        var clips = ClipScorer(settings.vocabulary)
        for (tone, first) in [("low tone", 16_000), ("high tone", 48_000)] {
            let scores = clips.score(clip: Array(audio[first..<first + 16_000]))
            let best = scores.indices.max { scores[$0] < scores[$1] }
            #expect(best.map { labels[$0] } == tone, "\(scores)")
        }
    }

    @Test(arguments: [FiringRule.rising, .gate])
    func `a look of the kind confirms what it proposes, or refuses it`(rule: FiringRule) throws {
        let settings = try Self.settings(rule, isLookedAt: true)
        let loud = Self.live(settings, Self.audio())
        #expect(loud.map { settings.name(of: $0) } == ["low tone", "high tone"])
        #expect(loud.allSatisfy { $0.confirmed == 1 && ($0.proposed ?? 0) > 0.9 })
        #expect(Self.live(settings, Self.audio(0.05)) == [])
    }

    @Test func `a kind goes on where other words change, and has sensitivities and own thresholds`() throws {
        let settings = try Self.settings(.rising)
        let model = settings.vocabulary.model
        var detector = Detector(settings)
        let window = [Float](repeating: 0, count: 16_000) + Self.audio()
        var found: [String] = []
        for hop in 1...window.count / 1600 - 10 {
            // Another vocabulary at each hop: the taught word comes and goes, and so does the place of the tones.
            let taught = hop.isMultiple(of: 2) ? settings.vocabulary.taught : []
            let kind = ToneKind(tones: [("low tone", 440), ("high tone", 1000)])
            _ = detector.update(DetectorSettings(Vocabulary(model, taught: taught, more: [kind])))
            let names = detector.settings
            detector.process(window: window.span.extracting(hop * 1600..<hop * 1600 + 16_000)) {
                found.append(names.name(of: $0))
            }
        }
        #expect(found == ["low tone", "high tone"])
        var choices = ThresholdChoices()
        choices.all = .sensitivity(.strict)
        #expect(try choices.thresholds(of: settings.vocabulary, mode: .spot).values.suffix(4) == [0.5, 0.5, nil, nil])
        choices.words["low tone"] = .sensitivity(.strict)
        #expect(throws: SpottingError.noThresholds) { try choices.thresholds(of: settings.vocabulary, mode: .spot) }
    }
}
