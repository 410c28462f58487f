public import Spotting

/// What the detector decides by; it can be replaced while the detector runs.
public struct DetectorSettings: Sendable {
    public var vocabulary: Vocabulary
    public var gate: GateSettings
    public var thresholds: Thresholds
    public var phrases: [Phrase]
    /// What detections under these settings are marked with, so that the dispatcher can name them.
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
