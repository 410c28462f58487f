/// Detects words and phrases in one stream of audio windows: network, smoother, gate, phrase matcher and sessions.
///
/// Files and microphones use the same detector. It has no clock: time is counted in hops. After `init`, only ``apply``
/// allocates.
public struct Detector: ~Copyable {
    private var vocabulary: Vocabulary
    /// Phrases by index, for the names of detections.
    public private(set) var phrases: [Phrase]
    /// Sessions by index, for the names of detections.
    public private(set) var sessions: [WakeSession]

    private var scorer: HopScorer
    private var handler: PosteriorHandler

    public init(
        _ vocabulary: Vocabulary,
        settings: GateSettings,
        thresholds: Thresholds,
        phrases: [Phrase] = [],
        sessions: [WakeSession] = []
    ) {
        self.vocabulary = vocabulary
        self.phrases = phrases
        self.sessions = sessions
        scorer = HopScorer(vocabulary, lookaheadQuiet: settings.lookaheadQuiet(with: sessions))
        handler = PosteriorHandler(
            vocabulary,
            settings: settings,
            thresholds: thresholds,
            phrases: phrases,
            sessions: sessions
        )
    }

    /// The vocabulary's labels, in the order of `scores`.
    public var labels: [String] { vocabulary.labels }

    /// Smoothed posteriors after the newest hop, `[labels]`: the input of the gate.
    public var scores: [Float] { handler.scores }

    /// Speech or sound activity up to the newest hop, in which the gate finds pauses.
    public var activity: ActivityHistory { scorer.activity }

    /// State of the gate after the newest hop.
    public var gate: Gate { handler.gate }

    /// Processes one hop.
    ///
    /// - Parameters:
    ///   - window: the newest second, 16000 samples in [−1, 1], of which the last 1600 are new since the previous call.
    ///   - report: called for each detection of this hop, in the order of ``PosteriorHandler/process(_:lookahead:activity:report:)``.
    public mutating func process(window: Span<Float>, report: (Detection) -> Void) {
        scorer.score(window: window)
        handler.process(scorer.scores, lookahead: scorer.lookahead, activity: scorer.activity, report: report)
    }

    /// Decides what is pending where the audio ends, such as a word that has not been over yet.
    ///
    /// - Parameter report: as in ``process(window:report:)``.
    public mutating func finish(report: (Detection) -> Void) {
        handler.finish(activity: scorer.activity, report: report)
    }

    /// Applies new settings from the next hop on and keeps the state of the stream: a word that is being said is still
    /// detected, and one that has fired does not fire again. Allocates.
    ///
    /// - Parameter vocabulary: the same vocabulary or another one whose model has the same hop length.
    /// - Returns: the end of the session that was on, if the new sessions have none of its name; its index is the one among the
    ///   old sessions.
    public mutating func apply(
        _ vocabulary: Vocabulary,
        settings: GateSettings,
        thresholds: Thresholds,
        phrases: [Phrase],
        sessions: [WakeSession] = []
    ) -> Detection? {
        if self.vocabulary !== vocabulary { scorer.apply(vocabulary) }
        scorer.lookaheadQuiet = settings.lookaheadQuiet(with: sessions)
        if self.vocabulary !== vocabulary { handler.apply(vocabulary, replacing: self.vocabulary) }
        self.vocabulary = vocabulary
        self.phrases = phrases
        self.sessions = sessions
        return handler.apply(settings: settings, thresholds: thresholds, phrases: phrases, sessions: sessions)
    }

    /// Resets the stream after a gap, a resume or a change of device: a word from before can no longer fire.
    public mutating func flush() {
        scorer.flush()
        handler.flush()
    }

    /// Name of a detection's word, phrase or session.
    public func name(of detection: Detection) -> String {
        detection.name(labels: labels, phrases: phrases, sessions: sessions)
    }
}
