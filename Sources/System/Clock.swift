import Glibc

/// The system's clocks, in nanoseconds.
public enum Clock {
    /// The monotonic clock, by which all is timed: it never steps, and stands still while the machine sleeps.
    public static var now: Int64 { read(CLOCK_MONOTONIC) }

    /// The hardware's own clock, which no daemon steers while something is measured; its zero is another than that of `now`.
    public static var raw: Int64 { read(CLOCK_MONOTONIC_RAW) }

    /// The time of day, since the beginning of 1970, UTC.
    public static var real: Int64 { read(CLOCK_REALTIME) }

    /// Returns at a time of ``now``, or before it when a signal comes.
    public static func sleep(until time: Int64) {
        var target = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &target, nil)
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
