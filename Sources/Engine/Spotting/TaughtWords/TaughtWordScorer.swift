private import Glibc
import Inference

/// Computes for each hop the probability of each taught word, from the embeddings of the newest hops.
///
/// With sₜ the similarity of a word at hop t, its probability is 1 / (1 + exp(slope · (boundary − (sₜ + sₜ₋₁) / 2))). The mean
/// of two hops suppresses similarities that last for one hop by chance. Nothing is allocated after `init`.
final class TaughtWordScorer: WordScorer {
    private typealias Lanes = SIMD16<Float>
    /// How far below its boundary a word is compared with all that it has; its probability is 8 % there.
    private static let nearBoundary: Float = 0.25

    private struct Word {
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

    /// `[words]`, 0…1.
    private(set) var probabilities: [Float]
    /// How a phrase stands beside its parts, `[words]`; infinite far below its boundary, where that is not computed, and for a word
    /// without parts.
    private(set) var partMargins: [PartMargin]
    /// Similarities and margins at the newest hop, `[words]`.
    private var similarities: [Float]
    private var newestMargins: [PartMargin]

    private let words: [Word]
    /// Unit vectors, `[templates × lanesPerVector]`, zero-padded. Those of the sequences come last.
    private let templates: [Lanes]
    /// Of each sequence the index of its first lanes, and its hops.
    private let sequences: [(start: Int, hops: Int)]
    /// Ring of the newest embeddings as unit vectors, `[hops × lanesPerVector]`.
    private var recent: [Lanes]
    private let lanesPerVector: Int
    private let hops: Int
    /// Row of the newest embedding.
    private var newest = 0

    /// - Parameters:
    ///   - dimensions: of the model's embedding. Words of another embedding have probability 0.
    ///   - isLookedAt: for each word; none is if missing.
    init(_ words: [TaughtWord], dimensions: Int, isLookedAt: [Bool] = []) {
        lanesPerVector = (dimensions + Lanes.scalarCount - 1) / Lanes.scalarCount
        hops = max(TemplateAlignment.longestReach, HopWarping.steps) + 2
        var templates: [Lanes] = []
        var sequences: [(start: Int, hops: Int)] = []
        self.words = words.enumerated().map { index, word in
            let fits = word.templates.allSatisfy { $0.count == dimensions }
            let first = sequences.count
            let start = templates.count
            if fits {
                let all = word.templates + word.negatives.joined() + word.parts.joined()
                for template in all { templates += Self.unit(template) }
                for sequence in word.sequences {
                    sequences.append((templates.count, sequence.count))
                    for hop in sequence { templates += Self.unit(hop) }
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
        recent = Array(repeating: .zero, count: hops * lanesPerVector)
        probabilities = Array(repeating: 0, count: words.count)
        similarities = probabilities
        partMargins = Array(repeating: .infinity, count: words.count)
        newestMargins = partMargins
    }

    func add(hop: Span<Float>, embedding: [Float], to scores: inout WordScores) {
        add(embedding)
        for word in words.indices { scores.set(word, probabilities[word], partMargins[word]) }
    }

    /// Adds the embedding of one hop and updates `probabilities`.
    func add(_ embedding: [Float]) {
        newest = (newest + 1) % hops
        Self.unit(embedding, into: &recent, at: newest * lanesPerVector)
        for index in words.indices {
            let (similarity, margin) = similarity(to: words[index])
            probabilities[index] = probability(of: index, similarity)
            partMargins[index] = margin.mean(with: newestMargins[index])
            (similarities[index], newestMargins[index]) = (similarity, margin)
        }
    }

    func lookAhead(embedding: [Float], to scores: inout WordScores) {
        let row = (newest + 1) % hops
        let kept = newest
        // The row of the oldest embedding, which no template reaches.
        Self.unit(embedding, into: &recent, at: row * lanesPerVector)
        newest = row
        for index in words.indices {
            let (similarity, margin) = similarity(to: words[index])
            scores.set(index, probability(of: index, similarity), margin.mean(with: newestMargins[index]))
        }
        newest = kept
        for lane in 0..<lanesPerVector { recent[row * lanesPerVector + lane] = .zero }
    }

    /// Resets to the initial state, for example after a gap in the audio.
    func flush() {
        for index in recent.indices { recent[index] = .zero }
        for index in probabilities.indices {
            (probabilities[index], partMargins[index]) = (0, .infinity)
            (similarities[index], newestMargins[index]) = (0, .infinity)
        }
    }

    private func probability(of index: Int, _ newest: Float) -> Float {
        guard words[index].alignment.count > 0 else { return 0 }
        let exponent = TaughtWord.slope * (words[index].boundary - (newest + similarities[index]) / 2)
        // Below 0.25 %, the usual case, the exponential is not worth its time.
        return exponent > 6 ? 0 : 1 / (1 + expf(exponent))
    }

    private func similarity(to word: Word) -> (similarity: Float, partMargin: PartMargin) {
        let said = similarity(to: word, at: 0)
        // Far below the boundary, the usual case, the rest changes nothing that matters.
        guard said > word.boundary - Self.nearBoundary else { return (said, .infinity) }
        let (negative, margin) = (negative(of: word), partMargin(of: word, said))
        var counted = TaughtWord.similarity(said, besides: negative, boundary: word.negativeBoundary)
        if !word.isLookedAt {
            let besidesPart = TaughtWord.similarity(said, partMargin: margin.least, boundary: word.partBoundary)
            counted = min(counted, besidesPart)
        }
        guard !word.sequences.isEmpty else { return (counted, margin) }
        return (TaughtWord.similarity(counted, distance: meanDistance(to: word)), margin)
    }

    /// The mean distance of the newest hops to the word's sequences, 0…2.
    private func meanDistance(to word: Word) -> Float {
        var sum: Float = 0
        for index in word.sequences {
            let sequence = sequences[index]
            var warping = HopWarping()
            for hop in 0..<sequence.hops {
                var costs = SIMD16<Float>(repeating: 1)
                for age in 0..<HopWarping.steps {
                    costs[HopWarping.steps - 1 - age] -= cosine(
                        at: age,
                        template: sequence.start + hop * lanesPerVector
                    )
                }
                warping.add(costs)
            }
            sum += warping.distance
        }
        return sum / Float(word.sequences.count)
    }

    /// The highest similarity to its negatives; −1 for none.
    private func negative(of word: Word) -> Float {
        var highest: Float = -1
        for index in 0..<word.negatives { highest = max(highest, similarity(to: word, at: 1 + index)) }
        return highest
    }

    /// How it stands beside its parts: of each gap between words, what is said before it, and what is said after it.
    private func partMargin(of word: Word, _ said: Float) -> PartMargin {
        var margin = PartMargin.infinity
        for index in 0..<word.parts {
            let below = said - similarity(to: word, at: 1 + word.negatives + index)
            if index.isMultiple(of: 2) {
                margin.beginning = min(margin.beginning, below)
            } else {
                margin.end = min(margin.end, below)
            }
        }
        return margin
    }

    /// The similarity to the templates (0), or to a negative or a part (from 1 on).
    private func similarity(to word: Word, at index: Int) -> Float {
        let start = word.start + index * word.alignment.count * lanesPerVector
        return word.alignment.similarity { template, age in
            cosine(at: age, template: start + template * lanesPerVector)
        }
    }

    /// The cosine between a template and the embedding `age` hops before the newest; 0 outside the ring.
    private func cosine(at age: Int, template: Int) -> Float {
        guard (0..<hops - 1).contains(age) else { return 0 }
        let row = (newest + hops - age) % hops * lanesPerVector
        var sum = Lanes.zero
        for lane in 0..<lanesPerVector { sum += recent[row + lane] * templates[template + lane] }
        // Pairwise: sixteen additions in sequence would wait for each other.
        let eight = sum.lowHalf + sum.highHalf
        let four = eight.lowHalf + eight.highHalf
        return four.sum()
    }

    private static func unit(_ vector: [Float]) -> [Lanes] {
        var lanes = [Lanes](repeating: .zero, count: (vector.count + Lanes.scalarCount - 1) / Lanes.scalarCount)
        unit(vector, into: &lanes, at: 0)
        return lanes
    }

    /// Scales a vector to length 1. A vector with NaN or infinite elements, because a sample was, becomes zero: its
    /// cosine with every template is 0.
    private static func unit(_ vector: [Float], into target: inout [Lanes], at start: Int) {
        var square: Float = 0
        for index in vector.indices { square += vector[index] * vector[index] }
        let scale = square.isFinite && square > 0 ? 1 / square.squareRoot() : 0
        for index in vector.indices {
            let value = scale == 0 ? 0 : vector[index] * scale
            target[start + index / Lanes.scalarCount][index % Lanes.scalarCount] = value
        }
    }
}
