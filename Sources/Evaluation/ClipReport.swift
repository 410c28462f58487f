/// Everything measured on clips of one second.
public struct ClipReport: Sendable, Encodable {
    public let clips: Int
    public let accuracy: Accuracy
    public let labels: [LabelScore]
    public let confusion: ConfusionMatrix
    /// All mistakes, the most frequent first.
    public let mistakes: [Confusion]
    public let calibration: Calibration
    public let words: [WordTradeoff]
    /// Commands against other words, told apart by the highest posterior that any word of the model reaches.
    public let openSet: DetectionCurve

    /// - Parameter thresholds: the confidence that each label needs to fire, nil for those that never do.
    public init(_ clips: [ScoredClip], labels: LabelSet, thresholds: [Float?]) {
        self.clips = clips.count
        accuracy = Accuracy(clips, labels: labels)
        confusion = ConfusionMatrix(clips, labels: labels)
        self.labels = confusion.scores
        mistakes = Confusion.all(in: clips, labels: labels)
        calibration = Calibration(clips.map { ($0.confidence, $0.isRight) })
        words = zip(labels.words, thresholds).compactMap { label, threshold in
            threshold.map { WordTradeoff(clips, label: label, word: labels.name(of: label), threshold: $0) }
        }
        func best(_ kind: LabelSet.Kind) -> [Float] {
            clips.filter { labels.kind(of: $0.truth) == kind }
                .map { clip in labels.words.map { clip.posterior($0) }.max() ?? 0 }
        }
        openSet = DetectionCurve(positives: best(.word), negatives: best(.unknown))
    }
}
