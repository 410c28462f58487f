public import Core
import Synchronization

/// The service's log: passes on messages from a chosen level on. Any thread may write.
public final class ServiceLog: Sendable {
    private let threshold = Mutex(LogLevel.info)
    private let output: @Sendable (LogLevel, String) -> Void

    /// - Parameter output: writes a message of one line or more; called on the thread of the caller.
    public init(_ output: @escaping @Sendable (LogLevel, String) -> Void) { self.output = output }

    /// The least urgent level that is written.
    public var level: LogLevel {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    public func write(_ level: LogLevel, _ text: String) {
        if level >= self.level { output(level, text) }
    }
}
