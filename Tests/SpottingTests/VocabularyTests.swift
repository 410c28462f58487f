import Foundation
import Inference
import TestSupport
import Testing

@testable import Spotting

/// The model's words and the user's own side by side, on the shipped model and the recorded voice.
struct VocabularyTests {
    private static func model() throws -> Model {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try Model(folder: root.appendingPathComponent("Models/commands").path)
    }

    /// 16 kHz audio after a second of silence and before another: a mean over three, as the voice lies far below 8 kHz.
    private static func voice(_ name: String) throws -> [Float] {
        let samples = try Voices.samples(name)
        let quiet = [Float](repeating: 0, count: 16_000)
        return quiet
            + stride(from: 0, to: samples.count - 3, by: 3).map {
                (samples[$0] + samples[$0 + 1] + samples[$0 + 2]) / 3
            } + quiet
    }

    /// A word taught by one recording: the embedding at the first quiet after it.
    private static func taught(_ name: String, by file: String, _ model: Model) throws -> PersonalWord {
        let audio = try voice(file)
        var session = Session(model, embeds: true)
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
            PersonalWord(name: name, threshold: 0.8, templates: [template], templateSpacing: 0, boundary: 0.7)
        )
    }

    private static func heard(_ file: String, _ vocabulary: Vocabulary, _ settings: GateSettings) throws -> [String] {
        let audio = try voice(file)
        var detector = Detector(
            vocabulary,
            settings: settings,
            thresholds: Thresholds(labels: vocabulary.labels, defaults: vocabulary.thresholds)
        )
        var names: [String] = []
        for end in stride(from: 16_000, through: audio.count, by: 1600) {
            detector.process(window: audio.span.extracting(end - 16_000..<end)) {
                names.append($0.name(labels: vocabulary.labels, phrases: []))
            }
        }
        return names
    }

    @Test(arguments: GateSettings.Mode.allCases)
    func `a word taught by one recording takes its place in another, beside the model's own`(mode: GateSettings.Mode)
        throws
    {
        let model = try Self.model()
        let vocabulary = Vocabulary(model, personal: [try Self.taught("links", by: "Front_Left", model)])
        #expect(vocabulary.labels.suffix(3) == ["links", "_unknown_", "_silence_"])
        var settings = GateSettings()
        settings.mode = mode
        settings.longestUtterance = 3
        for file in ["Rear_Left", "Side_Left"] {
            #expect(try Self.heard(file, vocabulary, settings) == ["links"])
            #expect(try Self.heard(file, Vocabulary(model), settings) == ["left"])
        }
        #expect(try Self.heard("Rear_Center", vocabulary, settings) == [])
        #expect(try Self.heard("Side_Right", vocabulary, settings) == ["right"])
        #expect(try Self.heard("Noise", vocabulary, settings) == [])
    }

    @Test(arguments: [5, 24, 1000]) func `pieces of a recording say what its hops say`(hops: Int) throws {
        let model = try Self.model()
        let vocabulary = Vocabulary(model, personal: [try Self.taught("links", by: "Front_Left", model)])
        let audio = try ["Side_Left", "Side_Right", "Rear_Left"].flatMap(Self.voice)
        let thresholds = Thresholds(labels: vocabulary.labels, defaults: vocabulary.thresholds)
        var detector = Detector(vocabulary, settings: GateSettings(), thresholds: thresholds)
        var expected: [Detection] = []
        for end in stride(from: 16_000, through: audio.count, by: 1600) {
            detector.process(window: audio.span.extracting(end - 16_000..<end)) { expected.append($0) }
        }
        #expect(expected.map { $0.name(labels: vocabulary.labels, phrases: []) } == ["links", "right", "links"])

        let scorer = try #require(ChunkScorer(model, embeds: true))
        var pieces = try #require(ChunkDetector(vocabulary, settings: GateSettings(), thresholds: thresholds))
        var found: [Detection] = []
        // The detector above heard its first hop at the end of the first second.
        let first = 16_000 - 1600
        for start in stride(from: first, to: audio.count - 1599, by: hops * 1600) {
            let count = min(hops, (audio.count - start) / 1600)
            let before = max(0, scorer.lead - start)
            let samples =
                [Float](repeating: 0, count: before) + audio[start - scorer.lead + before..<start + count * 1600]
            let piece = AudioChunk(samples: samples, hops: count, isFirst: start == first)
            pieces.decide(piece, scorer.score(piece)) { found.append($0) }
        }
        #expect(found == expected)
    }

    private final class Stream {
        var detector: Detector
        let audio: [Float]

        init(_ vocabulary: Vocabulary, _ audio: [Float]) {
            var settings = GateSettings()
            settings.mode = .command
            let thresholds = Thresholds(labels: vocabulary.labels, defaults: vocabulary.thresholds)
            detector = Detector(vocabulary, settings: settings, thresholds: thresholds)
            self.audio = audio
        }

        func hear() -> Int {
            let audio = audio
            var heard = 0
            for end in stride(from: 16_000, through: audio.count, by: 1600) {
                detector.process(window: audio.span.extracting(end - 16_000..<end)) { _ in heard += 1 }
            }
            return heard
        }
    }

    @Test func `a hop with the words of a user allocates nothing, ahead and detections included`() throws {
        let model = try Self.model()
        let word = try Self.taught("links", by: "Front_Left", model)
        let others = try (0..<100).map { number in
            try #require(
                PersonalWord(
                    name: "word \(number)",
                    threshold: 0.9,
                    templates: [word.templates[0].map { $0 * Float(number) - 1 }, word.templates[0].reversed()],
                    templateSpacing: 5,
                    boundary: 0.99
                )
            )
        }
        let stream = Stream(Vocabulary(model, personal: [word] + others), try Self.voice("Side_Left"))
        var heard = 0
        let trial = HeapTrial {
            stream.detector.flush()
            heard += stream.hear()
        }
        #expect(trial.isQuiet(seconds: 30))
        #expect(heard >= 1)
    }

    @Test func `posteriors are fused`() throws {
        let model = try Self.model()
        func word(_ name: String) throws -> PersonalWord {
            try #require(PersonalWord(name: name, threshold: 0.5, templates: [[1]], templateSpacing: 0, boundary: 0.5))
        }
        // "stop" is one of the model's words already: it has one label still.
        let vocabulary = Vocabulary(model, personal: try ["lights", "stop", "lamp"].map(word))
        #expect(vocabulary.labels.count == model.labels.count + 2)
        #expect(vocabulary.silenceIndex == vocabulary.labels.count - 1)
        var posteriors = [Float](repeating: 0, count: model.labels.count)
        let stop = try #require(model.labels.firstIndex(of: "stop"))
        posteriors[stop] = 0.25
        posteriors[model.labels.count - 2] = 0.5
        posteriors[model.labels.count - 1] = 0.25
        var fused = vocabulary.fused(posteriors, [0.6, 0.2, 0.2])
        func share(_ name: String) -> Float { vocabulary.labels.firstIndex(of: name).map { fused[$0] } ?? -1 }
        // 0.6 goes to the user's words, by their odds of 6 to 1 to the power of 2.5; the model's words lose a fifth, silence
        // loses 0.6 and unknown that eight times over, and then both 1 in 33 to "stop".
        let doubt: Float = 0.4 * 0.4 * 0.4 * 0.4 * 0.4 * 0.4 * 0.4 * 0.4
        let power: Float = 6 * 6 * Float(6).squareRoot()
        #expect(
            abs(share("lights") - 0.6 * power / (1 + power)) < 1e-6 && abs(share("lamp") - 0.6 / (1 + power)) < 1e-6
        )
        #expect(abs(share("stop") - (0.25 * 0.8 + (0.1 + 0.5 * doubt) / 33)) < 1e-6)
        #expect(
            abs(share("_unknown_") - 0.5 * doubt * 32 / 33) < 1e-6 && abs(share("_silence_") - 0.1 * 32 / 33) < 1e-6
        )
        fused = vocabulary.fused(posteriors, [0, 0, 0])
        #expect(share("stop") == 0.25 && fused.reduce(0, +) == 1)
    }
}
