/// Whether networks confirm the words that a model proposes.
public enum ConfirmationState: String, Sendable, CaseIterable {
    case on
    /// The model has such networks, which are not loaded.
    case off
    /// The model has none.
    case missing = "none"
}
