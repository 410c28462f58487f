public import Core
private import Glibc
public import Phonemes

/// A word that nobody recorded: how its name sounds is enough.
public struct TypedWord: Sendable, Equatable {
    public let name: String
    /// The ways in which it may be said; at least one.
    public let pronunciations: [Pronunciation]
    /// The score (``PhonemeAlignment``) at which its probability is 0.5, in nats a sound.
    public let boundary: Float
    /// Thresholds of sensitivities and modes.
    public let sensitivities: SensitivityTable<Float>

    /// The threshold of the sensitivity `balanced`: its score there is the boundary.
    public static let threshold: Float = 0.5
    /// What it loses within talk, in nats: most people make a pause before they call.
    public static let withinTalk: Float = 4
    /// Nats a sound in which the odds change e-fold.
    private static let slope: Float = 0.25

    public init(
        name: String,
        pronunciations: [Pronunciation],
        boundary: Float,
        sensitivities: SensitivityTable<Float> = SensitivityTable()
    ) {
        (self.name, self.pronunciations) = (name, pronunciations)
        (self.boundary, self.sensitivities) = (boundary, sensitivities)
    }

    /// The probability of a score.
    public func probability(_ score: Float) -> Float { Self.probability(score, boundary: boundary) }

    /// The same with a boundary.
    public static func probability(_ score: Float, boundary: Float) -> Float {
        1 / (1 + expf((boundary - score) / slope))
    }
}
