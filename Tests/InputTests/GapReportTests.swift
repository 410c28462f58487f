import Core
import Testing

@testable import Capture
@testable import Input

/// The reports of gaps, as tables of events; times in ms.
struct GapReportTests {
    typealias Kind = CaptureMachine.Change.Kind

    /// A change at a time, and the expected reports: a change by its kind, a sum as `gaps × milliseconds`.
    struct Turn {
        var time: Int64
        var kind: Kind?
        var duration: Int64 = 0
        var told: [String] = []

        init(_ time: Int64, _ kind: Kind?, duration: Int64 = 0, _ told: String...) {
            (self.time, self.kind, self.duration, self.told) = (time, kind, duration, told)
        }
    }

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var turns: [Turn]

        init(_ name: String, _ turns: [Turn]) { (testDescription, self.turns) = (name, turns) }
    }

    static let begin = Turn(0, .running, "running")

    private static let losses: [Turn] = (1...50).flatMap { (second: Int64) -> [Turn] in
        [Turn(second * 1_000, .lost), Turn(second * 1_000 + 200, .running)]
    }

    static let cases: [Case] = [
        Case(
            "the first gap is told at once with its end, the others once a minute in one line",
            [
                begin, Turn(1_000, .overrun, "overrun"), Turn(1_020, .running, "running"),
                Turn(2_000, .overrun), Turn(2_030, .running),
                Turn(30_000, .overrun), Turn(30_050, .running),
                Turn(60_990, nil), Turn(61_000, nil, "2 × 80"),
                // The minute starts again with the sum.
                Turn(61_500, .overrun), Turn(61_510, .running), Turn(120_000, nil), Turn(121_000, nil, "1 × 10"),
                Turn(200_000, nil), Turn(200_001, .overrun, "overrun"), Turn(200_100, .running, "running"),
            ]
        ),
        Case(
            "missing frames are gaps of their own",
            [
                begin, Turn(500, .framesMissing, duration: 150, "framesMissing"),
                Turn(800, .framesMissing, duration: 120), Turn(900, .framesMissing, duration: 130),
                // The sum comes before a gap that is reported by itself.
                Turn(60_600, .framesMissing, duration: 200, "2 × 250"), Turn(120_600, nil, "1 × 200"),
            ]
        ),
        Case(
            "a loss soon after another gap is told if it lasts, and so is its end",
            [
                begin, Turn(1_000, .overrun, "overrun"), Turn(1_020, .running, "running"),
                Turn(5_000, .overrun), Turn(5_010, .lost), Turn(6_990, nil), Turn(7_000, nil, "lost"),
                Turn(9_000, nil), Turn(15_000, .running, "running"), Turn(90_000, nil),
            ]
        ),
        Case(
            "a gap counts from the last frames before it, and one that was noticed late is told at once if it was long",
            [
                begin, Turn(1_000, .overrun, duration: 100, "overrun"), Turn(1_020, .running, "running"),
                Turn(2_000, .overrun, duration: 100), Turn(2_030, .running),
                Turn(30_000, .overrun, duration: 20_000, "overrun"), Turn(30_010, .running, "running"),
                Turn(70_000, nil, "1 × 130"),
            ]
        ),
        Case(
            "a loose plug does not fill the journal",
            [begin, Turn(100, .lost, "lost"), Turn(300, .running, "running")]
                + losses + [Turn(60_099, nil), Turn(60_100, nil, "50 × 10000")]
        ),
        Case(
            "why a device does not open is told after what was held back",
            [
                begin, Turn(100, .stalled, "stalled"), Turn(300, .running, "running"),
                Turn(1_000, .lost), Turn(1_100, .unavailable, "lost", "unavailable"),
                Turn(61_100, .stillUnavailable, "stillUnavailable"), Turn(70_000, .running, "running"),
            ]
        ),
        Case(
            "a new selection ends a gap, and both are reported",
            [
                begin, Turn(100, .overrun, "overrun"), Turn(200, .running, "running"),
                Turn(1_000, .overrun), Turn(1_100, .selectionChanged, "selectionChanged"),
                Turn(1_200, .running, "running"),
                Turn(60_100, nil, "1 × 100"),
            ]
        ),
        Case(
            "muting ends a gap, and is told",
            [
                begin, Turn(100, .suspended, "suspended"), Turn(200, .running, "running"),
                Turn(1_000, .suspended), Turn(1_400, .muted, "muted"), Turn(2_000, .unmuted, "unmuted"),
                Turn(2_100, .running, "running"), Turn(60_100, nil, "1 × 400"),
            ]
        ),
    ]

    @Test(arguments: cases)
    func `gaps are reported once, then summed up`(_ item: Case) {
        var report = GapReport()
        for turn in item.turns {
            let time = Instant(nanoseconds: turn.time * 1_000_000)
            let change = turn.kind.map {
                CaptureMachine.Change(kind: $0, time: time, duration: .milliseconds(turn.duration))
            }
            let told = (change.map { report.take($0) } ?? []) + report.look(at: time)
            let words = told.map { item in
                switch item {
                case .change(let change): "\(change.kind)"
                case .more(let gaps, let lost): "\(gaps) × \(lost.nanoseconds / 1_000_000)"
                }
            }
            #expect(words == turn.told, "at \(turn.time) ms")
        }
    }
}
