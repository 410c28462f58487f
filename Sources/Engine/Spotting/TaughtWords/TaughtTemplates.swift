/// What the embeddings of streams are compared with: templates, negatives, parts and sequences of taught words, once for all streams.
struct TaughtTemplates: Sendable {
    struct Word: Sendable {
        /// Index of the first lanes of its first template.
        var start: Int
        /// Of no templates if they come from another model.
        var alignment: TemplateAlignment
        var boundary: Float
        var negativeBoundary: Float
        var partBoundary: Float
        /// A second look counts what follows from its parts.
        var isLookedAt: Bool
        /// How many negatives follow its templates.
        var negatives: Int
        /// How many parts follow its negatives.
        var parts: Int
        /// Which of `sequences` are its own.
        var sequences: Range<Int>
    }

    let words: [Word]
    /// Unit vectors, `[templates × lanesPerVector]`, zero-padded. Those of a word's sequences come after its others.
    let templates: [Lanes]
    /// Of each sequence the index of its first lanes, and its hops.
    let sequences: [(start: Int, hops: Int)]
    let lanesPerVector: Int

    /// - Parameters:
    ///   - dimensions: of the model's embedding. Words of another embedding have probability 0.
    ///   - isLookedAt: for each word; none is if missing.
    init(_ words: [TaughtWord], dimensions: Int, isLookedAt: [Bool]) {
        lanesPerVector = UnitVector.lanes(of: dimensions)
        var templates: [Lanes] = []
        var sequences: [(start: Int, hops: Int)] = []
        self.words = words.enumerated().map { index, word in
            let fits = word.templates.allSatisfy { $0.count == dimensions }
            let first = sequences.count
            let start = templates.count
            if fits {
                let all = word.templates + word.negatives.joined() + word.parts.joined()
                for template in all { UnitVector.append(template, to: &templates) }
                for sequence in word.sequences {
                    sequences.append((templates.count, sequence.count))
                    for hop in sequence { UnitVector.append(hop, to: &templates) }
                }
            }
            return Word(
                start: start,
                alignment: fits ? word.alignment : TemplateAlignment(count: 0, spacing: 0),
                boundary: word.boundary,
                negativeBoundary: word.negativeBoundary,
                partBoundary: word.partBoundary,
                isLookedAt: isLookedAt.indices.contains(index) && isLookedAt[index],
                negatives: fits ? word.negatives.count : 0,
                parts: fits ? word.parts.count : 0,
                sequences: first..<sequences.count
            )
        }
        (self.templates, self.sequences) = (templates, sequences)
    }
}
