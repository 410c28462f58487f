public import Core

/// What to do when a word or a phrase is detected.
public struct Action: Equatable, Sendable {
    /// The kind of action, with its own settings.
    public enum Effect: Equatable, Sendable {
        /// Starts a program: its absolute path and its arguments, without a shell.
        case run([String], directory: String)
        /// Writes a line on standard output.
        case print(Template)
        /// Writes an entry with fields to the system's journal, with this priority.
        case journal(LogLevel)
        /// Sends the event as a JSON line to all clients of the Unix socket at this path.
        case unix(String)
        /// Posts the event as JSON by HTTP. `caFile` has the authorities that are trusted instead of the system's.
        case webhook(WebAddress, caFile: String?, followsRedirects: Bool)
        /// Plays the audio file at this path on the speaker.
        case play(String)
    }

    /// What the action does.
    public let effect: Effect
    /// Seconds after which a program is ended or a request is cancelled; nil for ``Configuration/Limits/timeout``.
    public let timeout: Double?

    /// - Parameter timeout: used by `run` and `webhook` only.
    public init(_ effect: Effect, timeout: Double? = nil) {
        self.effect = effect
        self.timeout = timeout
    }

    /// The action's name in messages, such as `run /usr/bin/aplay`.
    public var name: String {
        switch effect {
        case .run(let arguments, _): "run \(arguments.first ?? "")"
        case .print: "print"
        case .journal: "journal"
        case .unix(let path): "unix \(path)"
        case .webhook(let address, _, _): "webhook \(address.text)"
        case .play(let path): "play \(path)"
        }
    }
}
