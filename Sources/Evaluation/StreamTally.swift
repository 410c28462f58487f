/// Counts over recordings: what was said, what was heard of it, what was heard beside it.
public struct StreamTally: Sendable, Equatable {
    /// The counts of one word.
    public struct Word: Sendable, Equatable {
        /// Times it was said.
        public var said = 0
        public var hits = 0
        /// Times something else was heard when it was said.
        public var wrong = 0
        /// Times it was heard when it was not said.
        public var falseAccepts = 0
        /// From the end of the word to the decision, one a hit, in seconds.
        public var latencies: [Double] = []

        public init() {}

        mutating func add(_ other: Word) {
            said += other.said
            hits += other.hits
            wrong += other.wrong
            falseAccepts += other.falseAccepts
            latencies += other.latencies
        }
    }

    /// One for each word, by label.
    public private(set) var words: [Word]
    /// Wrong words, by the label said (row) and the label heard (column).
    public private(set) var confusion: [[Int]]
    /// Audio heard.
    public private(set) var seconds = 0.0
    /// Audio of recordings in which no word is said, and the false accepts in it.
    public private(set) var wordlessSeconds = 0.0
    public private(set) var wordlessFalseAccepts = 0

    /// Nothing heard yet.
    public init(words count: Int) {
        words = [Word](repeating: Word(), count: count)
        confusion = [[Int]](repeating: [Int](repeating: 0, count: count), count: count)
    }

    /// One recording, labels that are no words left out; detections by time, truths by start, as
    /// ``outcomes(of:truths:tolerance:)`` takes them.
    public init(
        words count: Int,
        detections: [HeardWord],
        truths: [SpokenWord],
        seconds: Double,
        tolerance: Double
    ) {
        self.init(words: count)
        self.seconds = seconds
        let truths = truths.filter { words.indices.contains($0.label) }
        let detections = detections.filter { words.indices.contains($0.label) }
        for truth in truths { words[truth.label].said += 1 }
        for (heard, outcome) in zip(detections, outcomes(of: detections, truths: truths, tolerance: tolerance)) {
            switch outcome {
            case .hit(_, let latency):
                words[heard.label].hits += 1
                words[heard.label].latencies.append(latency)
            case .wrong(let truth):
                words[truths[truth].label].wrong += 1
                confusion[truths[truth].label][heard.label] += 1
            case .falseAccept:
                words[heard.label].falseAccepts += 1
            }
        }
        if truths.isEmpty {
            wordlessSeconds = seconds
            wordlessFalseAccepts = total.falseAccepts
        }
    }

    /// Adds another recording of the same words.
    public mutating func add(_ other: StreamTally) {
        for (label, word) in zip(words.indices, other.words) {
            words[label].add(word)
            for (heard, count) in zip(words.indices, other.confusion[label]) { confusion[label][heard] += count }
        }
        seconds += other.seconds
        wordlessSeconds += other.wordlessSeconds
        wordlessFalseAccepts += other.wordlessFalseAccepts
    }

    /// All words as one.
    public var total: Word {
        var sum = Word()
        for word in words { sum.add(word) }
        return sum
    }
}
