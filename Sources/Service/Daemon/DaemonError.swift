public import System

/// Why the service cannot run: one line that says what failed and what to do.
public struct DaemonError: RefusalError, Equatable, Sendable, CustomStringConvertible {
    /// The message.
    public let description: String

    init(_ description: String) { self.description = description }

    public init(refused text: String, _: SystemError) { self.init(text) }
}
