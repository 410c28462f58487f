import Foundation
import Inference
import Spotting
import TestSupport
import Testing

/// The detector as a whole, on the shipped model and the recorded voice.
struct DetectorTests {
    private static func model() throws -> Model {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try Model(folder: root.appendingPathComponent("Models/commands").path)
    }

    /// A stream of 16 kHz audio and its detector, in a class so that a trial can hold it.
    private final class Stream {
        var detector: Detector
        var audio: [Float]
        var found: [Detection] = []

        init(_ model: Model, audio: [Float]) throws {
            let thresholds = Thresholds(labels: model.labels, defaults: model.thresholds)
            let phrases = [try Phrase("go left", words: model.labels)]
            detector = Detector(Vocabulary(model), settings: GateSettings(), thresholds: thresholds, phrases: phrases)
            self.audio = [Float](repeating: 0, count: 16_000) + audio
        }

        /// Hears hops `range`, counted from 0.
        func hear(_ range: Range<Int>, report: (Detection) -> Void) {
            let audio = audio
            for hop in range {
                let end = (hop + 1) * 1600 + 16_000
                detector.process(window: audio.span.extracting(end - 16_000..<end), report: report)
            }
        }

        func hearAll() -> [String] {
            var found: [Detection] = []
            hear(0..<(audio.count - 16_000) / 1600) { found.append($0) }
            return found.map { detector.name(of: $0) }
        }
    }

    /// Every third sample after a mean over three: the voice lies far enough below 8 kHz.
    private static func voice(_ name: String) throws -> [Float] {
        let samples = try Voices.samples(name)
        return stride(from: 0, to: samples.count - 3, by: 3).map {
            (samples[$0] + samples[$0 + 1] + samples[$0 + 2]) / 3
        }
    }

    private static let quiet = [Float](repeating: 0, count: 16_000)

    @Test func `a word is heard once`() throws {
        let stream = try Stream(Self.model(), audio: Self.voice("Rear_Left") + Self.quiet)
        #expect(stream.hearAll() == ["left"])
    }

    @Test func `nothing from before a flush fires after it`() throws {
        // Flushed at every hop in turn: either the word had fired by then, or it is forgotten with the audio before;
        // what is left of the voice may never give the word a second time.
        let model = try Self.model()
        let audio = try Self.voice("Rear_Left") + Self.quiet
        let whole = try Stream(model, audio: audio)
        var firedAt = 0
        for hop in 0..<22 { whole.hear(hop..<hop + 1) { _ in firedAt = hop } }
        #expect(firedAt > 5)
        for flushAt in firedAt + 1..<22 {
            let stream = try Stream(model, audio: audio)
            var fired = 0
            stream.hear(0..<flushAt) { _ in fired += 1 }
            stream.detector.flush()
            // After a gap the stream begins anew: what was heard is no longer in the window.
            stream.audio = [Float](repeating: 0, count: 16_000) + stream.audio[(flushAt * 1600 + 16_000)...]
            stream.hear(0..<(stream.audio.count - 16_000) / 1600) { _ in fired += 1 }
            #expect(fired == 1, "flushed at hop \(flushAt)")
        }
    }

    @Test func `a hop allocates nothing, detections included`() throws {
        let stream = try Stream(Self.model(), audio: Self.voice("Rear_Left") + Self.quiet)
        var heard = 0
        let trial = HeapTrial {
            stream.detector.flush()
            stream.hear(0..<22) { _ in heard += 1 }
        }
        #expect(trial.isQuiet(seconds: 30))
        #expect(heard >= 1)
    }
}
