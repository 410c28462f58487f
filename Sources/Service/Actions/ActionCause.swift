import Configuration
import Core
import Events
import JSON
import Spotting

/// What actions are started for: a word, or a state of the voice assistant.
protocol ActionCause: Sendable {
    /// What programs, sockets and webhooks get.
    var json: JSON { get }
    /// Environment variables of programs.
    var fields: [(name: String, value: String)] { get }
    /// An entry of the journal.
    var entry: (message: String, fields: [(name: String, value: String)]) { get }
    /// A line for standard output.
    func line(_ template: Template) -> String
}

extension DetectionEvent: ActionCause {
    var entry: (message: String, fields: [(name: String, value: String)]) {
        let message =
            kind.isSession
            ? "session of \(name) (\(kind.key))" : "heard \(name) (\(kind.key), \(percent(confidence)))"
        return (message, journalFields())
    }

    func line(_ template: Template) -> String { template.filled(with: self) }
}

extension AssistantChange: ActionCause {
    // Without the identifier of entries about words, which `beckon events --since` looks for.
    var entry: (message: String, fields: [(name: String, value: String)]) {
        ("the assistant: \(state.rawValue)", fields + [("BECKON_JSON", "\(json)")])
    }

    func line(_ template: Template) -> String { template.filled(with: self) }
}
