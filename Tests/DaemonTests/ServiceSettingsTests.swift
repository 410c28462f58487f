import Configuration
import Control
import Core
import Inference
import IntegrationInterface
import Spotting
import TestSupport
import Testing

@testable import Daemon

/// How long a threshold set by `beckon set` lasts.
struct ServiceSettingsTests {
    private static let words = ["left", "right", "stop"]

    private func settings(_ text: String, _ vocabulary: Vocabulary) throws -> ServiceSettings {
        let known = vocabulary.labels.filter { !$0.hasPrefix("_") }
        return try ServiceSettings(
            ParsedConfiguration(text: text, file: "f").validated(by: KnownWords(known)).configuration,
            vocabulary
        )
    }

    private static func change(_ word: String, _ threshold: Float) -> ThresholdChange {
        ThresholdChange(words: [word: .confidence(threshold)])
    }

    private func threshold(_ word: String, _ settings: ServiceSettings) throws -> Float? {
        settings.thresholds.values[try #require(settings.vocabulary.labels.firstIndex(of: word))]
    }

    /// The threshold of `left`: it is set under the configuration `text`, then each of `next` is applied.
    private func left(_ text: String, then next: String...) throws -> Float? {
        let vocabulary = Vocabulary(try Material.model())
        var settings = try settings(text, vocabulary)
        try settings.set(Self.change("left", 0.51))
        #expect(try threshold("left", settings) == 0.51)
        for text in next {
            var new = try self.settings(text, vocabulary)
            _ = new.keepChoices(of: settings)
            settings = new
        }
        return try threshold("left", settings)
    }

    @Test func `near misses of clients are found only where words of clients are kept`() throws {
        let vocabulary = Vocabulary(try Material.model())
        for (recent, margin) in [("", nil), ("recent: {margin: 0.1}", nil), ("recent: {keep: 1, margin: 0.1}", 0.1)]
            as [(String, Float?)]
        {
            let text = "{wyoming: {listen: 'tcp://127.0.0.1:10400', \(recent)}}"
            let settings = try settings(text, vocabulary)
            #expect(settings.streamDetector?.gate.nearMissMargin == margin, "\(recent)")
            #expect(settings.detector.gate.nearMissMargin == nil)
        }
    }

    @Test func `a set threshold survives a change of the words and of other settings`() throws {
        #expect(try left("{}", then: "{}", "{}") == 0.51)
        let configured = "{ words: { left: { threshold: 0.6 } } }"
        #expect(try left(configured, then: configured) == 0.51)
        #expect(try left(configured, then: "{ cooldown: 2, words: { left: { threshold: 0.6, cooldown: 1 } } }") == 0.51)
        #expect(try left("{}", then: "{ words: { right: { threshold: 0.6 } } }") == 0.51)
    }

    @Test func `a changed threshold in the configuration replaces the set one for good`() throws {
        #expect(try left("{}", then: "{ words: { left: { threshold: 0.6 } } }") == 0.6)
        #expect(try left("{}", then: "{ threshold: 0.7 }") == 0.7)
        #expect(try left("{ threshold: 0.7 }", then: "{ threshold: 0.7, words: { left: { threshold: 0.6 } } }") == 0.6)
        #expect(try left("{}", then: "{ words: { left: { enabled: false } } }") == nil)
        let model = try left("{ threshold: 0.7 }", then: "{}")
        #expect(model != 0.51 && model != 0.7)
        // Once replaced, the threshold that was set does not come back.
        #expect(try left("{}", then: "{ threshold: 0.7 }", "{}") == model)
    }

    @Test func `a word that is gone takes its threshold with it; one that is unknown changes nothing`() throws {
        let model = try Material.model()
        var settings = try settings("{}", Vocabulary(model))
        #expect(throws: SpottingError.self) {
            try settings.set(ThresholdChange(words: ["left": .confidence(0.51), "nobody": .confidence(0.5)]))
        }
        #expect(try threshold("left", settings) != 0.51)
        #expect(throws: SpottingError.self) { try settings.set(Self.change("_silence_", 0.5)) }
    }

    /// The shipped model with thresholds for strict (0.995 in `command` mode), balanced (0.93) and eager (0.5).
    private func sensitive(_ thresholds: ModelCopy.Thresholds = ModelCopy.complete) throws -> Vocabulary {
        let folder = try TestFolder()
        return try withExtendedLifetime(folder) {
            Vocabulary(try Model(folder: ModelCopy.write("model", thresholds, in: folder)))
        }
    }

    @Test func `a set sensitivity applies to words without a choice of their own`() throws {
        let vocabulary = try sensitive()
        var settings = try settings(
            "{ words: { left: { sensitivity: 'strict' }, go: { enabled: false } } }",
            vocabulary
        )
        #expect(try threshold("left", settings) == 0.995 && threshold("right", settings) == 0.93)
        #expect(try settings.set(Self.change("stop", 0.6)) == [])
        #expect(try settings.set(ThresholdChange(all: .eager)) == ["left", "stop"])
        #expect(try threshold("left", settings) == 0.995 && threshold("right", settings) == 0.5)
        #expect(try threshold("stop", settings) == 0.6 && threshold("go", settings) == nil)
        #expect(try settings.set(ThresholdChange(all: .strict, words: ["left": .sensitivity(.eager)])) == ["stop"])
        #expect(try threshold("left", settings) == 0.5 && threshold("right", settings) == 0.995)
        // It also takes the place of a configured threshold of all words.
        var fixed = try self.settings("{ threshold: 0.7 }", vocabulary)
        try fixed.set(ThresholdChange(all: .eager))
        #expect(try threshold("right", fixed) == 0.5)
        #expect(throws: SpottingError.self) { try settings.set(Self.change("go", 0.5)) }
    }

    @Test func `a set sensitivity lasts until the configuration gives another one`() throws {
        let vocabulary = try sensitive()
        let table: [(first: String, then: [String], right: Float?)] = [
            ("{}", ["{}", "{ cooldown: 1 }"], 0.5), ("{}", ["{ words: { left: { threshold: 0.6 } } }"], 0.5),
            ("{}", ["{ sensitivity: 'strict' }"], 0.995), ("{}", ["{ threshold: 0.7 }"], 0.7),
            ("{ sensitivity: 'strict' }", ["{ sensitivity: 'strict' }"], 0.5),
            ("{ sensitivity: 'strict' }", ["{}", "{ sensitivity: 'strict' }"], 0.995),
            ("{}", ["{ mode: 'spot' }"], 0.6), ("{}", ["{ words: { right: { sensitivity: 'balanced' } } }"], 0.93),
        ]
        for row in table {
            var settings = try settings(row.first, vocabulary)
            try settings.set(ThresholdChange(all: .eager))
            for text in row.then {
                var new = try self.settings(text, vocabulary)
                #expect(new.keepChoices(of: settings) == [])
                settings = new
            }
            #expect(try threshold("right", settings) == row.right, "\(row)")
        }
    }

    @Test func `a set sensitivity that a new model lacks is dropped, and said`() throws {
        var settings = try settings("{}", try sensitive())
        try settings.set(
            ThresholdChange(all: .eager, words: ["left": .sensitivity(.strict), "stop": .confidence(0.6)])
        )
        var new = try self.settings("{}", try sensitive([:]))
        let dropped = new.keepChoices(of: settings)
        #expect(dropped.count == 2 && dropped[0].hasPrefix("sensitivity eager, which was set, no longer applies: "))
        #expect(dropped.last == "left strict, which was set, no longer applies")
        #expect(try threshold("right", new) == 0.93 && threshold("stop", new) == 0.6)
    }

    @Test func `the threshold of a word in a session`() throws {
        let vocabulary = try sensitive()
        func inSession(_ text: String, set change: ThresholdChange? = nil) throws -> [Float?] {
            var settings = try settings("{ \(text) }", vocabulary)
            if let change { try settings.set(change) }
            let session = try #require(settings.sessions.first)
            #expect(session.name == "go" && session.words.map { vocabulary.labels[$0] } == ["left", "right"])
            return session.thresholds
        }
        let both = "wake: 'go', words: ['left', 'right']"
        // The lowest that the model has for the mode; see `ModelCopy.complete`.
        #expect(try inSession("sessions: [{ \(both) }]") == [0.6, 0.6])
        #expect(try inSession("sessions: [{ \(both), mode: 'command' }]") == [0.5, 0.5])
        #expect(try inSession("sessions: [{ \(both), sensitivity: 'strict' }]") == [0.996, 0.996])
        #expect(try inSession("sessions: [{ \(both), threshold: 0.4 }]") == [0.4, 0.4])
        // A word's own comes before the session's for all words, and the session's for the word before that.
        let own = "words: { left: { threshold: 0.9 }, right: { enabled: false } }"
        #expect(try inSession("\(own), sessions: [{ \(both), threshold: 0.4 }]") == [0.9, nil])
        #expect(try inSession("\(own), sessions: [{ \(both), thresholds: { left: 0.3 } }]") == [0.3, nil])
        // What was set while it runs comes first.
        let set = Self.change("left", 0.2)
        #expect(try inSession("sessions: [{ \(both), thresholds: { left: 0.3 } }]", set: set) == [0.2, 0.6])
    }
}
