import Core

/// Finds frames that went missing without an error, by comparing their count with the clock.
///
/// A sound card's clock is off by some hundred parts in a million, and its count of waiting frames moves in steps;
/// a sound server may also begin with a backlog. So the lag of the frames behind the clock is compared with its own
/// minimum, which follows the lag up by at most 0.1 % of the time. A gap is a lag that jumps by 100 ms and stays for three
/// reads and 40 ms. A thread that was delayed between two calls sees one late read, not three; a thread that reads a
/// backlog without waiting sees many reads, but within a moment.
struct FrameClock {
    // All times below are nanoseconds.
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
    /// The reads with too much lag, up to now.
    private var behind: (since: Int64, reads: Int, least: Int64)?

    /// - Parameter rate: Frames a second.
    init(rate: Int) { self.rate = Int64(rate) }

    /// Frames may be missing; the next reads decide it.
    var isBehind: Bool { behind != nil }

    /// Forgets everything: the next frames begin a new count.
    mutating func reset() { self = FrameClock(rate: Int(rate)) }

    /// Notes frames that were read.
    ///
    /// - Parameter waiting: Frames that the device still holds.
    /// - Returns: How much audio went missing, once for each gap.
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
        // Ahead of the count so far: the device had a backlog.
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

    /// In whole seconds and the rest, so that years of frames do not overflow.
    private func duration(of frames: Int64) -> Int64 {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: rate)
        return seconds * 1_000_000_000 + rest * 1_000_000_000 / rate
    }
}
