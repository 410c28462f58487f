public import Core

/// What makes the words of a kind fire.
public enum FiringRule: Sendable {
    /// The gate: their probabilities are fused with the model's posteriors, and at most one of all such words fires.
    case gate
    /// Each by itself and at its own time, where its score rises above its threshold.
    case rising
}

/// A kind of words beside those of the model: words that the user taught, wake words with models of their own.
///
/// All that a detector needs of such words, it knows by this. ``Vocabulary`` lists the kinds; `docs/extending.md` shows how one is added.
public protocol WordKind: Sendable {
    /// The name of each word. A name that the model has too shares the label of the model's word.
    var names: [String] { get }
    var rule: FiringRule { get }
    /// Whether its scorer needs the model's embedding of each hop.
    var needsEmbedding: Bool { get }
    /// What scores the words in one stream. ``WordScorers`` calls it, and nothing else.
    func makeScorer() -> any WordScorer
    /// Whether a scorer of another kind can go on for this one, because its words are the same.
    func goesOn(from former: any WordKind) -> Bool

    /// What looks at proposals of its words, or of others; nil for nothing. ``WordLooks`` calls it, and nothing else.
    ///
    /// - Parameter labels: of each word.
    func makeLook(labels: [Int]) -> (any WordLook)?
    /// The newest seconds of audio that its looks need.
    var secondsOfLook: Double { get }
    /// The least score of a word with which it is proposed to a look; nil for a word that fires without one.
    func proposal(of word: Int) -> Float?

    /// A word's own threshold, 0…1: that of the sensitivity `balanced` where no other is known.
    func threshold(of word: Int) -> Float
    /// That of a sensitivity; nil where it is not known.
    func threshold(of word: Int, _ sensitivity: Sensitivity, _ mode: DetectionMode) -> Float?
    /// One line that says why there is none, and what to do.
    func noThreshold(of word: Int, _ sensitivity: Sensitivity) -> String
    /// Seconds by which an utterance of the word may exceed the limit for a word.
    func extraSeconds(of word: Int) -> Double
}

extension WordKind {
    public var rule: FiringRule { .gate }
    public var needsEmbedding: Bool { false }
    public func makeLook(labels: [Int]) -> (any WordLook)? { nil }
    public var secondsOfLook: Double { 0 }
    public func proposal(of word: Int) -> Float? { nil }
    public func threshold(of word: Int, _ sensitivity: Sensitivity, _ mode: DetectionMode) -> Float? { nil }
    public func noThreshold(of word: Int, _ sensitivity: Sensitivity) -> String {
        "the word '\(printable(names[word]))' has no threshold for the sensitivity \(sensitivity.rawValue); choose a threshold such as "
            + "\(threshold(of: word))"
    }
    public func extraSeconds(of word: Int) -> Double { 0 }
}
