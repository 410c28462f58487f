import Core
import Glibc

/// The signals of a service (TERM, INT, HUP, USR1, on a terminal also WINCH, TSTP and CONT), received one by one by the thread
/// that created this value.
public struct Signals {
    private var set = sigset_t()

    /// Blocks the signals in this thread and in all threads started later, and ignores SIGPIPE and SIGXFSZ.
    ///
    /// - Parameter drawing: whether the program draws on a terminal, and so must know of its size and of Ctrl-Z.
    public init(drawing: Bool = false) {
        sigemptyset(&set)
        let ofTerminal = drawing ? [SIGWINCH, SIGTSTP, SIGCONT] : []
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGUSR1] + ofTerminal { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A write to a closed pipe returns EPIPE instead.
        signal(SIGPIPE, SIG_IGN)
        // A write beyond the limit on file sizes (RLIMIT_FSIZE) returns EFBIG instead.
        signal(SIGXFSZ, SIG_IGN)
        // The parent process may have ignored it; the system would then throw away the exit status of programs.
        signal(SIGCHLD, SIG_DFL)
    }

    /// Runs `body` so that TERM and INT end the process at once, as they do by default: for work that may wait before
    /// the service is set up. `body` must not start threads, because they would inherit the unblocked signals.
    public func interruptible<Result>(_ body: () throws -> Result) rethrows -> Result {
        unblock()
        defer { change(SIG_BLOCK) }
        return try body()
    }

    /// From now on TERM and INT end the process at once, also those that came before.
    public func unblock() { change(SIG_UNBLOCK) }

    private func change(_ how: Int32) {
        var ends = sigset_t()
        sigemptyset(&ends)
        for signal in [SIGTERM, SIGINT] { sigaddset(&ends, signal) }
        pthread_sigmask(how, &ends, nil)
    }

    /// Waits for the next signal; nil if none comes within `duration`.
    public func next(within duration: Duration) -> Int32? {
        var set = set
        var time = (Instant(nanoseconds: 0) + duration).timespec
        let signal = sigtimedwait(&set, nil, &time)
        return signal > 0 ? signal : nil
    }
}
