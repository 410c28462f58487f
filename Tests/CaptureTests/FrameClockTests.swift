import Core
import Testing

@testable import Capture

struct FrameClockTests {
    static let millisecond: Int64 = 1_000_000

    /// Simulates periods of 20 ms at 48 kHz; returns time and length of each gap found, in ms.
    ///
    /// - Parameters:
    ///   - partsPerMillion: How much the card's clock is slow.
    ///   - lost: Milliseconds lost before a period, by its number.
    ///   - late: Delay of the reading of a period in ms, by its number; its frames wait meanwhile.
    ///   - backlog: Periods that are already captured at the start.
    static func gaps(
        seconds: Int,
        partsPerMillion: Int64 = 0,
        lost: [Int: Int64] = [:],
        late: [Int: Int64] = [:],
        backlog: Int = 0
    ) -> [(time: Int64, length: Int64)] {
        var clock = FrameClock(rate: 48_000)
        var found: [(Int64, Int64)] = []
        var missing: Int64 = 0
        for period in 0..<seconds * 50 {
            missing += lost[period] ?? 0
            let due = Int64(max(1, period + 1 - backlog)) * 20 * (millisecond + partsPerMillion) + missing * millisecond
            // Reading takes between 0 and 5 ms.
            let time =
                due + Int64(period < backlog ? 0 : period * 7 % 6) * millisecond + (late[period] ?? 0) * millisecond
            let waiting = Int(late[period] ?? 0) * 48
            if let length = clock.note(960, waiting: waiting, at: Instant(nanoseconds: time)) {
                found.append((time / millisecond, length.nanoseconds / millisecond))
            }
        }
        return found
    }

    @Test(arguments: [-300, 0, 300] as [Int64]) func `clocks that drift are not gap`(_ drift: Int64) {
        #expect(Self.gaps(seconds: 3_600, partsPerMillion: drift).isEmpty)
    }

    /// A clock that runs up to 1.5 % wrong, and a rate that changes on the way, as a sound server may do it.
    @Test(arguments: [-15_000, -10_000, -5_000, 5_000, 10_000, 15_000] as [Int64])
    func `a clock that is off by a per cent is not a gap, and what is lost on it is found`(_ drift: Int64) {
        #expect(Self.gaps(seconds: 1_800, partsPerMillion: drift).isEmpty)
        // At any time: before the rate is known, after it, and several times.
        let lost: [Int: Int64] = [100: 150, 400: 300, 2_000: 120, 5_000: 2_000, 9_000: 150]
        let found = Self.gaps(seconds: 200, partsPerMillion: drift, lost: lost)
        #expect(found.count == lost.count, "\(found)")
        for (gap, wanted) in zip(found, lost.sorted(by: { $0.key < $1.key }).map(\.value)) {
            #expect(((wanted - 12 - wanted / 50)...(wanted + 8)).contains(gap.length), "\(gap), not \(wanted)")
        }
    }

    @Test(arguments: [-10_000, 0, 10_000] as [Int64]) func `small losses add up to a gap`(_ drift: Int64) {
        // 80 ms every three seconds are 2.7 % of the time, but no clock. A fast clock hides a part of them.
        let lost = Dictionary(uniqueKeysWithValues: stride(from: 1_000, to: 6_000, by: 150).map { ($0, Int64(80)) })
        let found = Self.gaps(seconds: 120, partsPerMillion: drift, lost: lost)
        let sum = found.reduce(0) { $0 + $1.length }
        #expect(found.count >= 10 && (Int64(34 * (80 - 30))...Int64(34 * (80 + 40))).contains(sum), "\(sum) ms")
    }

    @Test func `a clock whose rate changes is not a gap`() {
        var clock = FrameClock(rate: 48_000)
        var now: Int64 = 0
        for period in 0..<60_000 {
            // From right to 1 % slow and back, every 100 s; frames come in portions of 21 ms, at uneven times.
            let isSlow = period / 5_000 % 2 == 1
            now += 20 * (Self.millisecond + (isSlow ? 10_000 : 0))
            let time = now + Int64(period * 7 % 20) * Self.millisecond
            #expect(clock.note(960, waiting: 0, at: Instant(nanoseconds: time)) == nil, "period \(period)")
        }
    }

    @Test func `a device that gives its audio at once is ahead of the clock, and no other one`() {
        var clock = FrameClock(rate: 48_000)
        var reads = 0
        while clock.lead <= .seconds(5), reads < 1_000 {
            reads += 1
            _ = clock.note(4_800, waiting: 24_000, at: Instant(nanoseconds: Int64(reads) * 50_000))
        }
        #expect(reads == 51)
        // A fast clock, a backlog, and a reader that was stopped are not.
        clock = FrameClock(rate: 48_000)
        var now: Int64 = 0
        var most = Duration.zero
        for period in 0..<180_000 {
            if period >= 100 { now += period % 9_000 == 0 ? 500 * Self.millisecond : 20 * Self.millisecond / 102 * 100 }
            _ = clock.note(960, waiting: 0, at: Instant(nanoseconds: now))
            most = max(most, clock.lead)
        }
        #expect(most < .milliseconds(2_100), "\(most)")
    }

    @Test func `missing frames are found within three periods, once, and measured`() {
        let found = Self.gaps(seconds: 60, lost: [500: 300, 1_500: 150])
        #expect(found.count == 2)
        #expect(found.first.map { (10_300...10_385).contains($0.time) && (290...305).contains($0.length) } == true)
        #expect(found.last.map { (30_450...30_535).contains($0.time) && (140...155).contains($0.length) } == true)
    }

    @Test func `less than 0.1 s of zeros is ignored`() {
        #expect(Self.gaps(seconds: 60, lost: [500: 80]).isEmpty)
    }

    @Test func `a late reader whose frames wait has lost nothing`() {
        #expect(Self.gaps(seconds: 60, late: [500: 400, 1_000: 450]).isEmpty)
    }

    @Test func `a reader held up between two calls has lost nothing`() {
        // One reading of the clock is 400 ms late, and the waiting frames are not counted.
        var clock = FrameClock(rate: 48_000)
        for period in 0..<500 {
            let time = Int64(period + 1) * 20 * Self.millisecond + (period == 250 ? 400 * Self.millisecond : 0)
            #expect(clock.note(960, waiting: 0, at: Instant(nanoseconds: time)) == nil)
        }
    }

    @Test func `two seconds of backlog are worked off without a gap, and one after it is found`() {
        #expect(Self.gaps(seconds: 60, backlog: 100).isEmpty)
        #expect(Self.gaps(seconds: 60, lost: [1_000: 200], backlog: 100).count == 1)
    }

    @Test func `a reader that works off a backlog and is held up has lost nothing`() {
        var clock = FrameClock(rate: 48_000)
        var now: Int64 = 0
        for period in 0..<20_000 {
            now += period % 1_000 == 999 ? 300 * Self.millisecond : 100_000
            #expect(clock.note(960, waiting: 0, at: Instant(nanoseconds: now)) == nil)
        }
    }

    @Test func `a year of frames does not overflow`() {
        var clock = FrameClock(rate: 192_000)
        let step: Int64 = 3_600_000_000_000
        for hour in 1...24 * 366 {
            #expect(clock.note(192_000 * 3_600, waiting: 0, at: Instant(nanoseconds: Int64(hour) * step)) == nil)
        }
    }
}
