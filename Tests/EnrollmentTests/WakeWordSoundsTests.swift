import Core
import Inference
import Spotting
import TestSupport
import Testing
import WakeWords

@testable import Enrollment

/// The second look at wake words, by the sounds of their phrases.
struct WakeWordSoundsTests {
    /// A shipped wake word whose threshold a recorded voice reaches, under another phrase.
    private static func word(_ phrase: String, languages: String = "\"en\"") throws -> WakeWord {
        let network = try WakeWord(path: Checkout.path + "/Models/wake-words/okay_nabu.json").network
        let manifest = """
            {"type": "micro", "version": 2, "wake_word": "\(phrase)", "model": "a.tflite",
            "trained_languages": [\(languages)],
            "micro": {"probability_cutoff": 0.004, "sliding_window_size": 5, "feature_step_size": 10}}
            """
        return WakeWord(manifest: try WakeWordManifest(json: Array(manifest.utf8)), network: network)
    }

    private static func vocabulary(_ words: [WakeWord], confirms: Bool = true) throws -> Vocabulary {
        let model = try Model(folder: Checkout.model, confirms: false)
        let loader = VocabularyLoader(modelFolder: Checkout.model, confirms: confirms, words: TaughtWords("none"))
        return try loader.vocabulary(model, taught: [], wakeWords: VocabularyLoader.WakeWords(words))
    }

    @Test(arguments: [
        ("Okay Nabu", "\"en\"", true), ("Hey Jarvis", "\"de\", \"en\"", true), ("Hey Jarvis", "\"de\"", false),
        ("Hey Jarvis", "", false), ("Go", "\"en\"", false), ("你好", "\"en\"", false),
    ])
    func `an English phrase that is long enough is looked at`(phrase: String, languages: String, isLookedAt: Bool)
        throws
    {
        let words = [try Self.word(phrase, languages: languages)]
        for confirms in [true, false] {
            let vocabulary = try Self.vocabulary(words, confirms: confirms)
            let label = try #require(vocabulary.labels.firstIndex(of: words[0].name))
            let proposals = vocabulary.proposals(mode: .spot)
            #expect((proposals.isEmpty ? nil : proposals[label]) == (isLookedAt && confirms ? 0.004 : nil))
        }
    }

    /// The voice says "side left", which the network takes for its word.
    @Test(arguments: [("side left", true, true), ("okay nabu", true, false), ("okay nabu", false, true)])
    func `what does not sound like the phrase is refused`(phrase: String, confirms: Bool, isFound: Bool) throws {
        let vocabulary = try Self.vocabulary([try Self.word(phrase)], confirms: confirms)
        let settings = DetectorSettings(vocabulary)
        let quiet = [Float](repeating: 0, count: 32_000)
        let audio = quiet + (try RecordedTakes.voice("Side_Left")) + quiet
        var detector = Detector(settings)
        var found: [Detection] = []
        for end in stride(from: 16_000, through: audio.count, by: 1600) {
            detector.process(window: audio.span.extracting(end - 16_000..<end)) { found.append($0) }
        }
        let words = found.filter { settings.name(of: $0) == phrase }
        #expect(words.isEmpty != isFound, "\(found)")
        #expect(words.allSatisfy { ($0.confirmed != nil) == confirms })
    }
}
