import Foundation
import Inference
import TestSupport
import Testing

@testable import Spotting

/// The recorded voice, the shipped model, and words taught with recordings of the voice.
enum RecordedVoice {
    /// - Parameter confirms: false for the streaming network alone.
    static func model(confirms: Bool = true) throws -> Model {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try Model(folder: root.appendingPathComponent("Models/commands").path, confirms: confirms)
    }

    static let quiet = [Float](repeating: 0, count: 16_000)

    /// A recording at 16 kHz: the mean of every three samples. The voice is far below 8 kHz, so it does not alias.
    static func speech(_ name: String) throws -> [Float] {
        let samples = try Voices.samples(name)
        return stride(from: 0, to: samples.count - 3, by: 3).map {
            (samples[$0] + samples[$0 + 1] + samples[$0 + 2]) / 3
        }
    }

    /// A recording with a second of silence before and after.
    static func voice(_ name: String) throws -> [Float] { try quiet + speech(name) + quiet }

    /// A word taught by one recording: the embedding at the first quiet after it.
    static func taught(_ name: String, by file: String, _ model: Model) throws -> TaughtWord {
        let audio = try voice(file)
        var session = InferenceStream(model, embeds: true)
        var activity = ActivityDetector(of: model)
        var wasSound = false
        var template: [Float] = []
        for end in stride(from: 16_000, through: audio.count, by: 1600) where template.isEmpty {
            session.score(window: audio.span.extracting(end - 16_000..<end))
            activity.add(hop: audio.span.extracting(end - 1600..<end), logits: session.activity)
            wasSound = wasSound || activity.history.quietSeconds == 0
            if wasSound, activity.history.quietSeconds >= 0.3 { template = session.embedding }
        }
        return try #require(
            TaughtWord(name: name, threshold: 0.8, templates: [template], templateSpacing: 0, boundary: 0.7)
        )
    }
}
