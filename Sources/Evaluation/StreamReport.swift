/// The figures of a tally; all times in seconds, shares and rates of nothing nil.
public struct StreamFigures: Sendable, Equatable, Encodable {
    /// Times a word was said.
    public let said: Int
    public let hits: Int
    public let misses: Int
    public let wrong: Int
    public let falseAccepts: Int
    public let hitShare: Double?
    public let wrongShare: Double?
    public let falseAcceptsPerHour: Double?
    /// From the end of the word to the decision; half and 95 % of the hits take no longer.
    public let latencyMedian: Double?
    public let latency95: Double?

    public init(_ word: StreamTally.Word, seconds: Double) {
        said = word.said
        hits = word.hits
        misses = word.said - word.hits
        wrong = word.wrong
        falseAccepts = word.falseAccepts
        hitShare = ratio(word.hits, word.said)
        wrongShare = ratio(word.wrong, word.said)
        falseAcceptsPerHour = perHour(word.falseAccepts, seconds: seconds)
        latencyMedian = percentile(word.latencies, 0.5)
        latency95 = percentile(word.latencies, 0.95)
    }
}

/// What one setting of the detector gives over all recordings.
public struct SettingReport: Sendable, Encodable {
    public struct Word: Sendable, Encodable {
        public let word: String
        public let threshold: Double?
        public let figures: StreamFigures
        /// At each of the setting's thresholds for all words.
        public let curve: [Count]
    }

    /// What of a word a threshold lets through.
    public struct Count: Sendable, Equatable, Encodable {
        public let threshold: Double
        public let hits: Int
        public let wrong: Int
        public let falseAccepts: Int

        public init(threshold: Double, hits: Int, wrong: Int, falseAccepts: Int) {
            self.threshold = threshold
            self.hits = hits
            self.wrong = wrong
            self.falseAccepts = falseAccepts
        }
    }

    /// A word that was taken for another.
    public struct Mistake: Sendable, Equatable, Encodable {
        public let said: String
        public let heard: String
        public let count: Int
    }

    /// What one threshold for all words gives.
    public struct Point: Sendable, Encodable {
        public let threshold: Double
        public let figures: StreamFigures
        /// Over recordings without words alone.
        public let wordlessFalseAcceptsPerHour: Double?

        public init(threshold: Float, _ tally: StreamTally) {
            self.threshold = asWritten(threshold)
            figures = StreamFigures(tally.total, seconds: tally.seconds)
            wordlessFalseAcceptsPerHour = perHour(tally.wordlessFalseAccepts, seconds: tally.wordlessSeconds)
        }
    }

    public let mode: String
    public let trigger: String
    public let all: StreamFigures
    /// Over recordings without words alone; nil where there are none.
    public let wordlessFalseAcceptsPerHour: Double?
    public let words: [Word]
    public let mistakes: [Mistake]
    public let curve: [Point]

    /// - Parameters:
    ///   - sweep: what each threshold gives where all words have it.
    ///   - thresholds: of each label.
    public init(
        mode: String,
        trigger: String,
        tally: StreamTally,
        sweep: [(threshold: Float, tally: StreamTally)],
        labels: LabelSet,
        thresholds: [Float?]
    ) {
        self.mode = mode
        self.trigger = trigger
        curve = sweep.map { Point(threshold: $0.threshold, $0.tally) }
        all = StreamFigures(tally.total, seconds: tally.seconds)
        wordlessFalseAcceptsPerHour = perHour(tally.wordlessFalseAccepts, seconds: tally.wordlessSeconds)
        words = zip(labels.words, tally.words).enumerated().map { index, pair in
            let (label, word) = pair
            return Word(
                word: labels.name(of: label),
                threshold: (thresholds.indices.contains(label) ? thresholds[label] : nil).map(asWritten),
                figures: StreamFigures(word, seconds: tally.seconds),
                curve: sweep.map { threshold, tally in
                    let there = tally.words[index]
                    return Count(
                        threshold: asWritten(threshold),
                        hits: there.hits,
                        wrong: there.wrong,
                        falseAccepts: there.falseAccepts
                    )
                }
            )
        }
        var mistakes: [Mistake] = []
        for (said, row) in tally.confusion.enumerated() {
            for (heard, count) in row.enumerated() where count > 0 {
                mistakes.append(Mistake(said: labels.name(of: said), heard: labels.name(of: heard), count: count))
            }
        }
        self.mistakes = mistakes.sorted { ($1.count, $0.said, $0.heard) < ($0.count, $1.said, $1.heard) }
    }
}

/// Everything measured on long recordings.
public struct StreamReport: Sendable, Encodable {
    /// One recording, under each setting.
    public struct File: Sendable, Encodable {
        public let file: String
        public let seconds: Double
        /// One a setting, in the order of the report's settings.
        public let figures: [StreamFigures]

        public init(file: String, seconds: Double, figures: [StreamFigures]) {
            self.file = file
            self.seconds = seconds
            self.figures = figures
        }
    }

    public let tolerance: Double
    /// Audio heard, and that of recordings without words alone.
    public let seconds: Double
    public let wordlessSeconds: Double
    public let files: [File]
    public let settings: [SettingReport]

    public init(
        tolerance: Double,
        seconds: Double,
        wordlessSeconds: Double,
        files: [File],
        settings: [SettingReport]
    ) {
        self.tolerance = tolerance
        self.seconds = seconds
        self.wordlessSeconds = wordlessSeconds
        self.files = files
        self.settings = settings
    }
}
