/// A sequence of words that means one thing, such as "go left".
public struct Phrase: Sendable, Equatable {
    /// What events call it: its words joined by spaces.
    public let name: String
    /// Labels of its words.
    public let labels: [Int]
    /// The longest time between the decisions for two neighbouring words, in seconds.
    public let longestGap: Double

    /// - Parameters:
    ///   - text: two or more words, separated by spaces; a word whose name has spaces itself is taken whole.
    ///   - words: the labels.
    public init(
        _ text: String,
        words: [String],
        longestGap: Double = PhraseMatcher.defaultGap
    ) throws(SpottingError) {
        let words = words.map { $0.hasPrefix("_") ? "" : $0 }
        let parts = Self.parts(of: text, words: words)
        guard parts.count >= 2 else { throw .emptyPhrase }
        var labels: [Int] = []
        for part in parts {
            guard let index = words.firstIndex(of: part) else {
                throw .unknownWord(part, known: words.filter { !$0.isEmpty })
            }
            labels.append(index)
        }
        self.labels = labels
        self.longestGap = longestGap
        name = parts.joined(separator: " ")
    }

    /// The words that a phrase's text names, in order: at each place the longest of `words` that stands there, and where none does,
    /// what stands before the next blank.
    public static func parts(of text: String, words: [String]) -> [String] {
        let names = words.map { $0.split(whereSeparator: \.isWhitespace) }
        var rest = text.split(whereSeparator: \.isWhitespace)[...]
        var parts: [String] = []
        while !rest.isEmpty {
            let fitting = names.indices.filter { !names[$0].isEmpty && rest.starts(with: names[$0]) }
            if let longest = fitting.max(by: { names[$0].count < names[$1].count }) {
                parts.append(words[longest])
                rest = rest.dropFirst(names[longest].count)
            } else {
                parts += rest.prefix(1).map(String.init)
                rest = rest.dropFirst()
            }
        }
        return parts
    }
}

/// Follows words through the phrases a user named; each word may begin, continue or complete some of them.
public struct PhraseMatcher {
    /// How far a phrase has come.
    public struct Progress: Equatable, Sendable {
        /// Index of the phrase.
        public let phrase: Int
        /// Words heard so far, at least one; all of them when `isComplete`.
        public let words: Int
        public let isComplete: Bool
        /// Start of the first word and end of the last so far, in seconds.
        public let start: Double
        public let end: Double
        /// The least confidence of its words.
        public let confidence: Float
    }

    /// Seconds that may lie between two words of a phrase where nothing else is asked for.
    public static let defaultGap = 1.5

    private struct Run {
        var words = 0
        var start = 0.0
        var last = 0.0
        var confidence: Float = 1
    }

    public let phrases: [Phrase]
    private var runs: [Run]

    public init(_ phrases: [Phrase]) {
        self.phrases = phrases
        runs = [Run](repeating: Run(), count: phrases.count)
    }

    /// Takes one word in and reports every phrase it moves.
    ///
    /// - Parameters: the word's label, its confidence, its bounds and the time of its decision in seconds.
    public mutating func add(
        label: Int,
        confidence: Float,
        start: Double,
        end: Double,
        time: Double,
        report: (Progress) -> Void
    ) {
        for index in phrases.indices {
            let labels = phrases[index].labels
            var run = runs[index]
            if run.words > 0, time - run.last > phrases[index].longestGap { run = Run() }
            if labels[run.words] != label {
                // A wrong word ends the run, yet may itself be the first word of the next.
                run = Run()
                guard labels[0] == label else {
                    runs[index] = run
                    continue
                }
            }
            if run.words == 0 { run.start = start }
            run.words += 1
            run.last = time
            run.confidence = min(run.confidence, confidence)
            let complete = run.words == labels.count
            report(
                Progress(
                    phrase: index,
                    words: run.words,
                    isComplete: complete,
                    start: run.start,
                    end: end,
                    confidence: run.confidence
                )
            )
            runs[index] = complete ? Run() : run
        }
    }

    /// Forgets words heard so far, as after a gap in the audio.
    public mutating func flush() {
        for index in runs.indices { runs[index] = Run() }
    }
}
