private import Glibc
private import Synchronization

/// Ctrl-C: the first asks the work to end, the second ends the program.
enum Interrupt {
    private static let flag = Atomic<Bool>(false)

    /// Whether the user asked to stop.
    static var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// From here on SIGINT and SIGTERM are remembered once, then act as ever.
    static func watch() {
        flag.store(false, ordering: .relaxed)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in Interrupt.flag.store(true, ordering: .relaxed) }
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
        // A parent may have started the program with its signals blocked; then Ctrl-C would wait for ever.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
}
