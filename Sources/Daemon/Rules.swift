public import Spotting

/// What a detector decides by; changed while it runs.
public struct Rules: Sendable {
    public var vocabulary: Vocabulary
    public var gate: GateSettings
    public var thresholds: Thresholds
    public var phrases: [Phrase]
    /// What the events of this detector are marked with.
    public var generation: UInt32

    public init(
        vocabulary: Vocabulary,
        gate: GateSettings,
        thresholds: Thresholds,
        phrases: [Phrase],
        generation: UInt32
    ) {
        self.vocabulary = vocabulary
        self.gate = gate
        self.thresholds = thresholds
        self.phrases = phrases
        self.generation = generation
    }
}
