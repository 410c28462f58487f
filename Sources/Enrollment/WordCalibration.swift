private import Glibc
private import Spotting

/// How well a word stands apart from all else, and where it should fire.
public struct WordCalibration: Sendable {
    /// What is estimated at a threshold.
    public struct Rates: Sendable, Equatable {
        public let threshold: Float
        /// Share of its sayings that are missed.
        public let missed: Double
        /// False accepts in an hour of other speech: with words taken anywhere, and with words said alone.
        public let spot: Double
        public let command: Double
    }

    /// Another word that may be taken for this one.
    public struct Neighbour: Sendable, Equatable {
        public let name: String
        public let likeness: Float
        /// Share of its sayings that this word would fire at.
        public let taken: Double
    }

    /// False accepts in an hour of talk that a word may have, and that one may have whose takes differ much.
    private static let (bearable, mostBearable) = (0.4, 0.8)

    /// Similarity at which it is as likely as not that the word was said.
    public let boundary: Float
    /// The one to use.
    public let suggested: Rates
    /// With laxer and stricter ones, in order.
    public let rates: [Rates]
    /// The nearest of the model's words, and of the user's others; nil where there are none.
    public let nearestBuiltIn: Neighbour?
    public let nearestOwn: Neighbour?

    /// The likeness that this share of vectors is above.
    private static func top(_ vectors: [[Float]], _ prototype: [[Float]], share: Double) -> Float {
        guard let last = prototype.first else { return -1 }
        let likenesses = vectors.map { dot($0, last) }.sorted(by: >)
        return likenesses.isEmpty ? -1 : likenesses[Int(share * Double(likenesses.count))]
    }

    /// - Parameter own: the user's other words.
    init(_ word: WordStore.Word, besides own: [WordStore.Word], background: NegativeSet) {
        let prototype = word.prototype
        let lag = word.takes.first?.lag ?? 0
        let said = Similarity(word.takes.indices.compactMap { word.likeness(ofTake: $0) })
        let talkHours = Double(background.talk.count) / background.hopsPerHour
        let talk = PeaksOverThreshold(background.talkLikenesses(prototype, lag: lag), hours: talkHours)
        let ends = PeaksOverThreshold(background.endLikenesses(prototype), hours: background.endHours)

        // Halfway between the false accepts that are bearable and what is nearly always heard. Takes that differ much, as those of
        // several voices, leave no room between the two: more false accepts are borne then, that the word be heard.
        let bearable = talk.value(rate: Self.bearable)
        let heard = said.value(deviations: 2.3)
        let apart =
            heard > bearable
            ? (bearable + heard) / 2
            : max(ends.value(rate: Self.mostBearable), min(bearable, heard))
        // A word of the model in the user's voice may not be taken for another of the model's words.
        let others = background.words.filter { $0.name != word.name }.flatMap(\.vectors)
        let isBuiltIn = background.words.contains { $0.name == word.name }
        let fire = isBuiltIn ? max(apart, Self.top(others, prototype, share: 0.02)) : apart
        let suggestedThreshold = WordStore.suggestedThreshold
        let boundary = fire - PersonalWord.margin(probability: suggestedThreshold)
        func rates(_ threshold: Float) -> Rates {
            let value = boundary + PersonalWord.margin(probability: threshold)
            let command = ends.rate(above: value)
            return Rates(
                threshold: threshold,
                missed: said.missed(below: value),
                spot: max(talk.rate(above: value), command),
                command: command
            )
        }
        self.boundary = boundary
        suggested = rates(suggestedThreshold)
        self.rates = [0.6, suggestedThreshold, 0.9].map(rates)

        func neighbour(_ name: String, _ vectors: [[Float]]) -> Neighbour? {
            guard let last = prototype.first, !vectors.isEmpty, name != word.name else { return nil }
            let likenesses = vectors.map { dot($0, last) }
            return Neighbour(
                name: name,
                likeness: likenesses.reduce(0, +) / Float(likenesses.count),
                taken: Double(likenesses.count { $0 > fire }) / Double(likenesses.count)
            )
        }
        func nearest(_ neighbours: [Neighbour]) -> Neighbour? {
            neighbours.max { ($0.taken, $0.likeness) < ($1.taken, $1.likeness) }
        }
        nearestBuiltIn = nearest(background.words.compactMap { neighbour($0.name, $0.vectors) })
        nearestOwn = nearest(own.compactMap { neighbour($0.name, $0.takes.compactMap(\.anchors.first)) })
    }
}
