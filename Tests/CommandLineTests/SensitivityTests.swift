import Foundation
import TestSupport
import Testing

/// `--sensitivity` of the commands that find words.
struct SensitivityTests {
    private static let voices = ["Front_Left", "Front_Right", "Rear_Left", "Rear_Right", "Side_Left", "Side_Right"].map(
        Voices.path
    )
    private let folder = try? TestFolder()

    private func model(_ thresholds: ModelCopy.Thresholds = ModelCopy.complete) throws -> String {
        try ModelCopy.write("model", thresholds, in: try #require(folder))
    }

    @Test func `classify finds more words where it is eager`() throws {
        let model = try model(["strict": ["spot": 0.9999], "eager": ["spot": 0.3]])
        func count(_ options: [String]) throws -> Int {
            let program = try Program.beckon(["classify", "--json", "--model", model] + options + Self.voices)
            #expect(program.status == 0, "\(program.error)")
            return try Result.all(in: program).count
        }
        let strict = try count(["--sensitivity", "strict"])
        let eager = try count(["--sensitivity", "eager"])
        #expect(strict == 0 && eager >= 4)
        // A word's own choice comes first.
        let left = try count(["--sensitivity", "strict", "--word", "left=eager"])
        #expect(left > 0 && left < eager)
    }

    @Test func `a sensitivity that the model lacks is an error that says what it has`() throws {
        let voice = Voices.path("Front_Left")
        let lacking = try Program.beckon(["classify", "--sensitivity", "strict", "--model", try model([:]), voice])
        #expect(lacking.status != 0 && lacking.output == "")
        #expect(lacking.error.contains("has no thresholds for the sensitivity strict in spot mode; it has balanced"))
        let balanced = try Program.beckon(["classify", "--sensitivity", "balanced", voice])
        #expect(balanced.status == 0)
    }

    @Test func `wrong uses are refused`() throws {
        let table: [([String], says: String)] = [
            (["--sensitivity", "lax"], "one of strict, balanced, eager"),
            (
                ["--sensitivity", "eager", "--threshold", "0.7"],
                "--threshold replaces the thresholds that --sensitivity"
            ),
            (["--word", "yes=lax"], "such as yes=0.7 or yes=strict"),
        ]
        for (options, says) in table {
            let program = try Program.beckon(["classify"] + options + Self.voices)
            #expect(program.status == 2 && program.error.contains(says), "\(program.error)")
        }
    }

    @Test func `config shows and checks the sensitivity`() throws {
        let folder = try #require(folder)
        let model = try model()
        let text = "{ model: '\(model)', sensitivity: 'strict', words: { yes: { threshold: 0.6 } } }"
        let path = try folder.write("config.json5", bytes: Array(text.utf8))
        let shown = try Program.beckon(["config", "show", path])
        let json = try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any]
        #expect(json?["sensitivity"] as? String == "strict")
        let words = json?["words"] as? [String: [String: Any]]
        #expect(words?["yes"]?["sensitivity"] is NSNull && words?["yes"]?["threshold"] as? Double == 0.6)
        let lacking = try folder.write("lacking.json5", bytes: Array("{\n sensitivity: 'eager' }".utf8))
        let check = try Program.beckon(["config", "check", lacking], environment: ["BECKON_MODEL": try self.bare()])
        #expect(check.status == 1)
        #expect(check.error.contains("lacking.json5:2:2: sensitivity: the model 'commands' has no thresholds"))
    }

    @Test func `a session that wants more than the model has is one line`() throws {
        let folder = try #require(folder)
        func check(_ session: String, model: String) throws -> Program {
            let text = "{\n words: { off: { threshold: 0.7 } },\n sessions: [{ wake: 'go', \(session) }] }"
            let path = try folder.write("session.json5", bytes: Array(text.utf8))
            return try Program.beckon(["config", "check", path], environment: ["BECKON_MODEL": model])
        }
        let (bare, complete) = (try bare(), try model())
        let lacking = try check("words: ['on', 'off']", model: bare)
        let place = "beckon: \(folder.file("session.json5")):3:13: "
        #expect(
            lacking.error == place
                + "warning: sessions[0]: the model has no thresholds for the sensitivity eager, so "
                + "the words of this session need those of balanced; lower ones are given by threshold, such as threshold: 0.5\n"
        )
        #expect(lacking.status == 0)
        let wanted = try check("words: ['on', 'off'], sensitivity: 'eager'", model: bare)
        #expect(wanted.status == 1 && wanted.error.split(separator: "\n").count == 1)
        #expect(
            wanted.error.contains(
                "sessions[0].sensitivity: the model 'commands' has no thresholds for the sensitivity eager"
            )
        )
        // Where each word has a threshold of another kind, and where the model has those of eager, there is nothing to say.
        for session in ["words: ['off']", "words: ['on'], threshold: 0.5", "words: ['on'], thresholds: { on: 0.5 }"] {
            let check = try check(session, model: bare)
            #expect(check.status == 0 && check.error == "", "\(check.error)")
        }
        #expect(try check("words: ['on', 'off']", model: complete).error == "")
    }

    private func bare() throws -> String { try ModelCopy.write("bare", [:], in: try #require(folder)) }
}
