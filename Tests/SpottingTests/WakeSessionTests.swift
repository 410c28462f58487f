import Core
import Testing

@testable import Spotting

/// Sessions on stream time, as rows of a table: the scores hop by hop, the activity, and what is reported.
struct WakeSessionTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let rule: String
        let said: String
        var sound: String?
        var seconds = 1.0
        var endsWithWord = true
        var outside = DetectionMode.spot
        var inside = DetectionMode.spot
        /// Sessions as wake words and words; see `ScoreTrace` for the letters.
        var sessions = ["U": "SL"]
        /// Hop before which the stream is flushed.
        var flushAt: Int?
        let expected: String
        var testDescription: String { rule }
    }

    private static let label: [Character: Int] = ["U": 0, "S": 1, "L": 2, "R": 3]

    /// Sessions with a threshold of 0.5 for their words; all words have 0.8 outside.
    private static func sessions(_ row: Row) -> [WakeSession] {
        row.sessions.sorted { $0.key > $1.key }.map { wake, words in
            let wake = label[Character(wake)] ?? 0
            let words = words.compactMap { label[$0] }
            return WakeSession(
                name: ScoreTrace.words[wake],
                wake: wake,
                words: words,
                thresholds: words.map { _ in 0.5 },
                seconds: row.seconds,
                endsWithWord: row.endsWithWord,
                mode: row.inside
            )
        }
    }

    /// What a handler reports, each with the hop at which it does: `up@3 session-start:up@3`.
    private static func reported(_ row: Row) -> String {
        let trace = ScoreTrace(row.said, sound: row.sound)
        var settings = GateSettings()
        settings.smoothing = 1
        settings.mode = row.outside
        let sessions = sessions(row)
        var handler = ScoreTrace.handler(settings, sessions: sessions)
        var reported: [String] = []
        for (index, hop) in trace.hops.enumerated() {
            if index == row.flushAt { handler.flush() }
            handler.process(HopScores(posteriors: hop.scores), activity: hop.activity) { detection in
                let name = detection.name(labels: ScoreTrace.labels, phrases: [], sessions: sessions)
                let kind = detection.kind == .word ? "" : "\(detection.kind.key):"
                let owner = detection.session.map { "(\(sessions[$0].name))" } ?? ""
                reported.append("\(kind)\(name)\(owner)@\(index)")
            }
        }
        return reported.joined(separator: " ")
    }

    static let rows = [
        Row(rule: "outside of a session its words never fire", said: "..SSSS......LLLL......", expected: ""),
        Row(rule: "other words fire outside", said: "..RRRR......", expected: "right@3"),
        Row(
            rule: "the wake word starts it, one of its words ends it",
            said: "..UUUU....SSSS......LLLL....",
            expected: "up@3 session-start:up@3 stop(up)@11 session-end:up@11"
        ),
        Row(
            rule: "without a word it times out, and its words no longer fire",
            said: "..UUUU..............SSSS....",
            expected: "up@3 session-start:up@3 session-timeout:up@14"
        ),
        Row(
            rule: "a word that began in time counts, though it is decided after the deadline",
            said: "..UUUU.......SSSS......",
            expected: "up@3 session-start:up@3 stop(up)@14 session-end:up@14"
        ),
        Row(
            rule: "a word that begins after the deadline does not",
            said: "..UUUU....??....SSSS....",
            expected: "up@3 session-start:up@3 session-timeout:up@16"
        ),
        Row(
            rule: "in speech without a pause it waits for a second and a half",
            said: "..UUUU....?????????????????????????????",
            expected: "up@3 session-start:up@3 session-timeout:up@28"
        ),
        Row(
            rule: "its words need the session's threshold only",
            said: "..uuuu..UUUU....ssss......",
            seconds: 2,
            expected: "up@9 session-start:up@9 stop(up)@17 session-end:up@17"
        ),
        Row(
            rule: "the wake word said again starts the seconds anew",
            said: "..UUUU......UUUU................",
            expected: "up@3 session-start:up@3 up@13 session-timeout:up@24"
        ),
        Row(
            rule: "where only the seconds end it, each word starts them anew",
            said: "..UUUU....SSSS....LLLL................",
            endsWithWord: false,
            expected: "up@3 session-start:up@3 stop(up)@11 left(up)@19 session-timeout:up@30"
        ),
        Row(
            rule: "other words count as always during a session",
            said: "..UUUU....RRRR....SSSS....",
            seconds: 3,
            expected: "up@3 session-start:up@3 right@11 stop(up)@19 session-end:up@19"
        ),
        Row(
            rule: "another wake word ends one session and starts its own",
            said: "..UUUU....RRRR....SSSS....LLLL....",
            seconds: 3,
            sessions: ["U": "S", "R": "L"],
            expected: "up@3 session-start:up@3 right@11 session-end:up@11 session-start:right@11 left(right)@27 "
                + "session-end:right@27"
        ),
        Row(
            rule: "a wake word may be a word of another session",
            said: "..RRRR......UUUU....RRRR....SSSS....",
            seconds: 3,
            sessions: ["U": "R", "R": "S"],
            expected: "up@13 session-start:up@13 right(up)@21 session-end:up@21 session-start:right@21 stop(right)@29 "
                + "session-end:right@29"
        ),
        Row(
            rule: "a gap in the audio ends it",
            said: "..UUUU....SSSS......",
            flushAt: 8,
            expected: "up@3 session-start:up@3 session-end:up@8"
        ),
        Row(
            rule: "in command mode its words fire inside talk, others do not",
            said: "......UUUU......??LLLL??SSSS??RRRR??....",
            sound: ".....###........####################....",
            seconds: 5,
            endsWithWord: false,
            outside: .command,
            expected: "up@8 session-start:up@8 left(up)@19 stop(up)@25"
        ),
        Row(
            rule: "in spot mode its words may need quiet around them",
            said: "..UUUU......??LLLL??..........SSSS......",
            sound: "..####......########..........##........",
            seconds: 5,
            inside: .command,
            expected: "up@3 session-start:up@3 stop(up)@32 session-end:up@32"
        ),
    ]

    @Test(arguments: rows)
    func `sessions`(_ row: Row) {
        #expect(Self.reported(row) == row.expected)
    }

    @Test func `new settings keep a session of the same name, and report one that is gone`() throws {
        let row = Row(rule: "", said: "", seconds: 2, sessions: ["U": "S", "R": "L"], expected: "")
        let both = Self.sessions(row)
        var machine = WakeSessionMachine(both)
        func word(_ label: Int, _ time: Double) -> Detection {
            Detection(kind: .word, index: label, confidence: 1, start: time - 0.3, end: time, time: time)
        }
        var changes: [WakeSessionMachine.Change] = []
        machine.add(word(3, 1)) { changes.append($0) }
        // "up" comes before "right" by name in the sorted sessions, so "right" is the second of them.
        let index = try #require(both.firstIndex { $0.name == "right" })
        #expect(changes == [.started(index)] && machine.current == index && machine.deadline == 3)
        let kept = machine.replace(by: [both[index]])
        #expect(kept == nil && machine.current == 0 && machine.deadline == 3)
        let lost = machine.replace(by: both.filter { $0.name == "up" })
        #expect(lost == .ended(0) && machine.current == nil)
        let none = machine.replace(by: [])
        #expect(none == nil)
    }
}
