private import Core

/// Why an action failed.
///
/// Compare with the constants: two errors are equal when they are of the same kind, whatever their messages say.
/// ``description`` is one line that names what was asked, what happened and what to do next.
public struct ActionError: Error, Equatable, Sendable, CustomStringConvertible {
    private enum Code { case program, timedOut, webhook, journal, socket, clip }

    private let code: Code
    /// One line for the log.
    public let description: String

    private init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    public static func == (left: ActionError, right: ActionError) -> Bool { left.code == right.code }

    /// A program could not be started, or it failed.
    public static let program = ActionError(.program, "program failed")
    /// A request did not end within its timeout.
    public static let timedOut = ActionError(.timedOut, "took too long")
    /// A web server could not be reached, or did not answer with success.
    public static let webhook = ActionError(.webhook, "webhook failed")
    /// journald did not accept the entry.
    public static let journal = ActionError(.journal, "journal failed")
    /// The socket of a `unix` action could not be created.
    public static let socket = ActionError(.socket, "socket failed")
    /// A clip could not be saved.
    public static let clip = ActionError(.clip, "clip not saved")
    /// The same kind of error with another message, on one line.
    func saying(_ message: String) -> ActionError { ActionError(code, printable(message)) }
}
