/// What a word's threshold makes of clips: how many of the word reach it, and how many of everything else.
public struct WordTradeoff: Sendable, Equatable, Encodable {
    public struct Point: Sendable, Equatable, Encodable {
        public let threshold: Double
        /// Clips of the word that reach it; nil where there are none.
        public let recall: Double?
        /// Clips of everything else that reach it; nil where there are none.
        public let falseAccepts: Double?
    }

    /// Thresholds at which every word is measured beside its own.
    public static let thresholds: [Float] = [0.5, 0.7, 0.8, 0.9, 0.95, 0.99]

    public let word: String
    /// At the threshold that the detector uses.
    public let own: Point
    /// At ``thresholds``, in their order.
    public let others: [Point]
    /// At all thresholds.
    public let curve: DetectionCurve

    public init(_ clips: [ScoredClip], label: Int, word: String, threshold: Float) {
        let positives = clips.filter { $0.truth == label }.map { $0.posterior(label) }
        let negatives = clips.filter { $0.truth != label }.map { $0.posterior(label) }
        func point(_ threshold: Float) -> Point {
            Point(
                threshold: asWritten(threshold),
                recall: ratio(positives.count { $0 >= threshold }, positives.count),
                falseAccepts: ratio(negatives.count { $0 >= threshold }, negatives.count)
            )
        }
        self.word = word
        own = point(threshold)
        others = Self.thresholds.map(point)
        curve = DetectionCurve(positives: positives, negatives: negatives)
    }
}
