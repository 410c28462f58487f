/// What is detected in a stream: the single argument of all that detects words.
public struct DetectorSettings: Sendable {
    /// The model and the taught words.
    public var vocabulary: Vocabulary
    public var gate: GateSettings
    /// The threshold of each label of the vocabulary.
    public var thresholds: Thresholds
    public var phrases: [Phrase]
    public var sessions: [WakeSession]
    /// Whether words that are also in what a loudspeaker plays are marked.
    public var marksOwnSpeech = false
    /// The number of these settings, for those who number them: it tells by which settings a detection was decided.
    public var generation: UInt32 = 0

    /// - Parameter thresholds: nil for those of the sensitivity `balanced` in the gate's mode.
    public init(
        _ vocabulary: Vocabulary,
        gate: GateSettings = GateSettings(),
        thresholds: Thresholds? = nil,
        phrases: [Phrase] = [],
        sessions: [WakeSession] = []
    ) {
        self.vocabulary = vocabulary
        self.gate = gate
        self.thresholds = thresholds ?? vocabulary.thresholds(mode: gate.mode)
        self.phrases = phrases
        self.sessions = sessions
    }

    /// Range of the time since the last sound in which the next hop is computed ahead; nil for never.
    public var lookaheadQuiet: ClosedRange<Double>? { gate.lookaheadQuiet(with: sessions) }

    /// Name of a detection's word, phrase or session.
    public func name(of detection: Detection) -> String {
        detection.name(labels: vocabulary.labels, phrases: phrases, sessions: sessions)
    }
}
