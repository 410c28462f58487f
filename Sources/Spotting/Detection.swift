/// A decision of the gate: a word, a phrase or the first words of a phrase was said.
///
/// Times are in seconds since the stream began.
public struct Detection: Equatable, Sendable, BitwiseCopyable {
    /// What was detected.
    public enum Kind: Equatable, Sendable, BitwiseCopyable {
        /// A word; each word of a phrase is reported as a word too.
        case word
        /// All words of a phrase, in order.
        case phrase
        /// The first words of a phrase, with more to come.
        case phrasePartial

        /// Value of the key `event` in machine-readable formats.
        public var key: String {
            switch self {
            case .word: "word"
            case .phrase: "phrase"
            case .phrasePartial: "phrase-partial"
            }
        }
    }

    public let kind: Kind
    /// Index of the label, or of the phrase.
    public let index: Int
    /// Smoothed posterior, 0…1; for a phrase, the lowest among its words.
    public let confidence: Float
    /// Estimated start and end of the word or phrase.
    public let start: Double
    public let end: Double
    /// Time of the decision: the end of the newest hop at that moment.
    public let time: Double

    public init(kind: Kind, index: Int, confidence: Float, start: Double, end: Double, time: Double) {
        self.kind = kind
        self.index = index
        self.confidence = confidence
        self.start = start
        self.end = end
        self.time = time
    }

    /// Name of the word or phrase, by the labels and phrases of the detector that reported it; empty if there is none.
    public func name(labels: [String], phrases: [Phrase]) -> String {
        switch kind {
        case .word: labels.indices.contains(index) ? labels[index] : ""
        case .phrase, .phrasePartial: phrases.indices.contains(index) ? phrases[index].name : ""
        }
    }
}
