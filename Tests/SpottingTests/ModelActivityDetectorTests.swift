import Spotting
import Testing

/// Hand-made logits; the expected seconds are counted by hand.
struct ModelActivityDetectorTests {
    /// Processes hops drawn as text: `#` is speech, `.` no speech; `+` and `-` are just above and below the limit.
    private func detector(stepSeconds: Double, _ hops: String...) -> ModelActivityDetector {
        var detector = ModelActivityDetector(stepSeconds: stepSeconds)
        for hop in hops { detector.add(hop.map { ["#": 5, "+": 0, "-": -0.001][$0] ?? -5 }) }
        return detector
    }

    @Test func `four steps a hop`() throws {
        // Speech begins 0.25 s before now, pauses for 50 ms, and has been over for 75 ms.
        let history = detector(stepSeconds: 0.025, "....", "...#", "##..", "##..", ".").history
        let sound = try #require(history.lastSegment(within: 1.5))
        #expect(abs(sound.start - 0.25) < 1e-9 && abs(sound.end - 0.075) < 1e-9)
        #expect(abs(history.quietSeconds - 0.075) < 1e-9)
        #expect(history.newest(11) == [false, true, true, true, false, false, true, true, false, false, false])
    }

    @Test func `any number of steps a hop`() throws {
        // Speech from 0.6 to 0.2 s before now with a pause of 0.1 s in it, in steps of 12.5, 25, 50 and 100 ms.
        for steps in [8, 4, 2, 1] {
            let seconds = 0.1 / Double(steps)
            var detector = ModelActivityDetector(stepSeconds: seconds)
            for hop in 0..<10 {
                detector.add([Float](repeating: [4, 5, 7].contains(hop) ? 3 : -3, count: steps))
            }
            let sound = try #require(detector.history.lastSegment(within: 0.75))
            #expect(abs(detector.history.quietSeconds - 0.2) < 1e-9, "\(steps) steps")
            #expect(abs(sound.end - 0.2) < 1e-9 && abs(sound.start - 0.6) < 1e-9, "\(steps) steps: \(sound)")
        }
    }

    @Test func `pauses up to 150 ms are bridged, whatever the step`() throws {
        for (seconds, gap) in [(0.0125, 12), (0.025, 6), (0.05, 3), (0.1, 1)] {
            for (length, isBridged) in [(gap, true), (gap + 1, false)] {
                let picture = "#" + String(repeating: ".", count: length) + "#"
                let sound = try #require(detector(stepSeconds: seconds, picture).history.lastSegment(within: 1.5))
                #expect(sound.end == 0)
                #expect(abs(sound.start - Double(isBridged ? length + 2 : 1) * seconds) < 1e-9, "\(picture)")
            }
        }
    }

    @Test func `a segment that began too late is passed over`() throws {
        let history = detector(stepSeconds: 0.1, "..##.#..#.").history
        // Segments from 0.8 and 0.2 s before now: those that began more than `age` ago.
        for (age, start) in [(0, 0.2), (0.1, 0.2), (0.2, 0.8), (0.7, 0.8)] {
            let sound = try #require(history.lastSegment(within: 1.5, begunBefore: age))
            #expect(abs(sound.start - start) < 1e-9, "\(age) s: \(sound)")
        }
        #expect(history.lastSegment(within: 1.5, begunBefore: 0.8) == nil)
        #expect(history.lastSegment(within: 0.1, begunBefore: 0) == nil)
    }

    @Test func `P(speech) = 0.5 is active, and logits that are not finite are inactive`() {
        #expect(detector(stepSeconds: 0.025, "+").history.quietSeconds == 0)
        #expect(detector(stepSeconds: 0.025, "-").history.quietSeconds > 1000)
        for broken in [Float.nan, .infinity, -.infinity] {
            var detector = ModelActivityDetector(stepSeconds: 0.025)
            detector.add([5, broken])
            #expect(detector.history.newest(2) == [true, false])
        }
    }

    @Test func `a flush forgets, and keeps the step length`() {
        var detector = detector(stepSeconds: 0.05, "####")
        #expect(detector.history.quietSeconds == 0)
        detector.flush()
        #expect(detector.history.lastSegment(within: 1.5) == nil && detector.history.quietSeconds > 1000)
        detector.add([1, -1])
        #expect(detector.history.quietSeconds == 0.05)
    }
}
