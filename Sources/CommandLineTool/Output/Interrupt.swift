private import Glibc
private import Synchronization

/// Ctrl-C: the first asks the command to end, the second ends the program immediately.
enum Interrupt {
    private static let flag = Atomic<Bool>(false)

    /// Whether the command should end early: the user pressed Ctrl-C, or standard output has failed.
    static var isRequested: Bool { flag.load(ordering: .relaxed) || Output.hasFailed }

    /// From now on, the first SIGINT or SIGTERM sets ``isRequested``; the second has its default effect.
    static func watch() {
        flag.store(false, ordering: .relaxed)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in Interrupt.flag.store(true, ordering: .relaxed) }
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
        unblock()
    }

    /// Makes SIGINT and SIGTERM arrive although the parent process may have blocked them: for commands that wait.
    static func unblock() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
}
