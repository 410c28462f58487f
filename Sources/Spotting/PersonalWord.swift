/// A word that the user taught, as a detector hears it.
public struct PersonalWord: Sendable, Equatable {
    /// How steeply probability rises with likeness: from a tenth to nine tenths within 0.44, so that thresholds have room.
    static let slope: Float = 10

    /// How much above its boundary a word's likeness is where it has this probability, between 0 and 1.
    public static func margin(probability: Float) -> Float { logarithm(probability / (1 - probability)) / slope }

    /// Longest way from a word's end to its first anchor, in hops.
    public static let longestReach = 16

    /// One of the model's words, which is then heard in this voice too, or any other name.
    public let name: String
    /// Probability from which on it fires, 0…1.
    public let threshold: Float
    /// Embeddings at the word's end, and `lag` hops before each the next: one for a word, more for a long phrase.
    public let anchors: [[Float]]
    public let lag: Int
    /// Similarity, −1…1, at which it is as likely as not that the word was said.
    public let boundary: Float

    /// - Returns: nil where there is no anchor, they differ in length, or reach back too far.
    public init?(name: String, threshold: Float, anchors: [[Float]], lag: Int, boundary: Float) {
        guard let first = anchors.first, !first.isEmpty, anchors.allSatisfy({ $0.count == first.count }), lag >= 0,
            (anchors.count - 1) * (lag + 1) < Self.longestReach
        else { return nil }
        self.name = name
        self.threshold = threshold
        self.anchors = anchors
        self.lag = lag
        self.boundary = boundary
    }
}
