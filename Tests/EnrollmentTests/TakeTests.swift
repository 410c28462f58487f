import Foundation
import Inference
import TestSupport
import Testing

@testable import Enrollment

/// Recordings into utterances into takes: what is found in them, and what is wrong with them.
struct TakeTests {
    static func model() throws -> Model { try Model(folder: folder) }

    static let folder: String = {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return root.appendingPathComponent("Models/commands").path
    }()

    /// 16 kHz: a mean over three, as the voice lies far below 8 kHz.
    static func voice(_ name: String) throws -> [Float] {
        let samples = try Voices.samples(name)
        return stride(from: 0, to: samples.count - 3, by: 3).map {
            (samples[$0] + samples[$0 + 1] + samples[$0 + 2]) / 3
        }
    }

    static func utterance(_ name: String) throws -> Utterance {
        try #require(UtteranceCutter.utterances(of: try voice(name), try model()).first)
    }

    private static func quiet(_ seconds: Double) -> [Float] {
        var noise = QuietNoise(level: 3e-4)
        return noise.samples(Int(seconds * 16000))
    }

    @Test func `a recording of two words is two utterances, where they are`() throws {
        let (first, second) = (try Self.voice("Front_Left"), try Self.voice("Rear_Right"))
        let audio = Self.quiet(1) + first + Self.quiet(0.9) + second + Self.quiet(1)
        let found = UtteranceCutter.utterances(of: audio, try Self.model())
        #expect(found.count == 2)
        let starts = [16000, 16000 + first.count + 14400]
        for (utterance, (start, voice)) in zip(found, zip(starts, [first, second])) {
            let speech = utterance.start + utterance.speech.lowerBound..<utterance.start + utterance.speech.upperBound
            #expect(speech.lowerBound > start - 1600 && speech.upperBound < start + voice.count + 1600)
            #expect(utterance.seconds > 0.5 && utterance.seconds < 1.5)
            // The samples are those of the recording.
            #expect(utterance.samples == Array(audio[utterance.start..<utterance.start + utterance.samples.count]))
            #expect(TakeCheck(utterance).fault == nil)
        }
    }

    @Test func `nothing is found where nobody speaks`() throws {
        let model = try Self.model()
        #expect(UtteranceCutter.utterances(of: Self.quiet(3), model) == [])
        #expect(UtteranceCutter.utterances(of: [], model) == [])
        #expect(UtteranceCutter.utterances(of: [Float](repeating: 0, count: 40000), model) == [])
    }

    @Test func `a take that is not whole, or not well recorded, is refused for what is wrong with it`() throws {
        let whole = try Self.utterance("Front_Center")
        let (samples, speech) = (whole.samples, whole.speech)
        func fault(_ samples: [Float], _ speech: Range<Int>) -> TakeFault? {
            TakeCheck(Utterance(samples: samples, speech: speech)).fault
        }
        guard case .tooQuiet(let level)? = fault(samples.map { $0 * 0.003 }, speech) else {
            Issue.record("not too quiet")
            return
        }
        #expect(level < -50)
        let loud = samples.map { max(-1, min(1, $0 * 40)) }
        guard case .clipped(let share)? = fault(loud, speech) else {
            Issue.record("not clipped")
            return
        }
        #expect(share > 0.01 && share < 0.9)
        // In the middle of the loudest vowel.
        let loudest = speech.max { abs(samples[$0]) < abs(samples[$1]) } ?? 0
        #expect(fault(Array(samples[loudest...]), 0..<speech.upperBound - loudest) == .cutOff(atStart: true))
        let front = Array(samples[..<loudest])
        #expect(fault(front, speech.lowerBound..<loudest) == .cutOff(atStart: false))
        #expect(fault(samples, speech.lowerBound..<speech.lowerBound + 800) == .tooShort(0.05))
        let twice = samples + samples + samples
        let long = speech.lowerBound..<speech.lowerBound + 40000
        #expect(
            fault(twice, long.clamped(to: 0..<twice.count))
                == .tooLong(Double(min(40000, twice.count - speech.lowerBound)) / 16000, longest: 2)
        )
    }

    @Test func `a word is most like itself, by another take or louder`() throws {
        let model = try Self.model()
        var embedder = TakeEmbedder(model)
        func anchors(_ name: String, gain: Float = 1) throws -> [[Float]] {
            let utterance = try Self.utterance(name)
            let samples = utterance.samples.map { $0 * gain }
            return embedder.anchors(of: Utterance(samples: samples, speech: utterance.speech), lag: 0)
        }
        let names = ["Front_Left", "Side_Right", "Rear_Center"]
        let vectors = try names.map { try anchors($0)[0] }
        for (index, vector) in vectors.enumerated() {
            #expect(abs(dot(vector, vector) - 1) < 1e-4)
            let quieter = try anchors(names[index], gain: 0.3)[0]
            #expect(dot(vector, quieter) > 0.9)
            for other in vectors[(index + 1)...] { #expect(dot(vector, other) < 0.75) }
        }
    }

    @Test func `phrases have two anchors, and words one`() throws {
        let model = try Self.model()
        #expect(TakeEmbedder.lag(seconds: 0.6, model) == 0)
        #expect(TakeEmbedder.lag(seconds: 1.4, model) == 6)
        #expect(TakeEmbedder.lag(seconds: 2, model) == 12)
        var embedder = TakeEmbedder(model)
        let anchors = embedder.anchors(of: try Self.utterance("Rear_Left"), lag: 6)
        #expect(anchors.count == 2 && dot(anchors[0], anchors[1]) < 0.9)
    }
}
