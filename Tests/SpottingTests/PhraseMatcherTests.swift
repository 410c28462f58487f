import Testing

@testable import Spotting

struct PhraseMatcherTests {
    private static let words = ["go", "left", "right", "stop", "_unknown_", "_silence_"]

    private static func word(
        _ label: Int,
        _ confidence: Float,
        _ start: Double,
        _ end: Double,
        _ time: Double
    ) -> Detection {
        Detection(kind: .word, index: label, confidence: confidence, start: start, end: end, time: time)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let rule: String
        /// Words with the times of their decisions.
        let words: [(String, Double)]
        /// `name words/complete` of each report.
        let reports: [String]
        var testDescription: String { rule }
    }

    static let rows = [
        Row(rule: "a phrase", words: [("go", 1), ("left", 1.8)], reports: ["go left 1", "go right 1", "go left 2!"]),
        Row(rule: "too long a gap", words: [("go", 1), ("left", 2.6)], reports: ["go left 1", "go right 1"]),
        Row(
            rule: "another word between",
            words: [("go", 1), ("stop", 1.5), ("left", 2)],
            reports: ["go left 1", "go right 1"]
        ),
        Row(
            rule: "the first word twice starts a new match",
            words: [("go", 1), ("go", 2), ("right", 2.9)],
            reports: ["go left 1", "go right 1", "go left 1", "go right 1", "go right 2!"]
        ),
        Row(
            rule: "twice in a row",
            words: [("go", 1), ("left", 2), ("go", 3), ("left", 4)],
            reports: ["go left 1", "go right 1", "go left 2!", "go left 1", "go right 1", "go left 2!"]
        ),
        Row(rule: "the wrong order", words: [("left", 1), ("go", 1.5)], reports: ["go left 1", "go right 1"]),
    ]

    @Test(arguments: rows)
    func `partial and complete matches`(_ row: Row) throws {
        var matcher = PhraseMatcher(try ["go left", "go right"].map { try Phrase($0, words: Self.words) })
        let names = matcher.phrases.map(\.name)
        var reports: [String] = []
        for (word, time) in row.words {
            let label = try #require(Self.words.firstIndex(of: word))
            matcher.add(Self.word(label, 0.9, time - 0.5, time, time)) { progress in
                reports.append("\(names[progress.phrase]) \(progress.words)\(progress.isComplete ? "!" : "")")
            }
        }
        #expect(reports == row.reports)
    }

    @Test func `a phrase spans its words and has the least of their confidences`() throws {
        var matcher = PhraseMatcher([try Phrase("go  left", words: Self.words)])
        var last: PhraseMatcher.Progress?
        matcher.add(Self.word(0, 0.85, 0.5, 0.9, 1)) { last = $0 }
        matcher.add(Self.word(1, 0.95, 1.2, 1.7, 1.8)) { last = $0 }
        let progress = try #require(last)
        #expect(progress.isComplete && progress.words == 2)
        #expect(progress.start == 0.5 && progress.end == 1.7 && progress.confidence == 0.85)
        #expect(matcher.phrases.first?.name == "go left")
    }

    @Test func `a flush forgets the words so far`() throws {
        var matcher = PhraseMatcher([try Phrase("go left", words: Self.words)])
        var reports = 0
        matcher.add(Self.word(0, 0.9, 0, 0.5, 1)) { _ in reports += 1 }
        matcher.flush()
        matcher.add(Self.word(1, 0.9, 1, 1.5, 1.6)) { _ in reports += 1 }
        #expect(reports == 1)
    }

    @Test func `names of several words are taken whole, the longest first`() throws {
        let words = ["hey", "hey house", "hey house lights", "stop", "good morning house", "_unknown_", "_silence_"]
        func labels(_ text: String) throws -> [Int] { try Phrase(text, words: words).labels }
        #expect(try labels("hey  house stop") == [1, 3])
        #expect(try labels("hey house lights good morning house") == [2, 4])
        #expect(try labels("hey stop hey house") == [0, 3, 1])
        #expect(try Phrase("hey  house stop", words: words).name == "hey house stop")
        #expect(try Phrase("wake up stop", words: words + ["wake  up"]).labels == [7, 3])
        #expect(throws: SpottingError.emptyPhrase) { try Phrase("good morning house", words: words) }
        #expect(throws: SpottingError.unknownWord("", known: [])) { try Phrase("good morning stop", words: words) }
        #expect(Phrase.parts(of: "good morning stop", words: words) == ["good", "morning", "stop"])
    }

    @Test func `phrases of unknown or too few words are refused`() {
        #expect(throws: SpottingError.emptyPhrase) { try Phrase("go", words: Self.words) }
        #expect(throws: SpottingError.unknownWord("", known: [])) { try Phrase("go home", words: Self.words) }
        #expect(throws: SpottingError.unknownWord("", known: [])) { try Phrase("go _silence_", words: Self.words) }
    }
}
