/// Audio windows in, detections out: network, smoother, gate and phrases as one stream.
///
/// The same detector serves files and microphones. It knows no clock: time is counted in hops.
public struct Detector: ~Copyable {
    private var vocabulary: Vocabulary
    /// For the names of detections, as ``labels`` are.
    public private(set) var phrases: [Phrase]

    private var scorer: HopScorer
    private var handler: PosteriorHandler

    public init(_ vocabulary: Vocabulary, settings: GateSettings, thresholds: Thresholds, phrases: [Phrase] = []) {
        self.vocabulary = vocabulary
        self.phrases = phrases
        scorer = HopScorer(vocabulary, foreseenQuiet: settings.foreseenQuiet)
        handler = PosteriorHandler(vocabulary, settings: settings, thresholds: thresholds, phrases: phrases)
    }

    public var labels: [String] { vocabulary.labels }

    /// The averages that the gate decided by after the newest hop, one a label.
    public var scores: [Float] { handler.scores }

    /// Where there was speech or sound, after the newest hop: what the gate knows of pauses.
    public var sound: SoundActivity { scorer.sound }

    /// The gate after the newest hop.
    public var gate: Gate { handler.gate }

    /// Hears one hop more.
    ///
    /// - Parameters:
    ///   - window: the last second, 16000 samples in [−1, 1], its last 1600 new since the call before.
    ///   - report: called for each detection of this hop; a word comes before the phrases it moves.
    public mutating func hear(window: Span<Float>, report: (Detection) -> Void) {
        scorer.hear(window: window)
        handler.add(scorer.answer, foreseen: scorer.foreseen, sound: scorer.sound, report: report)
    }

    /// Decides by other rules from here on, without losing what was heard: a word that is just being said is heard, and
    /// one that has fired does not fire again. Allocates.
    ///
    /// - Parameter vocabulary: another one, or the same; the hop of its model lasts as long as the old one's.
    public mutating func adopt(
        _ vocabulary: Vocabulary,
        settings: GateSettings,
        thresholds: Thresholds,
        phrases: [Phrase]
    ) {
        if self.vocabulary !== vocabulary { scorer.adopt(vocabulary) }
        scorer.foreseenQuiet = settings.foreseenQuiet
        if self.vocabulary !== vocabulary { handler.adopt(vocabulary, before: self.vocabulary) }
        self.vocabulary = vocabulary
        self.phrases = phrases
        handler.adopt(settings: settings, thresholds: thresholds, phrases: phrases)
    }

    /// Forgets the audio heard so far: after a gap, a resume or a change of device, so that nothing old fires.
    public mutating func flush() {
        scorer.flush()
        handler.flush()
    }

    /// What a detection is called.
    public func name(of detection: Detection) -> String {
        detection.name(labels: labels, phrases: phrases)
    }
}
