import Core
import Testing

@testable import Evaluation
@testable import Spotting

extension Detection {
    /// A detection of a word at a time; the tests compare only these two.
    fileprivate static func word(_ label: Int, time: Double) -> Detection {
        Detection(kind: .word, index: label, confidence: 1, start: time, end: time, time: time)
    }
}

/// The rules that compare detections with reference words, each as a row of a table.
struct StreamScoringTests {
    /// Labels: 0 up, 1 stop, 2 left. Tolerance: 1 s.
    struct Row: CustomTestStringConvertible, Sendable {
        let rule: String
        /// Label, start, end.
        let said: [(Int, Double, Double)]
        /// Label, time of the decision.
        let heard: [(Int, Double)]
        let outcomes: [Outcome]
        var testDescription: String { rule }
    }

    static let rows = [
        Row(rule: "no reference, no detection", said: [], heard: [], outcomes: []),
        Row(rule: "a missed word", said: [(0, 1, 2)], heard: [], outcomes: []),
        Row(rule: "a word", said: [(0, 1, 1.5)], heard: [(0, 1.75)], outcomes: [.hit(truth: 0, latency: 0.25)]),
        Row(
            rule: "a word decided before it is over",
            said: [(0, 1, 1.5)],
            heard: [(0, 1.25)],
            outcomes: [.hit(truth: 0, latency: -0.25)]
        ),
        Row(rule: "before the word's start", said: [(0, 1, 1.5)], heard: [(0, 0.875)], outcomes: [.falseAccept]),
        Row(
            rule: "at the very start, and a second later at the last moment",
            said: [(0, 1, 1.5), (1, 4, 4.5)],
            heard: [(0, 1), (1, 5.5)],
            outcomes: [.hit(truth: 0, latency: -0.5), .hit(truth: 1, latency: 1)]
        ),
        Row(rule: "too late", said: [(0, 1, 1.5)], heard: [(0, 2.625)], outcomes: [.falseAccept]),
        Row(
            rule: "the rounding of tenths of seconds does not matter",
            said: [(0, 0.3, 0.7)],
            heard: [(0, 0.1 * 17)],
            outcomes: [.hit(truth: 0, latency: 0.1 * 17 - 0.7)]
        ),
        Row(
            rule: "a word detected twice",
            said: [(0, 1, 1.5)],
            heard: [(0, 1.5), (0, 2)],
            outcomes: [.hit(truth: 0, latency: 0), .falseAccept]
        ),
        Row(
            rule: "up … up, detected twice",
            said: [(0, 1, 1.5), (0, 2, 2.5)],
            heard: [(0, 1.75), (0, 2.75)],
            outcomes: [.hit(truth: 0, latency: 0.25), .hit(truth: 1, latency: 0.25)]
        ),
        Row(
            rule: "up … up, detected once, nearer to the second",
            said: [(0, 1, 1.5), (0, 2, 2.5)],
            heard: [(0, 2.25)],
            outcomes: [.hit(truth: 1, latency: -0.25)]
        ),
        Row(
            rule: "up … up, and one detection too many",
            said: [(0, 1, 1.5), (0, 2, 2.5)],
            heard: [(0, 1.5), (0, 2.5), (0, 3)],
            outcomes: [.hit(truth: 0, latency: 0), .hit(truth: 1, latency: 0), .falseAccept]
        ),
        Row(rule: "a wrong word", said: [(1, 1, 1.5)], heard: [(0, 1.75)], outcomes: [.wrong(truth: 0)]),
        Row(
            rule: "a wrong word does not match the reference",
            said: [(1, 1, 1.5)],
            heard: [(0, 1.5), (1, 2)],
            outcomes: [.wrong(truth: 0), .hit(truth: 0, latency: 0.5)]
        ),
        Row(
            rule: "stop, then up: the reference is matched, so up is a false accept",
            said: [(1, 1, 1.5)],
            heard: [(1, 1.5), (0, 2)],
            outcomes: [.hit(truth: 0, latency: 0), .falseAccept]
        ),
        Row(
            rule: "its own word comes before a nearer other one",
            said: [(0, 1, 1.5), (1, 1.75, 2.25)],
            heard: [(0, 2)],
            outcomes: [.hit(truth: 0, latency: 0.5)]
        ),
        Row(
            rule: "a repeat while another word is said is a false accept, not a wrong word",
            said: [(0, 1, 1.5), (1, 1.75, 2.25)],
            heard: [(0, 1.5), (0, 2)],
            outcomes: [.hit(truth: 0, latency: 0), .falseAccept]
        ),
        Row(
            rule: "of two other words, the nearer one is the wrong one",
            said: [(1, 1, 1.5), (2, 2, 2.5)],
            heard: [(0, 2.25)],
            outcomes: [.wrong(truth: 1)]
        ),
        Row(
            rule: "a word inside a longer one",
            said: [(1, 1, 5), (0, 2, 2.5)],
            heard: [(0, 2.5), (1, 4)],
            outcomes: [.hit(truth: 1, latency: 0), .hit(truth: 0, latency: -1)]
        ),
        Row(
            rule: "detections where nothing is said",
            said: [],
            heard: [(0, 1), (1, 2)],
            outcomes: [.falseAccept, .falseAccept]
        ),
    ]

    @Test(arguments: rows)
    func `the outcome of each detection`(_ row: Row) {
        let truths = row.said.map { SpokenWord(label: $0.0, start: $0.1, end: $0.2) }
        let detections = row.heard.map { Detection.word($0.0, time: $0.1) }
        #expect(outcomes(of: detections, truths: truths, tolerance: 1) == row.outcomes)
    }

    @Test func `without tolerance a word must be decided while it is said`() {
        let truths = [SpokenWord(label: 0, start: 1, end: 1.5)]
        let heard = [Detection.word(0, time: 1.75)]
        #expect(outcomes(of: heard, truths: truths, tolerance: 0) == [.falseAccept])
        #expect(outcomes(of: heard, truths: truths, tolerance: 0.25) == [.hit(truth: 0, latency: 0.25)])
    }

    @Test func `a tally of a recording, counted by hand`() {
        let tally = StreamTally(
            words: 3,
            detections: [
                .word(0, time: 1.5), .word(0, time: 2), .word(1, time: 5.5),
                .word(2, time: 9),
            ],
            // The last word ends after the recording.
            truths: [
                SpokenWord(label: 0, start: 1, end: 1.5), SpokenWord(label: 2, start: 5, end: 5.5),
                SpokenWord(label: 2, start: 9.5, end: 10.5),
            ],
            seconds: 10,
            tolerance: 1
        )
        // up: detected twice; stop: detected in place of left; left: detected half a second before it is said.
        #expect(tally.words.map(\.said) == [1, 0, 2])
        #expect(tally.words.map(\.hits) == [1, 0, 0])
        #expect(tally.words.map(\.wrong) == [0, 0, 1])
        #expect(tally.words.map(\.falseAccepts) == [1, 0, 1])
        #expect(tally.confusion == [[0, 0, 0], [0, 0, 0], [0, 1, 0]])
        #expect(tally.wordlessSeconds == 0 && tally.wordlessFalseAccepts == 0)

        let figures = StreamFigures(tally.total, seconds: tally.seconds)
        #expect(figures.said == 3 && figures.hits == 1 && figures.misses == 2 && figures.wrong == 1)
        #expect(figures.falseAccepts == 2 && figures.falseAcceptsPerHour == 720)
        #expect(figures.hitShare == 1.0 / 3 && figures.latencyMedian == 0)
    }

    @Test func `recordings add up, those without words also on their own`() {
        let speech = StreamTally(
            words: 2,
            detections: [.word(0, time: 3)],
            truths: [SpokenWord(label: 0, start: 2, end: 2.5)],
            seconds: 1200,
            tolerance: 1
        )
        let talk = StreamTally(
            words: 2,
            detections: [.word(0, time: 3), .word(1, time: 9)],
            truths: [],
            seconds: 600,
            tolerance: 1
        )
        var both = StreamTally(words: 2)
        both.add(speech)
        both.add(talk)
        #expect(both.seconds == 1800 && both.wordlessSeconds == 600 && both.wordlessFalseAccepts == 2)
        #expect(both.words.map(\.falseAccepts) == [1, 1] && both.total.latencies == [0.5])
        let report = SettingReport(
            mode: "spot",
            trigger: "early",
            tally: both,
            sweep: [(0.7, both), (0.8, StreamTally(words: 2))],
            labels: Labels(["up", "stop", "_unknown_", "_silence_"]),
            thresholds: [0.9, 0.8, nil, nil]
        )
        #expect(report.all.falseAcceptsPerHour == 4 && report.wordlessFalseAcceptsPerHour == 12)
        #expect(report.words.map(\.threshold) == [0.9, 0.8])
        #expect(report.curve.map(\.threshold) == [0.7, 0.8] && report.curve.map(\.figures.falseAccepts) == [2, 0])
        #expect(report.words[0].curve[0] == .init(threshold: 0.7, hits: 1, wrong: 0, falseAccepts: 1))
        #expect(report.words[1].curve[0] == .init(threshold: 0.7, hits: 0, wrong: 0, falseAccepts: 1))
        #expect(report.words.allSatisfy { $0.curve[1] == .init(threshold: 0.8, hits: 0, wrong: 0, falseAccepts: 0) })
    }

    @Test func `no reference words, no time, no rates`() {
        let tally = StreamTally(words: 1, detections: [], truths: [], seconds: 0, tolerance: 1)
        let figures = StreamFigures(tally.total, seconds: tally.seconds)
        #expect(figures.hitShare == nil && figures.wrongShare == nil && figures.falseAcceptsPerHour == nil)
        #expect(figures.latencyMedian == nil && figures.latency95 == nil)
    }

    @Test func `labels that are not words are ignored`() {
        let tally = StreamTally(
            words: 1,
            detections: [.word(7, time: 1)],
            truths: [SpokenWord(label: -1, start: 0, end: 1)],
            seconds: 10,
            tolerance: 1
        )
        #expect(tally.total == StreamTally.Word())
    }

    @Test func `latencies are the median and the 95th percentile of the hits`() {
        var word = StreamTally.Word()
        word.hits = 20
        word.said = 20
        word.latencies = (1...20).map { Double($0) / 4 }.reversed()
        let figures = StreamFigures(word, seconds: 60)
        #expect(figures.latencyMedian == 2.5 && figures.latency95 == 4.75)
        word.latencies = [0.5]
        #expect(StreamFigures(word, seconds: 60).latencyMedian == 0.5)
        #expect(StreamFigures(word, seconds: 60).latency95 == 0.5)
    }
}
