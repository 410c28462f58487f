import Configuration
import Core
private import Synchronization

/// What a service has to say, from a chosen priority on.
final class ServiceLog: Sendable {
    private let threshold = Mutex(LogLevel.info)

    /// From which priority on anything is written.
    var level: LogLevel {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    func write(_ priority: LogLevel, _ text: String) {
        if priority >= level { Terminal.tell(priority, text) }
    }
}
