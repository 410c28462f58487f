import Configuration
import Core
private import Synchronization

/// What a service has to say, from a chosen priority on.
final class ServiceLog: Sendable {
    private let threshold = Mutex(Configuration.Log.info)

    /// From which priority on anything is written.
    var level: Configuration.Log {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    func write(_ priority: LogLevel, _ text: String) {
        let most: LogLevel =
            switch level {
            case .error: .error
            case .warning: .warning
            case .info: .info
            case .debug: .debug
            }
        if priority.number <= most.number { Terminal.tell(priority, text) }
    }
}
