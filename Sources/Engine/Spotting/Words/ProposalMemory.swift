import Inference

/// What looks need of the word that the gate proposes, kept from the hop of its best score on. Only ``prepare(_:)`` allocates.
struct ProposalMemory {
    /// Seconds after a word that a second look at a taught word hears.
    private static let heardAfter = 0.3

    let hopSeconds: Double
    let hopSamples: Int
    /// The smoothed posteriors of the hop at which the word that the gate keeps had its best score, `[model's labels]`.
    private var kept: [Float] = []
    /// How a phrase that is likeliest stands beside its parts; and the same of the word that the gate keeps.
    private var margin = CandidateMargin()
    private var keptMargin = CandidateMargin()

    init(hopSeconds: Double, hopSamples: Int) { (self.hopSeconds, self.hopSamples) = (hopSeconds, hopSamples) }

    /// Makes room for posteriors like these.
    mutating func prepare(_ posteriors: [Float]) { kept = posteriors }

    /// Notes how the likeliest word stands beside its parts, where its score is its best.
    mutating func note(_ hop: HopScores, _ scores: [Float], _ gate: borrowing Gate, _ fusion: PosteriorFusion) {
        guard !hop.words.partMargins.isEmpty, let candidate = gate.candidate, scores.indices.contains(candidate.label),
            let word = fusion.wordLabels.firstIndex(of: candidate.label), hop.words.partMargins.indices.contains(word)
        else { return }
        margin.note(hop.words.partMargins[word], score: scores[candidate.label], firstHop: candidate.firstHop)
    }

    /// Keeps the posteriors of a word that the gate keeps from this hop on.
    mutating func keep(_ posteriors: [Float], _ gate: borrowing Gate) {
        guard !gate.proposals.isEmpty, gate.pending?.bestHop == gate.hop else { return }
        for label in kept.indices { kept[label] = posteriors[label] }
        keptMargin = margin
    }

    /// The posteriors of the hop at which the proposed word had its best score: one that is decided at its end has left the window by
    /// then.
    ///
    /// - Parameter newest: those of this hop.
    func posteriors(_ gate: borrowing Gate, newest: [Float]) -> [Float] {
        gate.proposal?.hit.bestHop == gate.hop ? newest : kept
    }

    /// A proposal as looks get it.
    func word(_ proposal: Gate.Proposal, _ gate: borrowing Gate) -> ProposedWord {
        let firstHop = proposal.hit.firstHop
        let beside = margin.firstHop == firstHop ? margin : keptMargin
        return ProposedWord(
            label: proposal.label,
            score: proposal.confidence,
            middle: samples(proposal.middle),
            end: samples(min(gate.time, proposal.end + Self.heardAfter)),
            hops: gate.hop - firstHop + 1,
            partMargin: beside.firstHop == firstHop ? beside.partMargin : .infinity
        )
    }

    /// The proposal of a word that fires by itself, as looks get it.
    ///
    /// - Parameter end: of the newest audio, in seconds.
    func word(_ proposal: Detection, endingAt end: Double) -> ProposedWord {
        ProposedWord(
            label: proposal.index,
            score: proposal.confidence,
            middle: samples((proposal.start + proposal.end) / 2),
            end: samples(end),
            hops: 1
        )
    }

    private func samples(_ seconds: Double) -> Int { Int((seconds / hopSeconds * Double(hopSamples)).rounded()) }

    /// Forgets the margins, after a gap.
    mutating func flush() { (margin, keptMargin) = (CandidateMargin(), CandidateMargin()) }
}
