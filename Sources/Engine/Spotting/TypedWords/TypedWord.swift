public import Core
private import Glibc
public import Phonemes

/// A word by how its name sounds. It needs no takes; one that has some too is a ``TaughtWord`` of the same name beside it.
public struct TypedWord: Sendable, Equatable {
    public let name: String
    /// The ways in which it may be said; at least one.
    public let pronunciations: [Pronunciation]
    /// The score (``PhonemeAlignment``) at which its probability is 0.5, in nats a sound.
    public let boundary: Float
    /// Nats a sound in which the odds change e-fold.
    public let slope: Float
    /// Thresholds of sensitivities and modes.
    public let sensitivities: SensitivityTable<Float>

    /// The threshold of the sensitivity `balanced`: its score there is the boundary.
    public static let threshold: Float = 0.5
    /// The slope of a word that nobody recorded.
    public static let slope: Float = 0.25

    public init(
        name: String,
        pronunciations: [Pronunciation],
        boundary: Float,
        slope: Float = TypedWord.slope,
        sensitivities: SensitivityTable<Float> = SensitivityTable()
    ) {
        (self.name, self.pronunciations) = (name, pronunciations)
        (self.boundary, self.slope, self.sensitivities) = (boundary, slope, sensitivities)
    }

    /// The probability of a score.
    public func probability(_ score: Float) -> Float { Self.probability(score, boundary: boundary, slope: slope) }

    /// The same with a boundary.
    static func probability(_ score: Float, boundary: Float, slope: Float = TypedWord.slope) -> Float {
        1 / (1 + expf((boundary - score) / slope))
    }

    /// The score of a probability, 0 < p < 1.
    public func score(_ probability: Float) -> Float { boundary + slope * logOdds(probability) }
}
