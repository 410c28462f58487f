public import Spotting

/// Scores and activity of a whole recording, hop by hop: computed once, then replayed under many settings.
public struct PosteriorTrace: Sendable {
    private var hops: [(scores: HopScores, lookahead: HopScores?, activity: ActivityHistory)] = []

    /// Adds one hop; the parameters are those of ``PosteriorHandler/process(_:lookahead:activity:report:)``.
    public mutating func add(_ scores: HopScores, lookahead: HopScores? = nil, activity: ActivityHistory) {
        hops.append((scores, lookahead, activity))
    }

    /// The words that a detector with these settings reports, sorted by time.
    ///
    /// - Parameter eachHop: called after each hop with its number, from 0, and the handler.
    public func detections(
        _ settings: DetectorSettings,
        eachHop: (Int, PosteriorHandler) -> Void = { _, _ in }
    ) -> [Detection] {
        var handler = PosteriorHandler(settings)
        var found: [Detection] = []
        for (number, hop) in hops.enumerated() {
            handler.process(hop.scores, lookahead: hop.lookahead, activity: hop.activity) { found.append($0) }
            eachHop(number, handler)
        }
        if let last = hops.last { handler.finish(activity: last.activity) { found.append($0) } }
        return found
    }
}
