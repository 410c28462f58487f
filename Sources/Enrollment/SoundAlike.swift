private import Spotting

/// Whether takes and words sound alike, by their templates.
enum SoundAlike {
    /// Share of a word's takes, 0…1, at which another word fires, from which the two are said to sound alike.
    ///
    /// Measured over words of five takes by different people: 0.75 or more where both are the same word (10 pairs), 0 where they
    /// are not (180 pairs).
    static let leastShare = 0.5

    /// Similarity of a take to a word, −1…1: as the detector computes it, at the place of the take where it is highest.
    ///
    /// - Parameters:
    ///   - take: templates, the one at the end first.
    ///   - prototype: the word's templates, in the same order.
    static func similarity(of take: [[Float]], to prototype: [[Float]]) -> Float {
        guard let last = prototype.first else { return -1 }
        // A word of one template also fires in the middle of a phrase.
        if prototype.count == 1 { return take.map { dot($0, last) }.max() ?? -1 }
        // A phrase needs all of its templates; where the take has fewer, nothing is there.
        return zip(take, prototype).reduce(0) { $0 + dot($1.0, $1.1) } / Float(prototype.count)
    }

    /// Share of takes at which a word fires, 0…1.
    ///
    /// - Parameter fire: similarity from which the word fires.
    static func taken(_ takes: [WordStore.Take], by prototype: [[Float]], from fire: Float) -> Double {
        guard !takes.isEmpty else { return 0 }
        return Double(takes.count { similarity(of: $0.templates, to: prototype) > fire }) / Double(takes.count)
    }
}

extension WordStore.Word {
    /// Whether two calibrated words sound alike: one of them fires at half of the other's takes or more. Each would then often be
    /// found in place of the other.
    public func soundsLike(_ other: WordStore.Word) -> Bool {
        guard embedding == other.embedding else { return false }
        func taken(_ takes: [WordStore.Take], by word: WordStore.Word) -> Double {
            let fire = word.boundary + PersonalWord.margin(probability: word.threshold)
            return SoundAlike.taken(takes, by: word.prototype, from: fire)
        }
        return max(taken(other.takes, by: self), taken(takes, by: other)) >= SoundAlike.leastShare
    }
}

/// Whether takes of a word that the model has sound like that word.
struct ModelWordCheck: Sendable {
    /// Similarity to the mean of the model's examples of a word below which a take sounds nothing like it.
    static let leastSimilarity: Float = 0.35
    /// Similarity from which a take sounds like a word of the model.
    private static let clearSimilarity: Float = 0.55

    /// The model's words with the normalised mean of their examples.
    private let words: [(name: String, mean: [Float])]

    init(_ negatives: NegativeSet) {
        words = negatives.words.compactMap { name, vectors in
            guard var sum = vectors.first else { return nil }
            for vector in vectors.dropFirst() { for index in sum.indices { sum[index] += vector[index] } }
            return (name, unit(sum))
        }
    }

    /// Why a take cannot be one of the model's word `name`; nil if it can, or if the model has no such word.
    ///
    /// - Parameter templates: of the take, the one at its end first.
    func fault(_ templates: [[Float]], as name: String) -> TakeFault? {
        guard let take = templates.first, let word = words.first(where: { $0.name == name }),
            dot(take, word.mean) < Self.leastSimilarity
        else { return nil }
        let nearest = words.map { (name: $0.name, similarity: dot(take, $0.mean)) }.max {
            $0.similarity < $1.similarity
        }
        let heard = nearest.flatMap { $0.similarity >= Self.clearSimilarity ? $0.name : nil }
        return .otherWord(name, heard: heard)
    }
}
