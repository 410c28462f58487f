private import Glibc

/// How the threshold of a detector trades misses for false accepts: its ROC and DET curve.
public struct DetectionCurve: Sendable, Equatable, Encodable {
    /// What a threshold gives; the point of an ROC curve is (`falseAccept`, 1 − `miss`).
    public struct Point: Sendable, Equatable, Encodable {
        public let threshold: Double
        /// Share of the negatives that reach the threshold.
        public let falseAccept: Double
        /// Share of the positives that do not.
        public let miss: Double
    }

    /// From the highest threshold to the lowest; points that no plot could tell apart are left out. Empty where positives or
    /// negatives are.
    public let points: [Point]
    /// Probability that a positive scores higher than a negative, ties counting half; nil where either are missing.
    public let auroc: Double?

    /// - Parameters: scores of what should be accepted and of what should not; NaN counts as 0.
    public init(positives: [Float], negatives: [Float]) {
        // NaN equals nothing, not even itself.
        func ordered(_ scores: [Float]) -> [Float] { scores.map { $0.isNaN ? 0 : $0 } }
        guard !positives.isEmpty, !negatives.isEmpty else {
            points = []
            auroc = nil
            return
        }
        let scores =
            ordered(positives).map { (score: $0, isPositive: true) }
            + ordered(negatives).map { (score: $0, isPositive: false) }
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
