import Foundation
import Inference
import TestSupport
import Testing

@testable import Enrollment

/// The recorded voice as utterances and words, made with the shipped model.
enum RecordedTakes {
    /// Folder of the shipped model.
    static let folder: String = {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return root.appendingPathComponent("Models/commands").path
    }()

    static func model() throws -> Model { try Model(folder: folder) }

    /// A recording at 16 kHz: the mean of every three samples. The voice is far below 8 kHz, so it does not alias.
    static func voice(_ name: String) throws -> [Float] {
        let samples = try Voices.samples(name)
        return stride(from: 0, to: samples.count - 3, by: 3).map {
            (samples[$0] + samples[$0 + 1] + samples[$0 + 2]) / 3
        }
    }

    /// The first utterance of a recording.
    static func utterance(_ name: String) throws -> Utterance {
        try #require(UtteranceSegmenter.utterances(of: try voice(name), try model()).first)
    }

    /// The same utterance several times, each quieter and with more noise than the one before.
    static func variants(_ name: String, _ count: Int) throws -> [Utterance] {
        let utterance = try utterance(name)
        return (0..<count).map { number in
            var noise = QuietNoise(level: 0.001 * Float(number))
            let added = noise.samples(utterance.samples.count)
            return Utterance(
                samples: zip(utterance.samples, added).map { $0 * (1 - 0.1 * Float(number)) + $1 },
                speech: utterance.speech
            )
        }
    }

    /// A word taught by utterances, with their audio.
    static func word(_ name: String, _ utterances: [Utterance]) throws -> WordStore.Word {
        var session = try Teaching(name, existing: nil, model: try model(), keepsAudio: true)
        for utterance in utterances { #expect(session.add(utterance) == nil) }
        return session.word
    }
}
