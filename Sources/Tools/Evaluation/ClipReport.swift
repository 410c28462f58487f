public import Core

/// All measurements on clips of one second.
public struct ClipReport: Sendable, Encodable {
    /// Number of clips.
    public let clips: Int
    public let accuracy: Accuracy
    /// Precision, recall and F1, `[labels]`.
    public let labels: [LabelScore]
    public let confusion: ConfusionMatrix
    /// All mistakes, the most frequent first.
    public let mistakes: [Confusion]
    public let calibration: Calibration
    /// Recall and false accepts of each word that can fire.
    public let words: [WordTradeoff]
    /// The model's words against other words, by the highest posterior of any of the model's words.
    public let openSet: DetectionCurve
    /// What became of each clip.
    public let results: [ClipResult]
    /// Thresholds that reach a target; nil where none was given.
    public var proposals: [ThresholdProposal]?

    /// - Parameter thresholds: confidence that each label needs to fire, `[labels]`; nil for a label that never fires.
    public init(_ clips: [ScoredClip], labels: Labels, thresholds: [Float?]) {
        self.clips = clips.count
        accuracy = Accuracy(clips, labels: labels)
        confusion = ConfusionMatrix(clips, labels: labels)
        self.labels = confusion.scores
        mistakes = Confusion.all(in: clips, labels: labels)
        calibration = Calibration(clips.map { ($0.confidence, $0.isRight) })
        words = zip(labels.wordIndices, thresholds).compactMap { label, threshold in
            threshold.map { WordTradeoff(clips, label: label, word: labels.name(of: label), threshold: $0) }
        }
        func best(_ kind: Labels.Kind) -> [Float] {
            clips.filter { labels.kind(of: $0.truth) == kind }
                .map { clip in labels.wordIndices.map { clip.posterior($0) }.max() ?? 0 }
        }
        openSet = DetectionCurve(positives: best(.word), negatives: best(.unknown))
        results = clips.map { ClipResult($0, labels: labels) }
    }
}

/// A clip of one second with its true label and the posteriors of a model.
public struct ScoredClip: Sendable, Equatable {
    /// Name in reports.
    public let name: String
    /// What was said: the name of its folder; it distinguishes the words that share the label `_unknown_`.
    public let said: String
    /// Index of the true label.
    public let truth: Int
    /// Probability of each label, `[labels]`, at least one.
    public let posteriors: [Float]
    /// Who says it; nil where it is not known.
    public var speaker: String?

    /// Index of the label with the highest posterior; the first one if several are equal.
    public var answer: Int {
        var best = 0
        for label in posteriors.indices where posteriors[label] > posteriors[best] { best = label }
        return best
    }

    /// The posterior of the answer, 0…1.
    public var confidence: Double { Double(posteriors.max() ?? 0) }

    /// By how much the posterior of the answer is higher than that of any other label, 0…1.
    public var margin: Double {
        let answer = answer
        let second = posteriors.indices.filter { $0 != answer }.map { posteriors[$0] }.max() ?? 0
        return confidence - Double(second)
    }

    /// Whether the answer is the true label.
    public var isRight: Bool { answer == truth }

    /// The posterior of one label; 0 for an index out of range.
    public func posterior(_ label: Int) -> Float { posteriors.indices.contains(label) ? posteriors[label] : 0 }
}

/// Share of clips that got the right label, by kind of clip.
public struct Accuracy: Sendable, Equatable, Encodable {
    /// Clips of one kind.
    public struct Count: Sendable, Equatable, Encodable {
        public let clips: Int
        /// Clips that got the right label.
        public let right: Int
        /// `right / clips`, 0…1; nil without clips.
        public let share: Double?

        init(_ clips: [ScoredClip]) {
            self.clips = clips.count
            right = clips.count(where: \.isRight)
            share = ratio(right, clips.count)
        }
    }

    public let words: Count
    public let unknown: Count
    public let silence: Count
    public let all: Count
    /// 0.8 · words + 0.1 · unknown + 0.1 · silence, the weights of the test set of Speech Commands (Warden 2018); nil if a kind has
    /// no clips.
    public let twelveClass: Double?

    public init(_ clips: [ScoredClip], labels: Labels) {
        let kinds = Dictionary(grouping: clips) { labels.kind(of: $0.truth) }
        words = Count(kinds[.word] ?? [])
        unknown = Count(kinds[.unknown] ?? [])
        silence = Count(kinds[.silence] ?? [])
        all = Count(clips)
        if let words = words.share, let unknown = unknown.share, let silence = silence.share {
            twelveClass = 0.8 * words + 0.1 * unknown + 0.1 * silence
        } else {
            twelveClass = nil
        }
    }
}

/// Counts of clips by true label and by given label.
public struct ConfusionMatrix: Sendable, Equatable, Encodable {
    public let labels: [String]
    /// Clips, `[true label × given label]`.
    public let counts: [[Int]]

    public init(_ clips: [ScoredClip], labels: Labels) {
        let size = labels.names.count
        var counts = [[Int]](repeating: [Int](repeating: 0, count: size), count: size)
        for clip in clips where counts.indices.contains(clip.truth) && counts.indices.contains(clip.answer) {
            counts[clip.truth][clip.answer] += 1
        }
        self.labels = labels.names
        self.counts = counts
    }

    /// Precision, recall and F1, `[labels]`.
    public var scores: [LabelScore] {
        labels.indices.map { label in
            LabelScore(
                label: labels[label],
                count: counts[label].reduce(0, +),
                given: counts.reduce(0) { $0 + $1[label] },
                right: counts[label][label]
            )
        }
    }
}

/// Precision, recall and F1 of one label. A ratio whose denominator is 0 is nil.
public struct LabelScore: Sendable, Equatable, Encodable {
    public let label: String
    /// Clips whose true label this is.
    public let count: Int
    /// Share of clips with this true label among the clips that got the label.
    public let precision: Double?
    /// Share of clips that got the label among the clips with this true label.
    public let recall: Double?
    /// Harmonic mean of precision and recall.
    public let f1: Double?

    init(label: String, count: Int, given: Int, right: Int) {
        self.label = label
        self.count = count
        precision = ratio(right, given)
        recall = ratio(right, count)
        f1 = ratio(2 * right, given + count)
    }
}

/// A kind of mistake, with examples.
public struct Confusion: Sendable, Equatable, Encodable {
    /// What was said: the name of the clips' folder.
    public let said: String
    /// The label that was given.
    public let heard: String
    public let count: Int
    /// Names of the first few clips.
    public let clips: [String]

    private struct Pair: Hashable {
        let said: String
        let heard: Int
    }

    /// All mistakes, the most frequent first, then by name.
    ///
    /// - Parameter examples: most clips to name for each.
    public static func all(in clips: [ScoredClip], labels: Labels, examples: Int = 3) -> [Confusion] {
        let wrong = Dictionary(grouping: clips.filter { !$0.isRight }) { Pair(said: $0.said, heard: $0.answer) }
        let confusions = wrong.map { pair, clips in
            Confusion(
                said: pair.said,
                heard: labels.name(of: pair.heard),
                count: clips.count,
                clips: clips.prefix(examples).map(\.name)
            )
        }
        return confusions.sorted { ($1.count, $0.said, $0.heard) < ($0.count, $1.said, $1.heard) }
    }
}
