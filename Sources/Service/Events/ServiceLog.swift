public import Core
import Synchronization

/// The service's log: passes on messages from a chosen level on. Any thread may write.
public final class ServiceLog: Sendable {
    /// A field of an entry of the system's journal.
    public typealias Field = (name: String, value: String)

    private let threshold = Mutex(LogLevel.info)
    private let output: @Sendable (LogLevel, String) -> Void
    private let entry: (@Sendable (LogLevel, String, [Field]) -> Bool)?

    /// - Parameters, both called on the thread of the caller:
    ///   - entry: writes a message with its fields, where the log is one that has fields; returns whether it did.
    ///   - output: writes a message of one line or more.
    public init(
        entry: (@Sendable (LogLevel, String, [Field]) -> Bool)? = nil,
        _ output: @escaping @Sendable (LogLevel, String) -> Void
    ) {
        (self.entry, self.output) = (entry, output)
    }

    /// The least urgent level that is written.
    public var level: LogLevel {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    /// - Parameter fields: for a log that has fields.
    public func write(_ level: LogLevel, _ text: String, fields: [Field] = []) {
        guard level >= self.level, fields.isEmpty || entry?(level, text, fields) != true else { return }
        output(level, text)
    }
}
