private import Core
public import Inference

/// A known word whose name differs from a new one only in its spelling: to the ear the two are one word.
public struct WordTwin: Sendable, Equatable {
    public let name: String
    /// Whether the user taught it; if not, the model knows it.
    public let isTaught: Bool

    /// Nil if there is none, or if the word of this name is known itself.
    public init?(of name: String, _ store: WordStore?, _ model: Model) {
        guard store?[name] == nil else { return nil }
        if let word = store?.word(spelledLike: name) {
            (self.name, isTaught) = (word.name, true)
            return
        }
        let known = Labels(model.labels).words
        guard !known.contains(name), let word = known.first(where: { WordStore.isSpelledLike($0, name) }) else {
            return nil
        }
        (self.name, isTaught) = (word, false)
    }
}
