private import WakeWords

/// The takes of a word as frames of the speech embedding: what the word's templates propose is aligned with each of them.
public struct SpeechTakes: Sendable, Equatable {
    /// Most takes, and most frames of one.
    public static let (mostTakes, mostFrames) = (TaughtWord.mostSequences, 26)
    /// A take may end at so many of the newest frames: it is looked at from the first quiet after it to 0.3 s later.
    public static let ends = 4
    /// How much of the mean distance to the takes is taken from the similarity, and the mean distance of the same word by other people,
    /// which leaves the similarity as it is; talk that is nearly as similar has twice that. Over the ten words by real people on which they
    /// were chosen, two draws of five takes of others, 1.5 to 4 are alike.
    private static let (weight, usualDistance): (Float, Float) = (2.5, 0.14)
    /// The distance that is as likely to be the word's as that of talk; it says what a look alone answers.
    private static let middleDistance: Float = 0.21

    /// `[takes × frames × SpeechEmbedding.count]`
    public let takes: [[[Float]]]
    /// The least probability by the templates that is looked at, 0…1.
    public let proposal: Float
    /// The similarity, after a look, at which the probability is 0.5.
    public let boundary: Float
    /// Where the first gap between the words of a phrase lies, as a share of it, 0…1; nil for a single word.
    public let firstGap: Float?

    /// - Returns: nil without takes.
    public init?(_ takes: [[[Float]]], proposal: Float, boundary: Float, firstGap: Float? = nil) {
        let usable = takes.filter { take in
            !take.isEmpty && take.allSatisfy { $0.count == SpeechEmbedding.count }
        }
        guard !usable.isEmpty else { return nil }
        self.takes = usable.prefix(Self.mostTakes).map { Array($0.suffix(Self.mostFrames)) }
        (self.proposal, self.boundary) = (proposal, boundary)
        self.firstGap = firstGap.map { min(max($0, 0), 1) }
    }

    /// The similarity after a look that found this mean distance.
    public static func similarity(_ said: Float, distance: Float) -> Float {
        said - weight * (distance - usualDistance)
    }

    /// The probability that a look alone gives this mean distance, 0…1.
    static func probability(distance: Float) -> Float {
        TaughtWord.probability(margin: weight * (middleDistance - distance))
    }

    /// Frames that a look needs: the longest take, said slower.
    var frameCount: Int {
        let longest = takes.map(\.count).max() ?? 0
        return min(FrameWarping.steps, longest + longest / 4 + Self.ends)
    }
}
