import Core

/// A sequence of words that is reported as one detection, such as "go left".
public struct Phrase: Sendable, Equatable {
    /// Its words joined by single spaces.
    public let name: String
    /// Label index of each of its words, in order.
    public let labels: [Int]
    /// Longest time between the decisions for two neighbouring words, in seconds.
    public let longestGap: Double

    /// - Parameters:
    ///   - text: two or more words, separated by spaces. A word may itself contain spaces.
    ///   - words: the labels.
    ///   - longestGap: in seconds.
    /// - Throws: a ``SpottingError`` for fewer than two words or an unknown one.
    public init(
        _ text: String,
        words: [String],
        longestGap: Double = PhraseMatcher.defaultGap
    ) throws(SpottingError) {
        let words = words.map { Labels.isSpecial($0) ? "" : $0 }
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

    /// Splits the text of a phrase into words: at each position it takes the longest of `words` that matches, or else
    /// the text up to the next space.
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

/// Matches the detected words against phrases; a word may begin, continue or complete several of them.
public struct PhraseMatcher {
    /// How far a phrase has been matched.
    public struct Progress: Equatable, Sendable {
        /// Index of the phrase.
        public let phrase: Int
        /// Words matched so far, 1 or more; all of them if `isComplete`.
        public let words: Int
        /// Whether all words of the phrase have been matched.
        public let isComplete: Bool
        /// Start of the first word and end of the newest, in seconds since the stream began.
        public let start: Double
        public let end: Double
        /// Lowest confidence of its words, 0…1.
        public let confidence: Float
    }

    /// Default for `longestGap`, in seconds.
    public static let defaultGap = 1.5

    /// A partial match of one phrase.
    private struct Match {
        var words = 0
        var start = 0.0
        /// Time of the decision for its newest word.
        var last = 0.0
        var confidence: Float = 1
    }

    public let phrases: [Phrase]
    /// The partial match of each phrase, `[phrases]`.
    private var matches: [Match]

    public init(_ phrases: [Phrase]) {
        self.phrases = phrases
        matches = [Match](repeating: Match(), count: phrases.count)
    }

    /// Adds a word and reports every phrase that it advances. Allocates nothing.
    public mutating func add(_ word: Detection, report: (Progress) -> Void) {
        for index in phrases.indices {
            let labels = phrases[index].labels
            var match = matches[index]
            if match.words > 0, word.time - match.last > phrases[index].longestGap { match = Match() }
            if labels[match.words] != word.index {
                // A wrong word ends the match, but may be the first word of the next one.
                match = Match()
                guard labels[0] == word.index else {
                    matches[index] = match
                    continue
                }
            }
            if match.words == 0 { match.start = word.start }
            match.words += 1
            match.last = word.time
            match.confidence = min(match.confidence, word.confidence)
            let isComplete = match.words == labels.count
            report(
                Progress(
                    phrase: index,
                    words: match.words,
                    isComplete: isComplete,
                    start: match.start,
                    end: word.end,
                    confidence: match.confidence
                )
            )
            matches[index] = isComplete ? Match() : match
        }
    }

    /// Drops all partial matches, for example after a gap in the audio.
    public mutating func flush() {
        for index in matches.indices { matches[index] = Match() }
    }
}
