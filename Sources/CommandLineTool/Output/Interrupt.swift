private import Glibc
private import Synchronization

/// Ctrl-C: the first asks the command to end, the second ends the program immediately. SIGTERM, which comes once, asks too, and
/// ends the program if the command has not ended soon.
enum Interrupt {
    private static let flag = Atomic<Bool>(false)
    /// Seconds that a command has to end after SIGTERM: a disk may not answer, and a library may not return.
    private static let grace: UInt32 = 5

    /// Whether the command should end early: the user pressed Ctrl-C, or standard output has failed.
    static var isRequested: Bool { flag.load(ordering: .relaxed) || Output.hasFailed }

    /// Asks the command to end, as Ctrl-C does.
    static func request() { flag.store(true, ordering: .relaxed) }

    /// From now on, the first SIGINT or SIGTERM sets ``isRequested``; the second has its default effect, and so has the first
    /// SIGTERM after ``grace``.
    static func watch() {
        flag.store(false, ordering: .relaxed)
        // SIGTERM has its default effect again by then.
        signal(SIGALRM) { _ in kill(getpid(), SIGTERM) }
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            Interrupt.flag.store(true, ordering: .relaxed)
            if number == SIGTERM { alarm(Interrupt.grace) }
        }
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
        unblock()
    }

    /// Makes the signals arrive although the parent process may have blocked them: for commands that wait.
    static func unblock() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGALRM] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
}
