public import Inference
import Spotting

/// Whether takes and words sound alike, by their templates.
enum SoundAlike {
    /// Share of a word's takes, 0…1, at which another word fires, from which the two are said to sound alike.
    ///
    /// Measured over words of five takes by different people, with an earlier embedding: 0.75 or more where both are the same word (10
    /// pairs), 0 where they are not (180 pairs).
    static let leastShare = 0.5

    /// Similarity of a take to a word below which they do not sound alike. With it all of 20 pairs of one word by different people sound
    /// alike, and no two of ten words.
    static let leastSimilarity: Float = 0.55

    /// Similarity of a take to a word, −1…1: as the detector computes it, at the place of the take where it is highest.
    ///
    /// - Parameters:
    ///   - prototype: the word's templates, the one at the end first.
    ///   - alignment: of the word.
    static func similarity(
        of take: WordStore.Take,
        to prototype: [[Float]],
        _ alignment: TemplateAlignment
    ) -> Float {
        guard let last = prototype.first else { return -1 }
        // A phrase needs all of its templates; where the take has fewer, nothing is there.
        let templates = take.templates
        let hasSpacing = templates.count == 1 || take.templateSpacing == alignment.spacing
        let isAlike = templates.count == prototype.count && hasSpacing
        if alignment.isPhrase || isAlike {
            return alignment.mean { templates.indices.contains($0) ? dot(templates[$0], prototype[$0]) : 0 }
        }
        // A word also fires in the middle of a phrase, where the take has no template before.
        return templates.map { dot($0, last) }.max() ?? -1
    }

    /// Hops over which a similarity is averaged, because the detector smooths too.
    private static let smoothing = 3

    /// The highest similarity to a word within a recording, −1…1.
    ///
    /// - Parameters:
    ///   - hops: embeddings of the recording at every hop.
    ///   - alignment: of the word.
    static func similarity(ofHops hops: [[Float]], to prototype: [[Float]], _ alignment: TemplateAlignment) -> Float {
        guard !prototype.isEmpty else { return -1 }
        let values = hops.indices.dropFirst(alignment.reach).map { hop in
            alignment.mean { dot(hops[hop - $0 * alignment.spacing], prototype[$0]) }
        }
        guard values.count >= smoothing else { return -1 }
        let means = (smoothing...values.count).map { values[$0 - smoothing..<$0].reduce(0, +) / Float(smoothing) }
        return means.max() ?? -1
    }
}

extension WordStore.Word {
    /// Whether two calibrated words sound alike: one of them fires at half of the other's takes or more. Each would then often be
    /// found in place of the other.
    ///
    /// - Parameter model: finds a word in the middle of a longer take too, where the takes have their recordings; nil compares
    ///   their templates only.
    public func soundsLike(_ other: WordStore.Word, by model: Model? = nil) -> Bool {
        guard embedding == other.embedding else { return false }
        if max(other.firesByTemplates(at: takes), firesByTemplates(at: other.takes)) >= SoundAlike.leastShare {
            return true
        }
        guard let model else { return false }
        var embedder = TakeEmbedder(model)
        return max(other.fires(within: takes, &embedder), fires(within: other.takes, &embedder))
            >= SoundAlike.leastShare
    }

    /// Similarity from which it fires at what sounds like it. Other words by one voice, such as "left side" and "right side", may be more
    /// similar than talk is, but the likelier one of them is found.
    private var fire: Float { max(boundary + TaughtWord.margin(probability: threshold), SoundAlike.leastSimilarity) }

    /// Share of takes at which it fires, 0…1.
    private func firesByTemplates(at takes: [WordStore.Take]) -> Double {
        let (prototype, alignment, fire) = (prototype, alignment, fire)
        return Self.share(of: takes) {
            SoundAlike.similarity(of: $0, to: prototype, alignment) > fire
        }
    }

    /// Share of takes, 0…1, in whose recordings it fires somewhere. Takes that are hardly longer than its own have no room for
    /// it beside other sound; their templates tell.
    private func fires(within takes: [WordStore.Take], _ embedder: inout TakeEmbedder) -> Double {
        let own = self.takes.map(\.audio.count).max() ?? 0
        let (prototype, alignment, fire) = (prototype, alignment, fire)
        return Self.share(of: takes) { take in
            guard take.audio.count > own + Utterance.sampleRate / 10 else { return false }
            return SoundAlike.similarity(ofHops: embedder.hops(of: take.audio), to: prototype, alignment) > fire
        }
    }

    private static func share(of takes: [WordStore.Take], _ isTaken: (WordStore.Take) -> Bool) -> Double {
        takes.isEmpty ? 0 : Double(takes.count(where: isTaken)) / Double(takes.count)
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
        words = negatives.words.compactMap { name, takes in
            let vectors = takes.compactMap(\.templates.first)
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
