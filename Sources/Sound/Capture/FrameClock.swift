import Core

/// Finds frames that were lost without an error, and devices without a clock, by comparing the number of frames with the clock.
///
/// A device's clock is off, its count of available frames moves in steps, and a sound server may begin with a backlog. So the
/// lag of the frames behind the clock is compared with a base: the minimum of the lag, which rises at most 0.1 % faster than the
/// device's own drift (``ClockDrift``), and at most by 2.5 % of the time. A gap is a lag that exceeds the base by more than 100 ms
/// for three reads and for 40 ms. A thread that was delayed between two calls sees one late read, not three; a thread that works
/// off a backlog sees many reads, but within less than 40 ms.
///
/// ALSA's plug-ins `null` and `file` have no clock: a read returns at once. A device that is more than five seconds ahead of a
/// clock that runs 10 % faster than the machine's is such a one, or its rate is wrong; no backlog is as long.
struct FrameClock {
    // All times below are in nanoseconds.
    static let threshold: Int64 = 100_000_000
    private static let driftPerMillion: Int64 = 1_000
    /// The largest drift, and what holds until it is known.
    private static let mostPerMillion: Int64 = 25_000
    private static let reads = 3
    private static let leastTime: Int64 = 40_000_000

    private let rate: Int64
    private var start: Int64?
    private var frames: Int64 = 0
    private var last: Int64 = 0
    private var base: Int64 = 0
    /// The last three lags, the newest first.
    private var lags: (Int64, Int64, Int64) = (0, 0, 0)
    /// The current series of reads with too much lag: its start, length and smallest lag.
    private var behind: (since: Int64, reads: Int, least: Int64)?
    private var drift = ClockDrift()
    /// The base at the last read that was not behind, which a gap is measured from.
    private var good: Int64 = 0
    /// When frames were read last, gaps or not, and how far they are ahead of the clock.
    private var lastRead: Int64?
    private var ahead: Int64 = 0

    /// - Parameter rate: Frames per second.
    init(rate: Int) { self.rate = Int64(rate) }

    /// Whether frames may be missing; the next reads decide it.
    var isBehind: Bool { behind != nil }

    /// How far the frames are ahead of any clock.
    var lead: Duration { .nanoseconds(ahead) }

    /// How much slower than the machine's clock the device may run, in parts per million: what it does run, and 0.1 %.
    var allowedPerMillion: Int64 {
        guard let growth = drift.growth else { return Self.mostPerMillion }
        return min(max(0, growth / 1_000) + Self.driftPerMillion, Self.mostPerMillion)
    }

    /// Starts again: the next frames begin a new count. What is known of the device's rate stays.
    mutating func reset() {
        (start, frames, last, base, lags, behind, good) = (nil, 0, 0, 0, (0, 0, 0), nil, 0)
        drift.interrupt()
    }

    /// Counts frames that were read.
    ///
    /// - Parameters:
    ///   - count: Frames read.
    ///   - waiting: Frames that the device still holds.
    ///   - now: The time after the read.
    /// - Returns: How much audio is missing, once for each gap; else nil.
    mutating func note(_ count: Int, waiting: Int, at now: Instant) -> Duration? {
        let now = now.nanoseconds
        ahead = max(0, ahead + duration(of: Int64(count)) - (now - (lastRead ?? now)) / 10 * 11)
        lastRead = now
        frames += Int64(count)
        let length = duration(of: frames + Int64(max(0, waiting)))
        guard let start else {
            start = now - length
            (last, good) = (now, 0)
            return nil
        }
        let lag = now - start - length
        base += (now - last) / 1_000_000 * allowedPerMillion + (now - last) % 1_000_000 * allowedPerMillion / 1_000_000
        last = now
        lags = (lag, lags.0, lags.1)
        // A lag below the base: the device had a backlog.
        base = min(base, max(lags.0, lags.1, lags.2))
        guard lag - base > FrameClock.threshold else {
            (behind, good) = (nil, base)
            drift.note(lag, at: now)
            return nil
        }
        let so = behind ?? (now, 0, lag)
        let (reads, least) = (so.reads + 1, min(so.least, lag))
        behind = (so.since, reads, least)
        guard reads >= FrameClock.reads, now - so.since >= FrameClock.leastTime else { return nil }
        defer { (base, behind, good) = (least, nil, least) }
        drift.interrupt()
        return .nanoseconds(least - good)
    }

    /// In nanoseconds; computed from whole seconds and the rest, so that years of frames do not overflow.
    private func duration(of frames: Int64) -> Int64 {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: rate)
        return seconds * 1_000_000_000 + rest * 1_000_000_000 / rate
    }
}
