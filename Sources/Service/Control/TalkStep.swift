/// What a button does with the voice assistant: `beckon talk`.
public enum TalkStep: String, CaseIterable, Sendable {
    /// What is said from now on is a command, without a word before it. An answer or a ringing timer ends.
    case start
    /// The button was released: the command is complete.
    case end
    /// Ends whatever the assistant does.
    case stop
    /// Starts a command where the assistant waits, else ends what it does: for a single button.
    case toggle
}
