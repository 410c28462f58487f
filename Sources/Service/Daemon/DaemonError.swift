import System

/// Why the service cannot run: one line that says what failed and what to do.
public struct DaemonError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The message.
    public let description: String

    init(_ description: String) { self.description = description }

    static func noEventFD(_ error: SystemError) -> DaemonError {
        DaemonError("\(error); the limit on open files may be too low")
    }

    static func noThread(_ error: SystemError) -> DaemonError {
        DaemonError("cannot start a thread (\(error)); the limit on tasks or memory may be too low")
    }
}
