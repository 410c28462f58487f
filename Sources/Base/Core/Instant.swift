/// A time on the monotonic clock, in nanoseconds. Differences are ``Swift/Duration``s.
///
/// Sums and differences saturate instead of overflowing, so ``distantFuture`` plus any duration is ``distantFuture``.
public struct Instant: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// Since the clock's zero; for the system's monotonic clock that is about when the machine started.
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Later than all other times: a wait until then never times out.
    public static let distantFuture = Instant(nanoseconds: .max)

    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return Instant(nanoseconds: overflow ? (duration > .zero ? .max : .min) : sum)
    }

    public static func - (instant: Instant, duration: Duration) -> Instant { instant + (.zero - duration) }

    /// The time from `right` to `left`; negative if `left` is earlier.
    public static func - (left: Instant, right: Instant) -> Duration {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        return .nanoseconds(overflow ? (left > right ? .max : .min) : difference)
    }

    public static func += (instant: inout Instant, duration: Duration) { instant = instant + duration }
}

extension Duration {
    /// The duration in nanoseconds, rounded and clamped to 64 bits.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let half: Int64 = attoseconds < 0 ? -500_000_000 : 500_000_000
        let (sum, carry) = whole.addingReportingOverflow((attoseconds + half) / 1_000_000_000)
        return overflow || carry ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration in seconds, rounded to the nanosecond.
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    /// The duration in milliseconds, rounded to the nanosecond.
    public var milliseconds: Double { Double(nanoseconds) / 1e6 }
}
