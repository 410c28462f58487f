/// Which words may fire.
public enum DetectionMode: String, Sendable, CaseIterable, BitwiseCopyable {
    /// Words anywhere, also within continuous speech.
    case spot
    /// Words said alone: with a pause before and after.
    case command
}
