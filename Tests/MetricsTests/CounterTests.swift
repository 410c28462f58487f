import JSON
import Metrics
import Testing

/// Counts that are declared once.
struct CounterTests {
    private struct Counts: Counted, Equatable {
        var open = 0
        var slow: UInt64 = 0
        var silent = 0
        var busy = Duration.zero
        var isOn = false

        static let dropped = MetricFamily.counters("beckon_dropped", "Dropped.")
        static let counters: [Counter<Counts>] = [
            Counter("open", \.open).gauge("beckon_open", "Open."), Counter("state") { $0.isOn ? "on" : "off" },
            Counter("slow", \.slow).metric(dropped, .init("reason", "slow")),
            Counter("silent", \.silent).metric(dropped, .init("reason", "silent")),
            Counter("seconds", \.busy).counter("beckon_busy_seconds", "Busy.", unit: "seconds"),
            Counter("isOn", \.isOn).gauge("beckon_on", "On."),
        ]
    }

    private static let counts = Counts(open: 2, slow: 3, silent: 1, busy: .milliseconds(1500), isOn: true)

    @Test func `they are members of the status, in their order`() {
        #expect(
            Self.counts.json.description
                == #"{"open": 2, "state": "on", "slow": 3, "silent": 1, "seconds": 1.500, "isOn": true}"#
        )
    }

    @Test func `they are metrics, those of one name together`() {
        let expected: [MetricFamily] = [
            .gauge("beckon_open", "Open.", 2),
            .counters(
                "beckon_dropped",
                "Dropped.",
                [([.init("reason", "slow")], 3), ([.init("reason", "silent")], 1)]
            ),
            .counter("beckon_busy_seconds", "Busy.", unit: "seconds", 1.5), .gauge("beckon_on", "On.", 1),
        ]
        #expect(Self.counts.metrics == expected)
    }

    @Test func `they are added up`() {
        var sum = Self.counts
        sum.add(Counts(open: 1, slow: 1, silent: 1, busy: .milliseconds(500), isOn: false))
        #expect(sum == Counts(open: 3, slow: 4, silent: 2, busy: .seconds(2), isOn: true))
    }
}
