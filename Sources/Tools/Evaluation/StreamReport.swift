public import Core

/// Figures of a tally. Times are in seconds; a ratio whose denominator is 0 is nil.
public struct StreamFigures: Sendable, Equatable, Encodable {
    /// Times a word was said.
    public let said: Int
    /// Times it was said and detected; see ``Outcome``.
    public let hits: Int
    /// Times it was said and not detected as this word.
    public let misses: Int
    /// Times another word was detected in its place.
    public let wrong: Int
    /// Times it was detected without having been said.
    public let falseAccepts: Int
    /// `hits / said`, 0…1.
    public let hitShare: Double?
    /// `wrong / said`.
    public let wrongShare: Double?
    /// False accepts per hour of all recordings.
    public let falseAcceptsPerHour: Double?
    /// Time from the end of the word to the decision: median and 95th percentile of the hits.
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

/// Figures of one setting of the detector over all recordings.
public struct SettingReport: Sendable, Encodable {
    /// Figures of one word.
    public struct Word: Sendable, Encodable {
        public let word: String
        /// Whether the user taught it.
        public let isOwn: Bool
        /// The detector's own threshold, 0…1; nil for a word that is disabled.
        public let threshold: Double?
        public let figures: StreamFigures
        /// Counts at each threshold of the sweep.
        public let curve: [Count]
        /// Counts at the threshold of each sensitivity; one without a threshold for this word is left out.
        public let sensitivities: [OperatingCount]

        private enum CodingKeys: String, CodingKey {
            case word, threshold, figures, curve, sensitivities
            case isOwn = "own"
        }
    }

    /// Counts of one word at the threshold of a sensitivity.
    public struct OperatingCount: Sendable, Equatable, Encodable {
        /// Raw value of `Sensitivity`.
        public let sensitivity: String
        public let counts: Count
    }

    /// Figures over all words with the thresholds of a sensitivity.
    public struct OperatingPoint: Sendable, Encodable {
        /// Raw value of `Sensitivity`.
        public let sensitivity: String
        public let figures: StreamFigures
        /// Of the recordings without any word; nil if there are none.
        public let wordlessFalseAcceptsPerHour: Double?
    }

    /// Counts of one word at one threshold.
    public struct Count: Sendable, Equatable, Encodable {
        public let threshold: Double
        public let hits: Int
        public let wrong: Int
        public let falseAccepts: Int
        /// Times it was detected in the place of another word.
        public var taken = 0
    }

    /// A word that was detected as another.
    public struct Mistake: Sendable, Equatable, Encodable {
        /// The word that was said.
        public let said: String
        /// The word that was detected.
        public let heard: String
        public let count: Int
    }

    /// Figures with one threshold for all words.
    public struct Point: Sendable, Encodable {
        public let threshold: Double
        public let figures: StreamFigures
        /// Of the recordings without any word; nil if there are none.
        public let wordlessFalseAcceptsPerHour: Double?

        public init(threshold: Float, _ tally: StreamTally) {
            self.threshold = asWritten(threshold)
            figures = StreamFigures(tally.total, seconds: tally.seconds)
            wordlessFalseAcceptsPerHour = perHour(tally.wordlessFalseAccepts, seconds: tally.wordlessSeconds)
        }
    }

    /// Raw values of `DetectionMode` and `GateSettings.Trigger`.
    public let mode: String
    public let trigger: String
    /// Figures over all words, at the detector's own thresholds.
    public let all: StreamFigures
    /// Of the recordings without any word; nil if there are none.
    public let wordlessFalseAcceptsPerHour: Double?
    /// Figures of each word, in the order of the labels.
    public let words: [Word]
    /// Words that were detected as another, the most frequent first.
    public let mistakes: [Mistake]
    /// Figures over all words at each threshold of the sweep.
    public let curve: [Point]
    /// Figures over all words with the thresholds of each sensitivity, from the strictest on.
    public let sensitivities: [OperatingPoint]
    /// Every error at the detector's own thresholds, by recording and time.
    public let errors: [DetectionError]
    /// Thresholds that reach a target; nil where none was given.
    public var proposals: [ThresholdProposal]?

    /// - Parameters:
    ///   - mode: name of the gate's mode.
    ///   - trigger: name of the gate's trigger.
    ///   - tally: counts at the detector's own thresholds.
    ///   - sweep: tallies with the same threshold for all words.
    ///   - sensitivities: tallies with the thresholds of each sensitivity, `[labels]`.
    ///   - taught: words that the user taught.
    ///   - thresholds: `[labels]`.
    public init(
        mode: String,
        trigger: String,
        tally: StreamTally,
        sweep: [(threshold: Float, tally: StreamTally)],
        sensitivities: [(sensitivity: Sensitivity, thresholds: [Float?], tally: StreamTally)] = [],
        labels: Labels,
        taught: Set<String> = [],
        thresholds: [Float?],
        errors: [DetectionError] = []
    ) {
        self.mode = mode
        self.trigger = trigger
        self.errors = errors
        curve = sweep.map { Point(threshold: $0.threshold, $0.tally) }
        self.sensitivities = sensitivities.map { point in
            OperatingPoint(
                sensitivity: point.sensitivity.rawValue,
                figures: StreamFigures(point.tally.total, seconds: point.tally.seconds),
                wordlessFalseAcceptsPerHour: perHour(
                    point.tally.wordlessFalseAccepts,
                    seconds: point.tally.wordlessSeconds
                )
            )
        }
        all = StreamFigures(tally.total, seconds: tally.seconds)
        wordlessFalseAcceptsPerHour = perHour(tally.wordlessFalseAccepts, seconds: tally.wordlessSeconds)
        words = zip(labels.wordIndices, tally.words).enumerated().map { index, pair in
            let (label, word) = pair
            return Word(
                word: labels.name(of: label),
                isOwn: taught.contains(labels.name(of: label)),
                threshold: (thresholds.indices.contains(label) ? thresholds[label] : nil).map(asWritten),
                figures: StreamFigures(word, seconds: tally.seconds),
                curve: sweep.map { Self.count($0.tally, index, at: $0.threshold) },
                sensitivities: sensitivities.compactMap { point in
                    guard point.thresholds.indices.contains(label), let threshold = point.thresholds[label] else {
                        return nil
                    }
                    return OperatingCount(
                        sensitivity: point.sensitivity.rawValue,
                        counts: Self.count(point.tally, index, at: threshold)
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

    private static func count(_ tally: StreamTally, _ index: Int, at threshold: Float) -> Count {
        let word = tally.words[index]
        return Count(
            threshold: asWritten(threshold),
            hits: word.hits,
            wrong: word.wrong,
            falseAccepts: word.falseAccepts,
            taken: tally.confusion.reduce(0) { $0 + ($1.indices.contains(index) ? $1[index] : 0) }
        )
    }
}

/// All measurements on long recordings.
public struct StreamReport: Sendable, Encodable {
    /// Figures of one recording.
    public struct File: Sendable, Encodable {
        public let file: String
        /// Length of the recording.
        public let seconds: Double
        /// Figures over all words, `[settings]`.
        public let figures: [StreamFigures]
    }

    /// Time after a word's end in which a detection may match it, in seconds.
    public let tolerance: Double
    /// Length of all recordings, and of those without any word, in seconds.
    public let seconds: Double
    public let wordlessSeconds: Double
    public let files: [File]
    public var settings: [SettingReport]
}
