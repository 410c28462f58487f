import Control
import Core
import Glibc
import System

/// The loop of the main thread: signals, and reports to systemd. It waits for nothing but signals, so that one always ends the
/// service.
struct MainLoop {
    let notifier: SystemdNotifier
    let changes: ChangeQueue

    /// Runs until SIGTERM, SIGINT, or the end of the work.
    ///
    /// - Parameters:
    ///   - signals: must be created, and so block the signals, before the program starts any thread.
    ///   - onSignal: gets the signals that do not concern all services.
    ///   - turn: called several times a second; nil ends the loop.
    /// - Returns: the program's exit status.
    func run(_ signals: Signals, onSignal: (Int32) -> Void, turn: () -> Watchdog.Health?) -> Int32 {
        var watchdog = Watchdog(notifier)
        while true {
            switch signals.next(within: .milliseconds(250)) {
            case SIGTERM: return end(0)
            case SIGINT: return end(130)
            case SIGHUP: changes.submit(.configuration)
            case let signal?: onSignal(signal)
            case nil: break
            }
            guard let health = turn() else { return 0 }
            watchdog.report(health)
        }
    }

    private func end(_ status: Int32) -> Int32 {
        notifier.notifyStopping()
        return status
    }
}
