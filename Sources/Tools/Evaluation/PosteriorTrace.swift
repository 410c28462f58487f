public import Inference
public import Spotting

/// Scores and activity of a whole recording, hop by hop: computed once, then replayed under many settings.
public struct PosteriorTrace {
    private var hops: [(scores: HopScores, lookahead: HopScores?, activity: ActivityHistory)] = []
    private let looks: RecordedLooks?

    /// - Parameter model: the one that gave the scores; nil for one without confirming networks.
    public init(_ model: Model? = nil) {
        looks = model.flatMap { RecordedLooks($0) }
    }

    /// Adds one hop; the parameters are those of ``PosteriorHandler/process(_:lookahead:activity:confirmer:report:)``.
    ///
    /// - Parameter window: ends with the hop; needed for a model with confirming networks.
    public mutating func add(
        _ scores: HopScores,
        lookahead: HopScores? = nil,
        activity: ActivityHistory,
        window: Span<Float>? = nil
    ) {
        hops.append((scores, lookahead, activity))
        if let window { looks?.add(window) }
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
            looks?.hop = number
            handler.process(hop.scores, lookahead: hop.lookahead, activity: hop.activity, confirmer: looks) {
                found.append($0)
            }
            eachHop(number, handler)
        }
        if let last = hops.last {
            handler.finish(activity: last.activity, confirmer: looks) { found.append($0) }
        }
        return found
    }
}

/// Confirming networks that look at a whole recording, hop by hop, and remember their verdicts: under many thresholds the gate
/// proposes nearly the same.
private final class RecordedLooks: ProposalConfirmer {
    private struct Place: Hashable {
        var hop: Int
        var middle: Int
        var penalty: Float
        /// The scores after the hop, or those one hop later.
        var posteriors: [Float]
    }

    /// The newest hop that a look may hear.
    var hop = 0
    private let confirmer: Confirmer
    private let hopSamples: Int
    private var samples: [Float] = []
    private var verdicts: [Place: Verdict] = [:]

    init?(_ model: Model) {
        guard let networks = model.confirmation else { return nil }
        confirmer = Confirmer(networks, of: model)
        hopSamples = model.hopSamples
    }

    func add(_ window: Span<Float>) {
        let newest = window.extracting(last: hopSamples)
        for index in newest.indices { samples.append(newest[index]) }
    }

    func look(_ posteriors: [Float], middle: Int, hops: Int) -> Verdict {
        let penalty = confirmer.networks.duration.nats(after: hops)
        let place = Place(hop: hop, middle: middle, penalty: penalty, posteriors: posteriors)
        if let known = verdicts[place] { return known }
        let end = min((hop + 1) * hopSamples, samples.count)
        confirmer.look(posteriors, middle: middle, penalty: penalty) { first, target in
            for index in target.indices {
                let place = first + index
                target[index] = place >= 0 && place < end ? samples[place] : 0
            }
        }
        let verdict = Verdict(confirmer)
        verdicts[place] = verdict
        return verdict
    }
}
