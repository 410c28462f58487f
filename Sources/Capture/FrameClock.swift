import Core

/// Finds frames that were lost without an error, by comparing the number of frames with the clock.
///
/// A sound card's clock is off by up to a few hundred ppm, its count of available frames moves in steps, and a sound
/// server may begin with a backlog. So the lag of the frames behind the clock is compared with a base: the minimum of
/// the lag, which rises by at most 0.1 % of the time. A gap is a lag that exceeds the base by more than 100 ms for
/// three reads and for 40 ms. A thread that was delayed between two calls sees one late read, not three; a thread that
/// works off a backlog sees many reads, but within less than 40 ms.
struct FrameClock {
    // All times below are in nanoseconds.
    static let threshold: Int64 = 100_000_000
    private static let driftPerMillion: Int64 = 1_000
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

    /// - Parameter rate: Frames per second.
    init(rate: Int) { self.rate = Int64(rate) }

    /// Whether frames may be missing; the next reads decide it.
    var isBehind: Bool { behind != nil }

    /// Starts again: the next frames begin a new count.
    mutating func reset() { self = FrameClock(rate: Int(rate)) }

    /// Counts frames that were read.
    ///
    /// - Parameters:
    ///   - count: Frames read.
    ///   - waiting: Frames that the device still holds.
    ///   - now: The time after the read.
    /// - Returns: How much audio is missing, once for each gap; else nil.
    mutating func note(_ count: Int, waiting: Int, at now: Instant) -> Duration? {
        let now = now.nanoseconds
        frames += Int64(count)
        let length = duration(of: frames + Int64(max(0, waiting)))
        guard let start else {
            start = now - length
            last = now
            return nil
        }
        let lag = now - start - length
        base += (now - last) * FrameClock.driftPerMillion / 1_000_000
        last = now
        lags = (lag, lags.0, lags.1)
        // A lag below the base: the device had a backlog.
        base = min(base, max(lags.0, lags.1, lags.2))
        guard lag - base > FrameClock.threshold else {
            behind = nil
            return nil
        }
        let so = behind ?? (now, 0, lag)
        let (reads, least) = (so.reads + 1, min(so.least, lag))
        behind = (so.since, reads, least)
        guard reads >= FrameClock.reads, now - so.since >= FrameClock.leastTime else { return nil }
        defer { (base, behind) = (least, nil) }
        return .nanoseconds(least - base)
    }

    /// In nanoseconds; computed from whole seconds and the rest, so that years of frames do not overflow.
    private func duration(of frames: Int64) -> Int64 {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: rate)
        return seconds * 1_000_000_000 + rest * 1_000_000_000 / rate
    }
}
