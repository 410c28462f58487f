public import Phonemes

/// A word that is found or confirmed by its sounds.
public struct WordSounds: Sendable, Equatable {
    public let name: String
    /// The ways in which it may be said; at least one.
    public let pronunciations: [Pronunciation]
    /// The score that it needs, in nats a sound (``PhonemeAlignment``), with the sensitivity `balanced`.
    public let least: Float
    /// What its path loses besides.
    public let costs: PathCosts

    public init(_ name: String, _ pronunciations: [Pronunciation], least: Float, _ costs: PathCosts = PathCosts()) {
        (self.name, self.pronunciations, self.least, self.costs) = (name, pronunciations, least, costs)
    }
}
