public import Core

/// What thresholds are to reach.
public enum ThresholdTarget: Sendable, Equatable {
    /// At most so many false accepts of a word an hour.
    case falseAcceptsPerHour(Double)
    /// At least this share of a word's detections is right.
    case precision(Double)

    /// Whether figures at a threshold reach it.
    func isReached(hits: Int, falseAccepts: Int, seconds: Double) -> Bool {
        switch self {
        case .falseAcceptsPerHour(let most): perHour(falseAccepts, seconds: seconds).map { $0 <= most } ?? true
        case .precision(let least): ratio(hits, hits + falseAccepts).map { $0 >= least } ?? true
        }
    }
}

/// The threshold of a word that finds it most often among those that reach a target, with what was counted at it.
public struct ThresholdProposal: Sendable, Equatable, Encodable {
    public let word: String
    /// The threshold that was in use.
    public let current: Double?
    /// Nil if the word was not said, or no threshold reaches the target.
    public let threshold: Double?
    /// Times it was said.
    public let said: Int
    /// Times it was said and found at the threshold.
    public let hits: Int
    /// Times it was found where it was not said.
    public let falseAccepts: Int
    /// Shares and rates with their 95 % intervals; nil where nothing was counted.
    public let recall: Double?
    public let recallInterval: Interval?
    public let precision: Double?
    public let precisionInterval: Interval?
    public let falseAcceptsPerHour: Double?
    public let falseAcceptsPerHourInterval: Interval?

    /// What was counted at one threshold.
    struct Count {
        let threshold: Double
        let hits: Int
        let falseAccepts: Int
    }

    /// - Parameters:
    ///   - counts: at any number of thresholds.
    ///   - seconds: length of the audio without the word.
    init(_ word: String, current: Double?, said: Int, counts: [Count], seconds: Double, target: ThresholdTarget) {
        let reached = counts.filter { target.isReached(hits: $0.hits, falseAccepts: $0.falseAccepts, seconds: seconds) }
        // Of those that find it equally often the strictest: a lower one would gain nothing here.
        let best = reached.filter { $0.hits > 0 }.max { ($0.hits, $0.threshold) < ($1.hits, $1.threshold) }
        (self.word, self.current, self.said) = (word, current, said)
        threshold = best?.threshold
        (hits, falseAccepts) = (best?.hits ?? 0, best?.falseAccepts ?? 0)
        recall = best.flatMap { ratio($0.hits, said) }
        recallInterval = best.flatMap { Interval(count: $0.hits, of: said) }
        precision = best.flatMap { ratio($0.hits, $0.hits + $0.falseAccepts) }
        precisionInterval = best.flatMap { Interval(count: $0.hits, of: $0.hits + $0.falseAccepts) }
        falseAcceptsPerHour = best.flatMap { perHour($0.falseAccepts, seconds: seconds) }
        falseAcceptsPerHourInterval = best.flatMap { Interval(count: $0.falseAccepts, seconds: seconds) }
    }

    /// Thresholds that are tried on clips: as people write them, and denser near 1, where the scores of a sure model lie.
    static let tried: [Float] = [(10..<100, 100), (991..<1000, 1000), (9991..<10_000, 10_000)].flatMap {
        (numbers: Range<Int>, divisor: Float) in numbers.map { Float($0) / divisor }
    }

    /// The proposals for all words that can fire, from clips.
    ///
    /// - Parameters:
    ///   - thresholds: those in use, `[labels]`; nil for a label that never fires.
    ///   - secondsPerClip: what a clip counts as in a rate per hour.
    public static func all(
        _ clips: [ScoredClip],
        labels: Labels,
        thresholds: [Float?],
        secondsPerClip: Double = 1,
        target: ThresholdTarget
    ) -> [ThresholdProposal] {
        zip(labels.wordIndices, thresholds).compactMap { label, threshold in
            guard let threshold else { return nil }
            let positives = clips.filter { $0.truth == label }.map { $0.posterior(label) }
            let negatives = clips.filter { $0.truth != label }.map { $0.posterior(label) }
            return ThresholdProposal(
                labels.name(of: label),
                current: asWritten(threshold),
                said: positives.count,
                counts: tried.map { tried in
                    Count(
                        threshold: asWritten(tried),
                        hits: positives.count { $0 >= tried },
                        falseAccepts: negatives.count { $0 >= tried }
                    )
                },
                seconds: Double(negatives.count) * secondsPerClip,
                target: target
            )
        }
    }

    /// The proposals for all words that can fire, from long recordings.
    public static func all(_ setting: SettingReport, seconds: Double, target: ThresholdTarget) -> [ThresholdProposal] {
        setting.words.filter { $0.threshold != nil }.map { word in
            ThresholdProposal(
                word.word,
                current: word.threshold,
                said: word.figures.said,
                counts: word.curve.map {
                    Count(threshold: $0.threshold, hits: $0.hits, falseAccepts: $0.falseAccepts + $0.taken)
                },
                seconds: seconds,
                target: target
            )
        }
    }
}
