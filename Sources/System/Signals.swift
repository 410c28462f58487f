import Core
import Glibc

/// The signals of a service (TERM, INT, HUP, USR1), received one by one by the thread that created this value.
public struct Signals {
    private var set = sigset_t()

    /// Blocks the signals in this thread and in all threads started later, and ignores SIGPIPE.
    public init() {
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGUSR1] { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A write to a closed pipe returns EPIPE instead.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Waits for the next signal; nil if none comes within `duration`.
    public func next(within duration: Duration) -> Int32? {
        var set = set
        var time = (Instant(nanoseconds: 0) + duration).timespec
        let signal = sigtimedwait(&set, nil, &time)
        return signal > 0 ? signal : nil
    }
}
