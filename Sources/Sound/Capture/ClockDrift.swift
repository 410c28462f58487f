/// Estimates how much slower than the machine's clock a device's clock runs, from how its lag grows.
///
/// Cheap converters and some sound servers are off by more than a per cent. The lag of such a device grows all the time, but
/// evenly, while lost frames make it jump. So the estimate is the median of how much the least lag grew from second to second,
/// over the last eleven seconds: jumps in less than half of these do not change it, and another rate shows within six seconds.
///
/// A pure value of fixed size, because the capture thread may not allocate.
struct ClockDrift {
    /// Seconds that count, and the least number of them for an estimate.
    private static let window = 11, least = 5
    private static let second: Int64 = 1_000_000_000

    /// Growth of the lag in ns per second, the newest `count` of them in a ring.
    private var growths = InlineArray<11, Int64>(repeating: 0)
    private var count = 0
    private var next = 0
    /// The second that is under way: its start, its least lag, and when that was.
    private var current: (start: Int64, lag: Int64, time: Int64)?
    /// The least lag of the second before it.
    private var before: (lag: Int64, time: Int64)?

    /// The growth of the lag in ns per second; negative for a device that is fast, nil until some seconds are known.
    private(set) var growth: Int64?

    /// Notes a lag and its time, both in ns.
    mutating func note(_ lag: Int64, at now: Int64) {
        guard let so = current else {
            current = (now, lag, now)
            return
        }
        guard now - so.start >= Self.second else {
            if lag < so.lag { current = (so.start, lag, now) }
            return
        }
        if let before, so.time > before.time {
            // In parts, so that no product overflows.
            let (time, change) = (so.time - before.time, so.lag - before.lag)
            let (whole, rest) = change.quotientAndRemainder(dividingBy: time)
            add(whole &* Self.second &+ Int64(Double(rest) / Double(time) * Double(Self.second)))
        }
        before = now - so.start < 2 * Self.second ? (so.lag, so.time) : nil
        current = (now, lag, now)
    }

    /// The next lag does not continue the last one; the rate stays what it is.
    mutating func interrupt() { (current, before) = (nil, nil) }

    private mutating func add(_ value: Int64) {
        growths[next] = value
        next = (next + 1) % Self.window
        count = min(count + 1, Self.window)
        if count >= Self.least { growth = median }
    }

    /// By counting, because sorting would allocate.
    private var median: Int64 {
        for index in 0..<count {
            let value = growths[index]
            var (less, same) = (0, 0)
            for other in 0..<count {
                if growths[other] < value { less += 1 }
                if growths[other] == value { same += 1 }
            }
            if less <= count / 2, less + same > count / 2 { return value }
        }
        return 0
    }
}
