public import Core

/// Something to be done when a word or a phrase was heard.
public struct Action: Equatable, Sendable {
    public enum Effect: Equatable, Sendable {
        /// Starts a program: its absolute path and its arguments, without a shell.
        case run([String], directory: String)
        /// Writes a line on standard output.
        case print(Template)
        /// Writes an entry with fields to the system's journal.
        case journal(LogLevel)
        /// Sends the event as a JSON line to everyone who is connected to a socket of its own.
        case unix(String)
        /// Posts the event as JSON.
        case webhook(WebAddress)
    }

    public let effect: Effect
    /// Seconds after which a program is ended, or a request given up; nil for the general limit.
    public let timeout: Double?

    /// - Parameter timeout: of use to `run` and `webhook` alone.
    public init(_ effect: Effect, timeout: Double? = nil) {
        self.effect = effect
        self.timeout = timeout
    }

    /// What reports call it, such as `run /usr/bin/aplay`.
    public var name: String {
        switch effect {
        case .run(let arguments, _): "run \(arguments.first ?? "")"
        case .print: "print"
        case .journal: "journal"
        case .unix(let path): "unix \(path)"
        case .webhook(let address): "webhook \(address.text)"
        }
    }
}
