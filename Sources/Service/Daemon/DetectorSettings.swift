private import Configuration
import IntegrationInterface
public import Spotting

/// The detector's settings; they can be replaced while it runs.
public struct DetectorSettings: Sendable {
    /// The model and the taught words.
    public var vocabulary: Vocabulary
    public var gate: GateSettings
    /// The threshold of each label.
    public var thresholds: Thresholds
    public var phrases: [Phrase]
    public var sessions: [WakeSession]
    /// Copied to every detection under these settings, so that the dispatcher uses the matching names.
    public var generation: UInt32

    public init(
        vocabulary: Vocabulary,
        gate: GateSettings,
        thresholds: Thresholds,
        phrases: [Phrase],
        sessions: [WakeSession] = [],
        generation: UInt32
    ) {
        self.vocabulary = vocabulary
        self.gate = gate
        self.thresholds = thresholds
        self.phrases = phrases
        self.sessions = sessions
        self.generation = generation
    }
}

extension ServiceSettings {
    /// The part of the settings that the detector's thread needs.
    func detector(generation: UInt32) -> DetectorSettings {
        var gate = configuration.gate
        if configuration.misses.dir != nil { gate.nearMissMargin = configuration.misses.margin }
        return DetectorSettings(
            vocabulary: vocabulary,
            gate: gate,
            thresholds: thresholds,
            phrases: phrases,
            sessions: sessions,
            generation: generation
        )
    }
}
