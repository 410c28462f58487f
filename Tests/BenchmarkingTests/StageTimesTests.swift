import Core
import JSON
import Testing

@testable import Benchmarking

/// The latency of each stage from a word's end to its action.
struct StageTimesTests {
    @Test func `each stage is the time between two moments`() throws {
        // Blocks end every 100 ms from 10 s on, are read 5 ms later and scored in 2 ms; one timestamp is off by 1 ms.
        let blocks = (0..<20).map { index -> StageTimes.Stamps in
            let end = Instant(nanoseconds: 10_000_000_000) + AudioFormat.hopDuration * (index + 1)
            return .init(
                captured: end + .milliseconds(index == 7 ? 1 : 0),
                read: end + .milliseconds(5),
                done: end + .milliseconds(7)
            )
        }
        var times = StageTimes(blocks: blocks)
        // The word ends at 1.23 s, is decided with the block that ends at 1.4 s, and its action starts 10 ms after that.
        let first = times.add(end: 1.23, decided: 1.4, started: Instant(nanoseconds: 11_417_000_000))
        #expect(first)
        #expect(times.stages.map { ($0.milliseconds(0.5) ?? 0).rounded() } == [170, 5, 2, 10, 187])
        // A second one, decided before its end.
        let second = times.add(end: 0.55, decided: 0.5, started: Instant(nanoseconds: 10_508_000_000))
        #expect(second)
        #expect(times.stages.map { ($0.milliseconds(0.5) ?? 0).rounded() } == [-50, 5, 2, 1, -42])
        #expect(times.stages.map { ($0.milliseconds(1) ?? 0).rounded() } == [170, 5, 2, 10, 187])
        let beyond = times.add(end: 1, decided: 2.1, started: Instant(nanoseconds: 0))
        #expect(!beyond)
        #expect(times.json.description.contains("\"total\": {\"p50\": -42.000, \"p95\": 187.000, \"max\": 187.000}"))
        #expect(times.table.text.contains("187.0 ms"))
    }
}
