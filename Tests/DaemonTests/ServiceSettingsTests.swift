import Configuration
import Control
import Spotting
import Testing

@testable import Daemon

/// How long a threshold set by `beckon set` lasts.
struct ServiceSettingsTests {
    private static let words = ["left", "right", "stop"]

    private func settings(_ text: String, _ vocabulary: Vocabulary) throws -> ServiceSettings {
        let known = vocabulary.labels.filter { !$0.hasPrefix("_") }
        return try ServiceSettings(
            ParsedConfiguration(text: text, file: "f").validated(words: known).configuration,
            vocabulary
        )
    }

    private func threshold(_ word: String, _ settings: ServiceSettings) throws -> Float? {
        settings.thresholds.values[try #require(settings.vocabulary.labels.firstIndex(of: word))]
    }

    /// The threshold of `left`: it is set under the configuration `text`, then each of `next` is applied.
    private func left(_ text: String, then next: String...) throws -> Float? {
        let vocabulary = Vocabulary(try Material.model())
        var settings = try settings(text, vocabulary)
        try settings.set([WordThreshold("left=0.99")])
        #expect(try threshold("left", settings) == 0.99)
        for text in next {
            var new = try self.settings(text, vocabulary)
            new.keepThresholds(of: settings)
            settings = new
        }
        return try threshold("left", settings)
    }

    @Test func `a set threshold survives a change of the words and of other settings`() throws {
        #expect(try left("{}", then: "{}", "{}") == 0.99)
        let configured = "{ words: { left: { threshold: 0.6 } } }"
        #expect(try left(configured, then: configured) == 0.99)
        #expect(try left(configured, then: "{ cooldown: 2, words: { left: { threshold: 0.6, cooldown: 1 } } }") == 0.99)
        #expect(try left("{}", then: "{ words: { right: { threshold: 0.6 } } }") == 0.99)
    }

    @Test func `a changed threshold in the configuration replaces the set one for good`() throws {
        #expect(try left("{}", then: "{ words: { left: { threshold: 0.6 } } }") == 0.6)
        #expect(try left("{}", then: "{ threshold: 0.7 }") == 0.7)
        #expect(try left("{ threshold: 0.7 }", then: "{ threshold: 0.7, words: { left: { threshold: 0.6 } } }") == 0.6)
        #expect(try left("{}", then: "{ words: { left: { enabled: false } } }") == nil)
        let model = try left("{ threshold: 0.7 }", then: "{}")
        #expect(model != 0.99 && model != 0.7)
        // Once replaced, the threshold that was set does not come back.
        #expect(try left("{}", then: "{ threshold: 0.7 }", "{}") == model)
    }

    @Test func `a word that is gone takes its threshold with it; one that is unknown changes nothing`() throws {
        let model = try Material.model()
        var settings = try settings("{}", Vocabulary(model))
        #expect(throws: SpottingError.self) {
            try settings.set([WordThreshold("left=0.99"), WordThreshold("nobody=0.5")])
        }
        #expect(try threshold("left", settings) != 0.99)
        #expect(throws: SpottingError.self) { try settings.set([WordThreshold("_silence_=0.5")]) }
    }
}
