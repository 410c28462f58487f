import Core
import JSON
import Spotting
import Testing

@testable import Configuration

/// Sessions in the configuration: mistakes with their lines, words that are gone, and what is left out then.
struct SessionSettingsTests {
    private static let words = SampleTests.words

    /// Line, key and message of each problem.
    private static func problems(_ text: String, gone: [String] = []) -> [String] {
        func lines(_ problems: [ConfigurationProblem]) -> [String] {
            problems.map { "\($0.place?.line ?? 0) \($0.isWarning ? "warning " : "")\($0.key): \($0.message)" }
        }
        do {
            let parsed = try ParsedConfiguration(text: text, file: "f")
            return lines(try parsed.validated { _ in KnownWords(words, gone: gone) }.warnings)
        } catch let error as ConfigurationError {
            return lines(error.problems)
        } catch {
            return ["\(error)"]
        }
    }

    static let table: [(text: String, problems: [String])] = [
        ("{ sessions: [{ wake: 'go', words: ['on', 'off'] }] }", []),
        (
            "{ sessions: [{},\n{ wake: 'go', words: [] },\n{ wake: '', words: 'on' }] }",
            [
                "1 sessions[0]: needs wake, the word that starts it, such as wake: \"computer\"",
                "1 sessions[0]: needs words that count after the wake word, such as words: [\"on\", \"off\"]",
                "2 sessions[1]: needs words that count after the wake word, such as words: [\"on\", \"off\"]",
                "3 sessions[2]: needs wake, the word that starts it, such as wake: \"computer\"",
                "3 sessions[2]: needs words that count after the wake word, such as words: [\"on\", \"off\"]",
                "3 sessions[2].wake: expected a word, such as \"computer\", not ''",
                "3 sessions[2].words: expected a list in [ ], not 'on'; did you mean [\"on\"]?",
            ]
        ),
        (
            "{ sessions: [\n{ wake: 'og', words: [\n'on', 'of', 'on'] }] }",
            [
                "2 sessions[0].wake: the model does not know the word 'og'; did you mean 'on'?",
                "3 sessions[0].words[1]: the model does not know the word 'of'; did you mean 'on'?",
                "3 warning sessions[0].words[2]: 'on' is given twice",
            ]
        ),
        (
            "{ sessions: [{ wake: 'go', words: ['on',\n'go'] }] }",
            ["2 sessions[0].words[1]: 'go' is the wake word; leave it out here: said again, it starts the seconds anew"]
        ),
        (
            "{ sessions: [{ wake: 'go', words: ['on'] },\n{ wake: 'go', words: ['off'] }] }",
            ["2 sessions[1].wake: 'go' starts sessions[0] already; put all words into one session"]
        ),
        (
            "{ sessions: [{ wake: 'go', words: ['on'],\nseconds: 0.4, thresholds: { on: 2,\noff: 0.5 }, end: 'wrod' }] }",
            [
                "2 sessions[0].seconds: expected seconds from 0.5 to 300, not 0.4",
                "2 sessions[0].thresholds.on: expected a confidence between 0 and 1, such as 0.8, not 2",
                "3 sessions[0].thresholds.off: 'off' is not among the words of this session",
                "3 sessions[0].end: expected one of \"word\", \"time\", not 'wrod'; did you mean 'word'?",
            ]
        ),
        (
            "{ words: { on: { enabled: false } },\nsessions: [{ wake: 'go', words: ['on'], sensitivity: 'eager', threshold: 0.5 }] }",
            [
                "2 warning sessions[0]: 'on' is never found, as it is not enabled",
                "2 warning sessions[0].sensitivity: has no effect, as threshold is given too",
            ]
        ),
        (
            "{ sessions: [{ wake: 'go', words: ['on'] },\n{ wake: 'on', words: ['off'] },\n"
                + "{ wake: 'up', words: ['down'] },\n{ wake: 'down', words: ['up'] }] }",
            [
                "3 sessions[2].wake: 'up' is detected only in sessions that it starts itself; remove it from their words",
                "4 sessions[3].wake: 'down' is detected only in sessions that it starts itself; remove it from their words",
            ]
        ),
    ]

    @Test(arguments: table)
    func `mistakes`(_ row: (text: String, problems: [String])) {
        #expect(Self.problems(row.text) == row.problems)
    }

    @Test func `at most 64 sessions`() {
        let session = "{ wake: 'go', words: ['on'] },"
        let text = "{ sessions: [\(String(repeating: session, count: 65))] }"
        #expect(Self.problems(text).first == "1 sessions: 65 sessions; there may be 64")
    }

    @Test func `a taught word that is gone is a warning wherever it is named`() {
        let text = """
            { words: { computer: {} },
            phrases: [{ phrase: 'hey house left' }],
            sessions: [{ wake: 'computer', words: ['on',
            'hey house'] }] }
            """
        let advice = "which is not known any more and is left out; teach it again with beckon enroll, or remove it here"
        #expect(
            Self.problems(text, gone: ["computer", "hey house"]) == [
                "1 warning words.computer: names 'computer', \(advice)",
                "2 warning phrases[0].phrase: names 'hey house', \(advice)",
                "3 warning sessions[0].wake: names 'computer', \(advice)",
                "4 warning sessions[0].words[1]: names 'hey house', \(advice)",
            ]
        )
        // Without the store's memory it is a mistake, which a misspelt name is too.
        #expect(
            Self.problems("{ words: { computer: {} } }").first?.contains("does not know the word 'computer'") == true
        )
    }

    @Test func `a session whose wake word is gone leaves its words disabled`() throws {
        var configuration = Configuration()
        var first = Configuration.Session()
        (first.wake, first.words) = ("computer", ["on", "off"])
        var second = Configuration.Session()
        (second.wake, second.words, second.thresholds) = ("go", ["off", "lamp"], ["lamp": 0.5])
        configuration.sessions = [first, second]
        #expect(configuration.leaveOut(wordsBeside: Self.words) == ["computer", "lamp"])
        #expect(configuration.sessions.map(\.wake) == ["go"] && configuration.sessions.first?.words == ["off"])
        #expect(configuration.sessions.first?.thresholds == [:])
        // "on" would otherwise count at any time; "off" still has a session.
        #expect(configuration.words == ["on": Self.disabled])
    }

    @Test func `only some words keep their phrases and sessions`() throws {
        var configuration = Configuration()
        for text in ["go left", "Go  Stop", "go"] {
            var phrase = Configuration.Phrase()
            phrase.phrase = text
            configuration.phrases.append(phrase)
        }
        for (wake, words) in [("go", ["stop", "yes"]), ("yes", ["go"]), ("stop", ["left"])] {
            var session = Configuration.Session()
            (session.wake, session.words) = (wake, words)
            configuration.sessions.append(session)
        }
        configuration.keepOnly(words: ["GO", "stop"])
        #expect(configuration.phrases.map(\.phrase) == ["Go  Stop", "go"])
        #expect(configuration.sessions.map(\.wake) == ["go"])
        let choices = configuration.thresholdChoices
        #expect(!choices.disables("go") && !choices.disables("stop") && choices.disables("left"))
    }

    private static let disabled: Configuration.Word = {
        var word = Configuration.Word()
        word.enabled = false
        return word
    }()
}
