public import JSON
public import System

/// What a voice assistant does, as people see it: for lights, buttons and actions.
public enum AssistantState: String, CaseIterable, Sendable {
    /// It waits for a word.
    case idle
    case listening, thinking, speaking
    /// A timer rings.
    case timer
    /// It waits, and its microphone is closed.
    case muted
    /// Something failed; it lasts a moment, and the state before it stays.
    case error
}

/// A change of what the voice assistant does. A pure value.
public struct AssistantChange: Equatable, Sendable {
    public let state: AssistantState
    /// On the wall clock.
    public let date: Timestamp

    public init(_ state: AssistantState, date: Timestamp = .now) { (self.state, self.date) = (state, date) }

    /// What its kind is called in `event`.
    public static let key = "assistant"

    /// One JSON object without a line end.
    public var json: JSON {
        ["event": .string(Self.key), "state": .string(state.rawValue), "date": .string(date.text)]
    }

    /// Environment variables of actions and fields of journal entries: names and values, in a fixed order.
    public var fields: [(name: String, value: String)] {
        [("BECKON_EVENT", Self.key), ("BECKON_STATE", state.rawValue), ("BECKON_TIME", date.text)]
    }
}
