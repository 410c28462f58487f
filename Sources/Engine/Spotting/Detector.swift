import Inference

/// Detects words and phrases in one stream of audio windows: network, smoother, gate, phrase matcher and sessions.
///
/// Files and microphones use the same detector. It has no clock: time is counted in hops. After `init`, only ``update``
/// allocates.
public struct Detector: ~Copyable {
    /// The settings in force.
    public var settings: DetectorSettings { words.settings }

    private var scorer: HopScorer
    private var words: WordStream

    public init(_ settings: DetectorSettings) {
        scorer = HopScorer(
            settings.vocabulary,
            lookaheadQuiet: settings.lookaheadQuiet,
            hearsPlayed: settings.marksOwnSpeech
        )
        settings.vocabulary.reserveLooks()
        words = WordStream(settings)
    }

    /// Smoothed posteriors after the newest hop, `[labels]`: the input of the gate.
    public var scores: [Float] { words.handler.scores }

    /// Sets the newest scores of words that fire by themselves, which are no input of the gate, among those of all labels.
    /// Allocates nothing.
    ///
    /// - Parameter scores: `[labels]`.
    public func setRisingScores(in scores: inout [Float]) { words.handler.setRisingScores(in: &scores) }

    /// How often there was a second look at a proposal.
    public var looks: Int { words.handler.looks }

    /// How often no word was found after a look.
    public var refusals: Int { words.handler.refusals }

    /// Processes one hop.
    ///
    /// - Parameters:
    ///   - window: the newest second, 16000 samples in [−1, 1], of which the last 1600 are new since the previous call.
    ///   - block: what a loudspeaker played during the hop, in time with its echo; empty if nothing is known of it.
    ///   - report: called for each detection of this hop: in the order of ``PosteriorHandler/process(_:lookahead:activity:looks:report:)``.
    public mutating func process(
        window: Span<Float>,
        played block: Span<Float> = Span(),
        report: (Detection) -> Void
    ) {
        scorer.score(window: window, played: block)
        words.add(
            scorer.scores,
            lookahead: scorer.lookahead,
            activity: scorer.activity,
            hop: window.extracting(last: settings.vocabulary.model.hopSamples),
            report: report
        )
    }

    /// Decides what is pending where the audio ends, such as a word that has not been over yet.
    ///
    /// - Parameter report: as in ``process(window:report:)``.
    public mutating func finish(report: (Detection) -> Void) {
        words.finish(report: report)
    }

    /// Applies new settings from the next hop on and keeps the state of the stream: a word that is being said is still
    /// detected, and one that has fired does not fire again. Allocates.
    ///
    /// - Parameter new: their vocabulary is the same or another one whose model has the same hop length.
    /// - Returns: the end of the session that was on, if the new sessions have none of its name; its index is the one among the
    ///   old sessions.
    public mutating func update(_ new: DetectorSettings) -> Detection? {
        if new.vocabulary !== settings.vocabulary { new.vocabulary.reserveLooks() }
        scorer.update(new.vocabulary, hearsPlayed: new.marksOwnSpeech)
        scorer.lookaheadQuiet = new.lookaheadQuiet
        return words.adapt(to: new)
    }

    /// Resets the stream after a gap, a resume or a change of device: a word from before can no longer fire.
    public mutating func flush() {
        scorer.flush()
        words.flush()
    }
}
