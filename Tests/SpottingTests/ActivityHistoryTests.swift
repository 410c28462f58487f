import Testing

@testable import Spotting

/// Hand-made logits; the expected seconds are counted by hand.
struct ActivityHistoryTests {
    /// Processes hops drawn as text: `#` is speech, `.` no speech; `+` and `-` are just above and below the limit.
    private func drawn(stepSeconds: Double, _ hops: String...) -> ActivityHistory {
        var history = ActivityHistory(stepSeconds: stepSeconds)
        for hop in hops { history.append(logits: hop.map { ["#": 5, "+": 0, "-": -0.001][$0] ?? -5 }) }
        return history
    }

    @Test func `four steps a hop`() throws {
        // Speech begins 0.25 s before now, pauses for 50 ms, and has been over for 75 ms.
        let history = drawn(stepSeconds: 0.025, "....", "...#", "##..", "##..", ".")
        let sound = try #require(history.lastSegment(within: 1.5))
        #expect(abs(sound.start - 0.25) < 1e-9 && abs(sound.end - 0.075) < 1e-9)
        #expect(abs(history.quietSeconds - 0.075) < 1e-9)
        #expect(history.newest(11) == [false, true, true, true, false, false, true, true, false, false, false])
    }

    @Test func `any number of steps a hop`() throws {
        // Speech from 0.6 to 0.2 s before now with a pause of 0.1 s in it, in steps of 12.5, 25, 50 and 100 ms.
        for steps in [8, 4, 2, 1] {
            let seconds = 0.1 / Double(steps)
            var history = ActivityHistory(stepSeconds: seconds)
            for hop in 0..<10 {
                history.append(logits: [Float](repeating: [4, 5, 7].contains(hop) ? 3 : -3, count: steps))
            }
            let sound = try #require(history.lastSegment(within: 0.75))
            #expect(abs(history.quietSeconds - 0.2) < 1e-9, "\(steps) steps")
            #expect(abs(sound.end - 0.2) < 1e-9 && abs(sound.start - 0.6) < 1e-9, "\(steps) steps: \(sound)")
        }
    }

    @Test func `pauses up to 150 ms are bridged, whatever the step`() throws {
        for (seconds, gap) in [(0.0125, 12), (0.025, 6), (0.05, 3), (0.1, 1)] {
            for (length, isBridged) in [(gap, true), (gap + 1, false)] {
                let picture = "#" + String(repeating: ".", count: length) + "#"
                let sound = try #require(drawn(stepSeconds: seconds, picture).lastSegment(within: 1.5))
                #expect(sound.end == 0)
                #expect(abs(sound.start - Double(isBridged ? length + 2 : 1) * seconds) < 1e-9, "\(picture)")
            }
        }
    }

    @Test func `a segment that began too late is passed over`() throws {
        let history = drawn(stepSeconds: 0.1, "..##.#..#.")
        // Segments from 0.8 and 0.2 s before now: those that began more than `age` ago.
        for (age, start) in [(0, 0.2), (0.1, 0.2), (0.2, 0.8), (0.7, 0.8)] {
            let sound = try #require(history.lastSegment(within: 1.5, begunBefore: age))
            #expect(abs(sound.start - start) < 1e-9, "\(age) s: \(sound)")
        }
        #expect(history.lastSegment(within: 1.5, begunBefore: 0.8) == nil)
        #expect(history.lastSegment(within: 0.1, begunBefore: 0) == nil)
    }

    @Test func `P(speech) = 0.5 is active, and logits that are not finite are inactive`() {
        #expect(drawn(stepSeconds: 0.025, "+").quietSeconds == 0)
        #expect(drawn(stepSeconds: 0.025, "-").quietSeconds > 1000)
        for broken in [Float.nan, .infinity, -.infinity] {
            var history = ActivityHistory(stepSeconds: 0.025)
            history.append(logits: [5, broken])
            #expect(history.newest(2) == [true, false])
        }
    }

    @Test func `a flush forgets, and keeps the step length`() {
        var history = drawn(stepSeconds: 0.05, "####")
        #expect(history.quietSeconds == 0)
        history.flush()
        #expect(history.lastSegment(within: 1.5) == nil && history.quietSeconds > 1000)
        history.append(logits: [1, -1])
        #expect(history.quietSeconds == 0.05)
    }
}
