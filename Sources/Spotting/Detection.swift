/// Something the detector heard: a word, a phrase, or part of one. Times are in seconds since the stream began.
public struct Detection: Equatable, Sendable, BitwiseCopyable {
    public enum Kind: Equatable, Sendable, BitwiseCopyable {
        case word
        /// All words of a phrase, in order.
        case phrase
        /// The first words of a phrase, more to come.
        case phrasePartial

        /// What formats for machines call it: the value of the key `event`.
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
    /// 0…1; of a phrase, the least of its words.
    public let confidence: Float
    /// Estimated bounds of what was said.
    public let start: Double
    public let end: Double
    /// When it was decided: the end of the newest audio that had been heard then.
    public let time: Double

    public init(kind: Kind, index: Int, confidence: Float, start: Double, end: Double, time: Double) {
        self.kind = kind
        self.index = index
        self.confidence = confidence
        self.start = start
        self.end = end
        self.time = time
    }

    /// What it is called, by the labels and phrases of the detector that heard it.
    public func name(labels: [String], phrases: [Phrase]) -> String {
        switch kind {
        case .word: labels.indices.contains(index) ? labels[index] : ""
        case .phrase, .phrasePartial: phrases.indices.contains(index) ? phrases[index].name : ""
        }
    }
}
