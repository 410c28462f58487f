import Capture
import Glibc

/// Times of live audio: the nanoseconds of ``Capture/Clock``.
enum LiveClock {
    /// From one block to the next.
    static let hop: Int64 = 100_000_000

    static var now: Int64 { Capture.Clock.now }

    /// Returns at a time, or before it when a signal comes.
    static func sleep(until time: Int64) {
        var target = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &target, nil)
    }
}
