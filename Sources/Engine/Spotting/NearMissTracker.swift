import Core

/// Finds words that were nearly detected: their score rose to within a margin under their threshold, and fell again.
///
/// An episode of a word begins when its score reaches `threshold − margin` (at least half the threshold) and ends when it falls below.
/// It may be a near miss unless the score reached the threshold, or the gate detected a word meanwhile; a ``NearMissFilter`` decides.
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

    /// - Parameter labels: number of scores of a hop.
    init(margin: Float, labels: Int, hopSeconds: Double) {
        self.margin = margin
        separationHops = Int((Self.separation / hopSeconds).rounded())
        episodes = [Episode](repeating: Episode(), count: labels)
    }

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
            if scores[label] >= max(threshold - margin, threshold * Self.leastShare) {
                follow(label, scores[label], threshold, isBest: label == best, gate, activity)
                if hasFired { episodes[label].isVoid = true }
            } else if episodes[label].isOn {
                finish(label, threshold, gate, &filter)
            }
        }
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
            finish(label, threshold, gate, &filter)
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

    private mutating func finish(
        _ label: Int,
        _ threshold: Float,
        _ gate: borrowing Gate,
        _ filter: inout NearMissFilter
    ) {
        let episode = episodes[label]
        episodes[label].isOn = false
        guard !episode.isVoid, episode.score > 0 else { return }
        let miss = Detection(
            kind: .nearMiss,
            index: label,
            confidence: episode.score,
            start: episode.start,
            end: episode.end,
            time: gate.time,
            threshold: threshold,
            mode: gate.mode(of: label)
        )
        filter.add(miss, at: gate.time)
    }

    /// Resets all, for example after a gap in the audio. Allocates nothing.
    mutating func flush() {
        lastFire = nil
        for label in episodes.indices { episodes[label].isOn = false }
    }
}
