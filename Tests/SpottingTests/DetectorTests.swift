import Core
import Foundation
import Inference
import Spotting
import TestSupport
import Testing

/// The whole detector, with the shipped model and the recorded voice.
struct DetectorTests {
    /// A stream of 16 kHz audio and its detector, in a class so that a trial can hold it.
    private final class Stream {
        var detector: Detector
        var audio: [Float]
        var found: [Detection] = []

        init(_ model: Model, audio: [Float]) throws {
            let phrases = [try Phrase("go left", words: model.labels)]
            detector = Detector(DetectorSettings(Vocabulary(model), phrases: phrases))
            self.audio = [Float](repeating: 0, count: 16_000) + audio
        }

        /// Processes hops `range`, counted from 0.
        func process(_ range: Range<Int>, report: (Detection) -> Void) {
            let audio = audio
            for hop in range {
                let end = (hop + 1) * 1600 + 16_000
                detector.process(window: audio.span.extracting(end - 16_000..<end), report: report)
            }
        }

        func processAll() -> [String] {
            var found: [Detection] = []
            process(0..<(audio.count - 16_000) / 1600) { found.append($0) }
            return found.map { detector.settings.name(of: $0) }
        }
    }

    @Test func `a word is detected once`() throws {
        let stream = try Stream(RecordedVoice.model(), audio: RecordedVoice.speech("Rear_Left") + RecordedVoice.quiet)
        #expect(stream.processAll() == ["left"])
    }

    @Test func `nothing from before a flush fires after it`() throws {
        // Flush at each hop after the word fired, in turn: the rest of the recording must not fire the word again.
        let model = try RecordedVoice.model()
        let audio = try RecordedVoice.speech("Rear_Left") + RecordedVoice.quiet
        let whole = try Stream(model, audio: audio)
        var firedAt = 0
        for hop in 0..<22 { whole.process(hop..<hop + 1) { _ in firedAt = hop } }
        #expect(firedAt > 5)
        for flushAt in firedAt + 1..<22 {
            let stream = try Stream(model, audio: audio)
            var fired = 0
            stream.process(0..<flushAt) { _ in fired += 1 }
            stream.detector.flush()
            // After a gap the stream starts again: audio from before the gap is no longer in the window.
            stream.audio = [Float](repeating: 0, count: 16_000) + stream.audio[(flushAt * 1600 + 16_000)...]
            stream.process(0..<(stream.audio.count - 16_000) / 1600) { _ in fired += 1 }
            #expect(fired == 1, "flushed at hop \(flushAt)")
        }
    }

    @Test func `a hop allocates nothing, detections included`() throws {
        let stream = try Stream(RecordedVoice.model(), audio: RecordedVoice.speech("Rear_Left") + RecordedVoice.quiet)
        var detections = 0
        let trial = HeapTrial {
            stream.detector.flush()
            stream.process(0..<22) { _ in detections += 1 }
        }
        #expect(trial.isQuiet(seconds: 30))
        #expect(detections >= 1)
    }

    // MARK: - Taught words

    private static func detected(_ file: String, _ vocabulary: Vocabulary, _ settings: GateSettings) throws -> [String]
    {
        let audio = try RecordedVoice.voice(file)
        let thresholds = vocabulary.thresholds(mode: .spot)
        var detector = Detector(DetectorSettings(vocabulary, gate: settings, thresholds: thresholds))
        var names: [String] = []
        for end in stride(from: 16_000, through: audio.count, by: 1600) {
            detector.process(window: audio.span.extracting(end - 16_000..<end)) {
                names.append($0.name(labels: vocabulary.labels, phrases: []))
            }
        }
        return names
    }

    @Test(arguments: DetectionMode.allCases)
    func `a word taught by one recording is detected in others, beside the model's words`(mode: DetectionMode)
        throws
    {
        let model = try RecordedVoice.model()
        let vocabulary = Vocabulary(model, taught: [try RecordedVoice.taught("links", by: "Front_Left", model)])
        #expect(vocabulary.labels.suffix(3) == ["links", "_unknown_", "_silence_"])
        var settings = GateSettings()
        settings.mode = mode
        settings.longestUtterance = 3
        for file in ["Rear_Left", "Side_Left"] {
            #expect(try Self.detected(file, vocabulary, settings) == ["links"])
            #expect(try Self.detected(file, Vocabulary(model), settings) == ["left"])
        }
        #expect(try Self.detected("Rear_Center", vocabulary, settings) == [])
        #expect(try Self.detected("Side_Right", vocabulary, settings) == ["right"])
        #expect(try Self.detected("Noise", vocabulary, settings) == [])
    }

    private final class TaughtStream {
        var detector: Detector
        let audio: [Float]

        init(_ vocabulary: Vocabulary, _ audio: [Float]) {
            var settings = GateSettings()
            settings.mode = .command
            let thresholds = vocabulary.thresholds(mode: .spot)
            detector = Detector(DetectorSettings(vocabulary, gate: settings, thresholds: thresholds))
            self.audio = audio
        }

        func process() -> Int {
            let audio = audio
            var detections = 0
            for end in stride(from: 16_000, through: audio.count, by: 1600) {
                detector.process(window: audio.span.extracting(end - 16_000..<end)) { _ in detections += 1 }
            }
            return detections
        }
    }

    @Test func `a hop with taught words allocates nothing, lookahead and detections included`() throws {
        let model = try RecordedVoice.model()
        let word = try RecordedVoice.taught("links", by: "Front_Left", model)
        let others = try (0..<100).map { number in
            try #require(
                TaughtWord(
                    name: "word \(number)",
                    threshold: 0.9,
                    templates: [word.templates[0].map { $0 * Float(number) - 1 }, word.templates[0].reversed()],
                    templateSpacing: 5,
                    boundary: 0.99
                )
            )
        }
        let stream = TaughtStream(Vocabulary(model, taught: [word] + others), try RecordedVoice.voice("Side_Left"))
        var detections = 0
        let trial = HeapTrial {
            stream.detector.flush()
            detections += stream.process()
        }
        #expect(trial.isQuiet(seconds: 30))
        #expect(detections >= 1)
    }
}
