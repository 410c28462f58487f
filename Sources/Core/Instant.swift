/// A moment on the monotonic clock, to the nanosecond. Differences are ``Swift/Duration``s.
///
/// The sum of a moment and a duration saturates, so that ``distantFuture`` stays what it is.
public struct Instant: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// Since the clock's zero, which for the system's clock is its start.
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Later than all others: a wait until then has no end.
    public static let distantFuture = Instant(nanoseconds: .max)

    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return Instant(nanoseconds: overflow ? (duration > .zero ? .max : .min) : sum)
    }

    public static func - (instant: Instant, duration: Duration) -> Instant { instant + (.zero - duration) }

    /// How much later the left one is.
    public static func - (left: Instant, right: Instant) -> Duration {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        return .nanoseconds(overflow ? (left > right ? .max : .min) : difference)
    }

    public static func += (instant: inout Instant, duration: Duration) { instant = instant + duration }
}

extension Duration {
    /// The whole duration in nanoseconds, rounded; the nearest 64-bit number where it has more.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let half: Int64 = attoseconds < 0 ? -500_000_000 : 500_000_000
        let (sum, carry) = whole.addingReportingOverflow((attoseconds + half) / 1_000_000_000)
        return overflow || carry ? (seconds < 0 ? .min : .max) : sum
    }

    /// The whole duration in seconds, to the nanosecond.
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    /// The whole duration in milliseconds, to the nanosecond.
    public var milliseconds: Double { Double(nanoseconds) / 1e6 }
}
