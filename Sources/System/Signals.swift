import Core
import Glibc

/// The signals of a service (TERM, INT, HUP, USR1), taken one by one by the thread that made this.
public struct Signals {
    private var set = sigset_t()

    /// Blocks them here and in all threads made later.
    public init() {
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGUSR1] { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A write to a closed pipe returns EPIPE instead.
        signal(SIGPIPE, SIG_IGN)
    }

    /// The next signal; nil if none comes in time.
    public func next(within duration: Duration) -> Int32? {
        var set = set
        var time = (Instant(nanoseconds: 0) + duration).timespec
        let signal = sigtimedwait(&set, nil, &time)
        return signal > 0 ? signal : nil
    }
}
