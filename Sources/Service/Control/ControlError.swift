private import Core
import Network

/// Why a command was not understood, or why the service could not be reached.
///
/// Compare with the constants: two errors are equal when they are of the same kind, whatever their messages say.
/// ``description`` is one line that names what was asked, what happened and what to do next.
public struct ControlError: Error, Equatable, Sendable, CustomStringConvertible {
    private enum Code { case command, inUse, notRunning, refused, socket, timedOut }

    private let code: Code
    /// One line for the user.
    public let description: String

    private init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    public static func == (left: ControlError, right: ControlError) -> Bool { left.code == right.code }

    /// A command was not understood.
    public static let command = ControlError(.command, "unknown command")
    /// No service listens at the control socket.
    public static let notRunning = ControlError(.notRunning, "no service is running")
    /// The service refused a command.
    public static let refused = ControlError(.refused, "refused")
    /// The control socket could not be created or used.
    public static let socket = ControlError(.socket, "socket failed")
    /// Another service listens at the control socket.
    public static let inUse = ControlError(.inUse, "a service listens there already")
    /// The service did not answer within the timeout.
    public static let timedOut = ControlError(.timedOut, "took too long")

    /// The same kind of error with another message, on one line.
    func saying(_ message: String) -> ControlError { ControlError(code, printable(message)) }

    init(_ error: SocketError) { self = (error.isInUse ? Self.inUse : Self.socket).saying(error.description) }
}
