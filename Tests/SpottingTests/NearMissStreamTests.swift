import Core
import Inference
import TestSupport
import Testing
import WakeWords

@testable import Spotting

/// Near misses in a stream of a voice, with words of the model, a taught word and a wake word at once.
struct NearMissStreamTests {
    private static let names = [
        "Front_Left", "Rear_Right", "Side_Left", "Front_Center", "Front_Right", "Rear_Center", "Rear_Left",
        "Side_Right",
    ]

    /// The voice, loud and hardly audible, with pauses of all lengths.
    private static func stream() throws -> [Float] {
        var random = SplitMix(seed: 63)
        var audio = RecordedVoice.quiet
        for round in 0..<8 {
            for name in names {
                let gain: Float = [1, 0.3, 0.1, 0.03, 0.01, 0.003].randomElement(using: &random) ?? 1
                let pause = [1600, 4800, 12_000, 24_000, 40_000].randomElement(using: &random) ?? 1600
                let speech = try RecordedVoice.speech(name) + [Float](repeating: 0, count: pause + round * 160)
                audio += speech.map { $0 * gain + Float.random(in: -0.0005...0.0005, using: &random) }
            }
        }
        return audio
    }

    @Test(arguments: [DetectionMode.spot, .command])
    func `no near miss is within a second of a word that was found`(_ mode: DetectionMode) throws {
        let audio = try Self.stream()
        let model = try RecordedVoice.model()
        let taught = try RecordedVoice.taught("rear center", by: "Rear_Center", model)
        let wakeWord = try WakeWord(path: "\(Checkout.path)/Models/wake-words/okay_nabu.json")
        var settings = DetectorSettings(Vocabulary(model, taught: [taught], wakeWords: [wakeWord]))
        settings.gate.mode = mode
        settings.gate.nearMissMargin = 0.45
        settings.thresholds.setAll(0.85)
        var detector = Detector(settings)
        let window = [Float](repeating: 0, count: 16_000) + audio
        var found: [Detection] = []
        for hop in 1...audio.count / 1600 {
            detector.process(window: window.span.extracting(hop * 1600..<hop * 1600 + 16_000)) { found.append($0) }
        }
        detector.finish { found.append($0) }
        let words = found.filter { $0.kind == .word }
        let misses = found.filter { $0.kind == .nearMiss }
        let near = misses.filter { miss in
            words.contains { miss.start < max($0.end, $0.time) + 1 && miss.end > $0.start - 1 }
        }
        #expect(near.isEmpty, "\(near.count) of \(misses.count)")
        #expect(words.count > 10 && misses.count > 3, "\(mode): \(words.count) words, \(misses.count) near misses")
    }
}
