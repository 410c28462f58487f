import Core

/// Finds words that were nearly detected: their score rose to within a margin under their threshold, and fell again.
///
/// An episode of a word begins when its score reaches `threshold − margin` (at least half the threshold) and ends when it falls below.
/// It may be a near miss unless the score reached the threshold, or the gate detected a word meanwhile; a ``NearMissFilter`` decides.
/// Words that fire by themselves have episodes of their own, at their own times.
///
/// A pure state machine; only `init` allocates.
struct NearMissTracker {
    private struct Episode {
        var isOn = false
        /// The score reached the threshold, or belongs to a detected word.
        var isVoid = false
        var firstHop = 0
        /// Of the best hop so far at which the label was ahead of all others; 0 if there was none.
        var score: Float = 0
        var start = 0.0
        var end = 0.0
    }

    /// The audio of a word stays in the window for a second: this long after a detection no episode begins.
    private static let separation = NearMissFilter.separation
    /// Least share of the threshold that a near miss reaches, whatever the margin.
    private static let leastShare: Float = 0.5

    /// Number of scores of a hop.
    var labels: Int { episodes.count }

    private let margin: Float
    private let separationHops: Int
    private var hop = 0
    /// Hop of the last detection; nil before the first.
    private var lastFire: Int?
    private var episodes: [Episode]
    /// Of the words that fire by themselves.
    private var rising: [Episode]

    /// - Parameters:
    ///   - labels: number of scores of a hop.
    ///   - rising: number of the words that fire by themselves.
    init(margin: Float, labels: Int, rising: Int = 0, hopSeconds: Double) {
        self.margin = margin
        separationHops = Int((Self.separation / hopSeconds).rounded())
        episodes = [Episode](repeating: Episode(), count: labels)
        self.rising = [Episode](repeating: Episode(), count: rising)
    }

    /// The least score that may be a near miss.
    private func least(_ threshold: Float) -> Float { max(threshold - margin, threshold * Self.leastShare) }

    /// Processes one hop.
    ///
    /// - Parameters:
    ///   - scores: smoothed posteriors, `[labels]`.
    ///   - gate: the gate after this hop.
    ///   - hasFired: whether it detected a word at this hop.
    ///   - activity: speech or sound up to and including this hop.
    ///   - filter: gets what may be a near miss.
    mutating func step(
        _ scores: [Float],
        gate: borrowing Gate,
        hasFired: Bool,
        activity: ActivityHistory,
        _ filter: inout NearMissFilter
    ) {
        hop += 1
        guard scores.count == episodes.count, gate.thresholds.values.count == scores.count else { return }
        if hasFired { lastFire = hop }
        var best = 0
        for label in scores.indices where scores[label] > scores[best] { best = label }
        for label in scores.indices {
            guard let threshold = gate.thresholds.values[label] else {
                episodes[label].isOn = false
                continue
            }
            if scores[label] >= least(threshold) {
                follow(label, scores[label], threshold, isBest: label == best, gate, activity)
                if hasFired { episodes[label].isVoid = true }
            } else if episodes[label].isOn {
                Self.finish(&episodes[label], label, threshold, gate.mode(of: label), at: gate.time, &filter)
            }
        }
    }

    /// Processes a step of a word that fires by itself.
    ///
    /// - Parameters:
    ///   - word: its place among these words.
    ///   - time: of the step's end, in seconds.
    ///   - gate: the gate after this step.
    ///   - filter: gets what may be a near miss.
    mutating func rise(
        _ word: Int,
        _ score: Float,
        at time: Double,
        gate: borrowing Gate,
        _ filter: inout NearMissFilter
    ) {
        let label = gate.rising[word].label
        guard let threshold = gate.threshold(rising: word) else {
            rising[word].isOn = false
            return
        }
        guard score >= least(threshold) else {
            if rising[word].isOn { Self.finish(&rising[word], label, threshold, .spot, at: time, &filter) }
            return
        }
        if !rising[word].isOn { rising[word] = Episode(isOn: true) }
        if score > threshold { rising[word].isVoid = true }
        guard score > rising[word].score else { return }
        (rising[word].score, rising[word].start) = (score, max(0, time - Gate.RisingWord.seconds))
        rising[word].end = time
    }

    /// Decides what is pending where the audio ends.
    ///
    /// - Parameters:
    ///   - gate: the gate after the last hop.
    ///   - hasFired: whether it detected a word at the end.
    ///   - filter: gets what may be a near miss.
    mutating func finish(gate: borrowing Gate, hasFired: Bool, _ filter: inout NearMissFilter) {
        for label in episodes.indices where episodes[label].isOn {
            if hasFired { episodes[label].isVoid = true }
            guard gate.thresholds.values.indices.contains(label), let threshold = gate.thresholds.values[label] else {
                continue
            }
            Self.finish(&episodes[label], label, threshold, gate.mode(of: label), at: gate.time, &filter)
        }
        for word in rising.indices where rising[word].isOn {
            let label = gate.rising[word].label
            Self.finish(&rising[word], label, gate.threshold(rising: word) ?? 0, .spot, at: gate.time, &filter)
        }
    }

    private mutating func follow(
        _ label: Int,
        _ score: Float,
        _ threshold: Float,
        isBest: Bool,
        _ gate: borrowing Gate,
        _ activity: ActivityHistory
    ) {
        if !episodes[label].isOn {
            episodes[label] = Episode(isOn: true, firstHop: hop)
            if let lastFire, hop - lastFire < separationHops { episodes[label].isVoid = true }
        }
        if score >= threshold { episodes[label].isVoid = true }
        guard isBest, gate.inSpeech, score > episodes[label].score else { return }
        let bounds = gate.bounds(hopsAgo: hop - episodes[label].firstHop, activity)
        (episodes[label].score, episodes[label].start, episodes[label].end) = (score, bounds.start, bounds.end)
    }

    private static func finish(
        _ episode: inout Episode,
        _ label: Int,
        _ threshold: Float,
        _ mode: DetectionMode,
        at time: Double,
        _ filter: inout NearMissFilter
    ) {
        episode.isOn = false
        guard !episode.isVoid, episode.score > 0 else { return }
        let miss = Detection(
            kind: .nearMiss,
            index: label,
            confidence: episode.score,
            start: episode.start,
            end: episode.end,
            time: time,
            threshold: threshold,
            mode: mode
        )
        filter.add(miss, at: time)
    }

    /// Resets all, for example after a gap in the audio. Allocates nothing.
    mutating func flush() {
        lastFire = nil
        for label in episodes.indices { episodes[label].isOn = false }
        for word in rising.indices { rising[word].isOn = false }
    }
}
