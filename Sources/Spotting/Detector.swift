/// Detects words and phrases in one stream of audio windows: network, smoother, gate and phrase matcher.
///
/// Files and microphones use the same detector. It has no clock: time is counted in hops. After `init`, only ``apply``
/// allocates.
public struct Detector: ~Copyable {
    private var vocabulary: Vocabulary
    /// Phrases by index, for the names of detections.
    public private(set) var phrases: [Phrase]

    private var scorer: HopScorer
    private var handler: PosteriorHandler

    public init(_ vocabulary: Vocabulary, settings: GateSettings, thresholds: Thresholds, phrases: [Phrase] = []) {
        self.vocabulary = vocabulary
        self.phrases = phrases
        scorer = HopScorer(vocabulary, lookaheadQuiet: settings.lookaheadQuiet)
        handler = PosteriorHandler(vocabulary, settings: settings, thresholds: thresholds, phrases: phrases)
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
    ///   - report: called for each detection of this hop: a word first, then the phrases that it advances.
    public mutating func process(window: Span<Float>, report: (Detection) -> Void) {
        scorer.score(window: window)
        handler.process(scorer.scores, lookahead: scorer.lookahead, activity: scorer.activity, report: report)
    }

    /// Applies new settings from the next hop on and keeps the state of the stream: a word that is being said is still
    /// detected, and one that has fired does not fire again. Allocates.
    ///
    /// - Parameter vocabulary: the same vocabulary or another one whose model has the same hop length.
    public mutating func apply(
        _ vocabulary: Vocabulary,
        settings: GateSettings,
        thresholds: Thresholds,
        phrases: [Phrase]
    ) {
        if self.vocabulary !== vocabulary { scorer.apply(vocabulary) }
        scorer.lookaheadQuiet = settings.lookaheadQuiet
        if self.vocabulary !== vocabulary { handler.apply(vocabulary, replacing: self.vocabulary) }
        self.vocabulary = vocabulary
        self.phrases = phrases
        handler.apply(settings: settings, thresholds: thresholds, phrases: phrases)
    }

    /// Resets the stream after a gap, a resume or a change of device: a word from before can no longer fire.
    public mutating func flush() {
        scorer.flush()
        handler.flush()
    }

    /// Name of a detection's word or phrase.
    public func name(of detection: Detection) -> String {
        detection.name(labels: labels, phrases: phrases)
    }
}
