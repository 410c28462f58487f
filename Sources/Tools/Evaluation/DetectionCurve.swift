private import Glibc

/// Misses against false accepts of a detector at all thresholds: its ROC and DET curves.
public struct DetectionCurve: Sendable, Equatable, Encodable {
    /// Error rates at one threshold. Its point on the ROC curve is (`falseAccept`, 1 − `miss`).
    public struct Point: Sendable, Equatable, Encodable {
        public let threshold: Double
        /// Share of negatives that reach the threshold, 0…1.
        public let falseAccept: Double
        /// Share of positives that do not reach the threshold, 0…1.
        public let miss: Double
    }

    /// From the highest threshold to the lowest. A point is left out if both its logits differ by at most 0.05 from the point
    /// before, too little to see. Empty without positives or without negatives.
    public let points: [Point]
    /// Probability that a positive scores higher than a negative, a tie counted as one half; nil without positives or without
    /// negatives.
    public let auroc: Double?

    /// - Parameters:
    ///   - positives: scores of what should be accepted; NaN counts as 0.
    ///   - negatives: scores of what should be rejected; NaN counts as 0.
    public init(positives: [Float], negatives: [Float]) {
        // NaN cannot be ordered.
        func withoutNaN(_ scores: [Float]) -> [Float] { scores.map { $0.isNaN ? 0 : $0 } }
        guard !positives.isEmpty, !negatives.isEmpty else {
            points = []
            auroc = nil
            return
        }
        let scores =
            withoutNaN(positives).map { (score: $0, isPositive: true) }
            + withoutNaN(negatives).map { (score: $0, isPositive: false) }
        let sorted = scores.sorted { $0.score > $1.score }
        var points: [Point] = []
        var (hits, falseAccepts) = (0, 0)
        var won = 0.0
        var index = 0
        while index < sorted.count {
            let score = sorted[index].score
            let before = hits
            var equal = 0
            while index < sorted.count, sorted[index].score == score {
                if sorted[index].isPositive { hits += 1 } else { equal += 1 }
                index += 1
            }
            won += Double(equal) * Double(before + hits) / 2
            falseAccepts += equal
            let point = Point(
                threshold: asWritten(score),
                falseAccept: Double(falseAccepts) / Double(negatives.count),
                miss: Double(positives.count - hits) / Double(positives.count)
            )
            if index == sorted.count || points.last.map({ Self.areApart($0, point) }) ?? true { points.append(point) }
        }
        self.points = points
        auroc = won / Double(positives.count) / Double(negatives.count)
    }

    private static func areApart(_ left: Point, _ right: Point) -> Bool {
        abs(logit(left.falseAccept) - logit(right.falseAccept)) > 0.05
            || abs(logit(left.miss) - logit(right.miss)) > 0.05
    }

    private static func logit(_ share: Double) -> Double {
        let share = min(max(share, 1e-5), 1 - 1e-5)
        return log(share / (1 - share))
    }
}

/// Recall and false accepts of one word over its threshold.
public struct WordTradeoff: Sendable, Equatable, Encodable {
    public struct Point: Sendable, Equatable, Encodable {
        public let threshold: Double
        /// Share of the word's clips that reach the threshold; nil without such clips.
        public let recall: Double?
        /// Share of all other clips that reach the threshold; nil without such clips.
        public let falseAccepts: Double?
    }

    /// Thresholds at which every word is measured besides its own.
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
