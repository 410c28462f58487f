/// A wake word that is named, but whose model cannot be loaded: a service runs without it, and says so.
public struct MissingWakeWord: Sendable, Equatable {
    /// As the configuration names it.
    public let name: String
    /// The word, as far as its files tell it; else what its name comes to.
    public let word: String
    /// What is wrong, with the file's name, and what to do: one line.
    public let reason: String

    public init(name: String, word: String, reason: String) {
        (self.name, self.word, self.reason) = (name, word, reason)
    }
}
