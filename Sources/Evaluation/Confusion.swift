/// Which label was given for which.
public struct ConfusionMatrix: Sendable, Equatable, Encodable {
    public let labels: [String]
    /// Clips by the right label (row) and the label given (column).
    public let counts: [[Int]]

    public init(_ clips: [ScoredClip], labels: LabelSet) {
        let size = labels.names.count
        var counts = [[Int]](repeating: [Int](repeating: 0, count: size), count: size)
        for clip in clips where counts.indices.contains(clip.truth) && counts.indices.contains(clip.answer) {
            counts[clip.truth][clip.answer] += 1
        }
        self.labels = labels.names
        self.counts = counts
    }

    /// Precision, recall and F1 of each label, in the labels' order.
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

/// How well one label is told from the others; a share of nothing is nil.
public struct LabelScore: Sendable, Equatable, Encodable {
    public let label: String
    /// Clips that have this label.
    public let count: Int
    /// Right ones among the clips that were given the label.
    public let precision: Double?
    /// Clips that were given the label among those that have it.
    public let recall: Double?
    /// Harmonic mean of the two.
    public let f1: Double?

    init(label: String, count: Int, given: Int, right: Int) {
        self.label = label
        self.count = count
        precision = ratio(right, given)
        recall = ratio(right, count)
        f1 = ratio(2 * right, given + count)
    }
}

/// A mistake that was made, with examples of it.
public struct Confusion: Sendable, Equatable, Encodable {
    /// What was said, as the clips' folder names it.
    public let said: String
    /// The label that was given.
    public let heard: String
    public let count: Int
    /// The first few clips of it.
    public let clips: [String]

    private struct Pair: Hashable {
        let said: String
        let heard: Int
    }

    /// All mistakes, the most frequent first; of equals by name.
    public static func all(in clips: [ScoredClip], labels: LabelSet, examples: Int = 3) -> [Confusion] {
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
