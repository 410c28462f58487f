import Core
import Testing

struct LabelsTests {
    private let labels: Labels = ["left", "right", "_unknown_", "_silence_"]

    @Test func `words come first, then the special labels`() {
        #expect(labels.words == ["left", "right"] && labels.wordIndices == 0..<2)
        #expect(labels.unknownIndex == 2 && labels.silenceIndex == 3)
        #expect(labels == Labels(words: ["left", "right"]))
        #expect(Array(labels) == labels.names && labels.count == 4)
    }

    @Test func `names are found, and special ones are told from words`() {
        #expect(labels.index(of: "right") == 1 && labels.index(of: "up") == nil)
        #expect(labels.indices.filter(labels.isSpecial(at:)) == [2, 3])
        #expect(Labels.isSpecial("_background_noise_") && !Labels.isSpecial("go_left") && !Labels.isSpecial(""))
    }

    @Test func `labels without words have none`() {
        #expect(Labels(words: []).words == [])
        #expect(Labels([]).words == [])
    }
}

struct LogLevelTests {
    @Test func `the more urgent level is greater, and has the lower priority in syslog`() {
        #expect(LogLevel.allCases.sorted(by: >) == [.error, .warning, .notice, .info, .debug])
        #expect(LogLevel.allCases.map(\.syslogPriority) == [3, 4, 5, 6, 7])
    }
}
