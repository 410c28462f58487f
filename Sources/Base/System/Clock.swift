public import Core
import Glibc

/// The system's clocks.
public enum Clock {
    /// The monotonic clock, used for all timing: it never jumps, and it stops while the machine is suspended.
    public static var now: Instant { Instant(nanoseconds: read(CLOCK_MONOTONIC)) }

    /// The monotonic clock at the hardware's own rate, which no time daemon adjusts: for measurements.
    ///
    /// Its zero differs from that of ``now``, so the two cannot be compared.
    public static var raw: Instant { Instant(nanoseconds: read(CLOCK_MONOTONIC_RAW)) }

    /// The time of day: microseconds since the beginning of 1970, UTC. A clock may be set to any time: more than 30,000 years from then
    /// are given as so many.
    static var timeOfDay: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let most = 1 << 40
        return Int64(min(max(time.tv_sec, -most), most)) * 1_000_000 + Int64(time.tv_nsec / 1000)
    }

    /// Sleeps until ``now`` has reached `time`; returns earlier if a signal handler ran.
    public static func sleep(until time: Instant) {
        var time = time.timespec
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil)
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension Instant {
    /// For calls that take a time on the monotonic clock.
    var timespec: timespec {
        Glibc.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
