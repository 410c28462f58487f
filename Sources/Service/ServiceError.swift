private import Core
private import Glibc
public import System

/// What can go wrong while the service acts or is asked to.
///
/// Compare with the constants: two errors are equal when they are of the same kind, whatever their messages say.
/// ``description`` is one line that names what was asked, what happened and what to do next.
public struct ServiceError: Error, Equatable, Sendable, CustomStringConvertible {
    private enum Code {
        case template, address, program, timedOut, webhook, journal, socket, notRunning, command, clip, thread
    }

    private let code: Code
    public let description: String

    private init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    public static func == (left: ServiceError, right: ServiceError) -> Bool { left.code == right.code }

    /// A text to be printed has a placeholder that does not exist.
    public static let template = ServiceError(.template, "unknown placeholder")
    /// An address is not one that can be posted to.
    public static let address = ServiceError(.address, "not an address")
    /// A program could not be started, or said that it failed.
    public static let program = ServiceError(.program, "program failed")
    /// A program or a request took too long.
    public static let timedOut = ServiceError(.timedOut, "took too long")
    /// A web server could not be reached, or did not answer with success.
    public static let webhook = ServiceError(.webhook, "webhook failed")
    /// The journal took no entry.
    public static let journal = ServiceError(.journal, "journal failed")
    /// A socket could not be made or used.
    public static let socket = ServiceError(.socket, "socket failed")
    /// No daemon answers at the control socket.
    public static let notRunning = ServiceError(.notRunning, "beckon is not running")
    /// A command to the daemon was not understood.
    public static let command = ServiceError(.command, "unknown command")
    /// A clip could not be saved.
    public static let clip = ServiceError(.clip, "clip not saved")
    /// A thread could not be started.
    public static let thread = ServiceError(.thread, "no thread")

    /// The same kind of error with a message of its own, kept to one line.
    func saying(_ message: String) -> ServiceError { ServiceError(code, printable(message)) }

    /// The system gave no means of waking a thread.
    static func noEventFD(_ error: SystemError) -> ServiceError {
        socket.saying("\(error); the limit on open files may be too low")
    }

    /// The system gave no thread.
    public static func noThread(_ error: SystemError) -> ServiceError {
        thread.saying("cannot start a thread (\(error)); the limit on tasks or memory may be too low")
    }
}
