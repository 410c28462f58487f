import Inference

/// Detects words and phrases in one stream of audio windows: network, smoother, gate, phrase matcher and sessions.
///
/// Files and microphones use the same detector. It has no clock: time is counted in hops. After `init`, only ``update``
/// allocates.
public struct Detector: ~Copyable {
    /// The settings in force.
    public private(set) var settings: DetectorSettings

    private var scorer: HopScorer
    private var handler: PosteriorHandler
    private var wakeWords: WakeWordStream?
    private var look: SecondLook
    /// Nil where no reference is heard.
    private var played: PlayedWords?

    public init(_ settings: DetectorSettings) {
        self.settings = settings
        scorer = HopScorer(settings.vocabulary, lookaheadQuiet: settings.lookaheadQuiet)
        handler = PosteriorHandler(settings)
        wakeWords = WakeWordStream(settings.vocabulary.wakeWords)
        settings.vocabulary.reserveConfirmers()
        look = SecondLook(settings.vocabulary)
        played = settings.marksOwnSpeech ? PlayedWords(settings) : nil
    }

    /// Smoothed posteriors after the newest hop, `[labels]`: the input of the gate.
    public var scores: [Float] { handler.scores }

    /// Sets the newest scores of wake words with models of their own, which are no input of the gate, among those of all labels.
    /// Allocates nothing.
    ///
    /// - Parameter scores: `[labels]`.
    public func setWakeWordScores(in scores: inout [Float]) { handler.setWakeWordScores(in: &scores) }

    /// Speech or sound activity up to the newest hop, in which the gate finds pauses.
    public var activity: ActivityHistory { scorer.activity }

    /// How often there was a second look at a proposal.
    public var looks: Int { handler.looks }

    /// How often no word was found after a look.
    public var refusals: Int { handler.refusals }

    /// State of the gate after the newest hop.
    public var gate: Gate { handler.gate }

    /// Processes one hop.
    ///
    /// - Parameters:
    ///   - window: the newest second, 16000 samples in [−1, 1], of which the last 1600 are new since the previous call.
    ///   - block: what a loudspeaker played during the hop, in time with its echo; empty if nothing is known of it.
    ///   - report: called for each detection of this hop: of wake words, then in the order of ``PosteriorHandler/process(_:lookahead:activity:report:)``.
    public mutating func process(
        window: Span<Float>,
        played block: Span<Float> = Span(),
        report: (Detection) -> Void
    ) {
        // First, so that a word that is decided in this hop is known there.
        let time = handler.gate.nextTime
        played?.add(block) { handler.played.note($0, at: time) }
        scorer.score(window: window)
        let hop = window.extracting(last: settings.vocabulary.model.hopSamples)
        look.add(hop: hop)
        wakeWords?.add(hop: hop) { word, score, before in
            handler.add(wakeWord: word, score: score, before: before, report: report)
        }
        handler.process(
            scorer.scores,
            lookahead: scorer.lookahead,
            activity: scorer.activity,
            confirmer: look,
            report: report
        )
    }

    /// Decides what is pending where the audio ends, such as a word that has not been over yet.
    ///
    /// - Parameter report: as in ``process(window:report:)``.
    public mutating func finish(report: (Detection) -> Void) {
        handler.finish(activity: scorer.activity, confirmer: look, report: report)
    }

    /// Applies new settings from the next hop on and keeps the state of the stream: a word that is being said is still
    /// detected, and one that has fired does not fire again. Allocates.
    ///
    /// - Parameter new: their vocabulary is the same or another one whose model has the same hop length.
    /// - Returns: the end of the session that was on, if the new sessions have none of its name; its index is the one among the
    ///   old sessions.
    public mutating func update(_ new: DetectorSettings) -> Detection? {
        let old = settings.vocabulary
        if old !== new.vocabulary {
            scorer.update(new.vocabulary)
            new.vocabulary.reserveConfirmers()
            look = SecondLook(new.vocabulary, hops: handler.gate.streamHops, replacing: look)
        }
        scorer.lookaheadQuiet = new.lookaheadQuiet
        if wakeWords?.serves(new.vocabulary.wakeWords) != true {
            wakeWords = WakeWordStream(new.vocabulary.wakeWords)
        }
        // Changed settings are rare: what was played in the last second is forgotten.
        played = new.marksOwnSpeech ? PlayedWords(new) : nil
        settings = new
        return handler.update(new, replacing: old)
    }

    /// Resets the stream after a gap, a resume or a change of device: a word from before can no longer fire.
    public mutating func flush() {
        scorer.flush()
        handler.flush()
        wakeWords?.flush()
        look.flush()
        played?.flush()
    }
}
