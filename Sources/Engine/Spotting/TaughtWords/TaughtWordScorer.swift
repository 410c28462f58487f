private import Glibc
import Inference

/// Computes for each hop the probability of each taught word, from the embeddings of the newest hops.
///
/// With sₜ the similarity of a word at hop t, its probability is 1 / (1 + exp(slope · (boundary − (sₜ + sₜ₋₁) / 2))). The mean
/// of two hops suppresses similarities that last for one hop by chance. Nothing is allocated after `init`.
final class TaughtWordScorer: WordScorer {
    /// How far below its boundary a word is compared with all that it has; its probability is 8 % there.
    private static let nearBoundary: Float = 0.25

    /// `[words]`, 0…1.
    private(set) var probabilities: [Float]
    /// How a phrase stands beside its parts, `[words]`; infinite far below its boundary, where that is not computed, and for a word
    /// without parts.
    private(set) var partMargins: [PartMargin]
    /// Similarities and margins at the newest hop, `[words]`.
    private var similarities: [Float]
    private var newestMargins: [PartMargin]

    private let words: [TaughtTemplates.Word]
    private let templates: [Lanes]
    private let sequences: [(start: Int, hops: Int)]
    /// Ring of the newest embeddings as unit vectors, `[hops × lanesPerVector]`.
    private var recent: [Lanes]
    private let lanesPerVector: Int
    private let hops: Int
    /// Row of the newest embedding.
    private var newest = 0

    init(_ all: TaughtTemplates) {
        (words, templates, sequences) = (all.words, all.templates, all.sequences)
        lanesPerVector = all.lanesPerVector
        hops = max(TemplateAlignment.longestReach, HopWarping.steps) + 2
        recent = Array(repeating: .zero, count: hops * lanesPerVector)
        probabilities = Array(repeating: 0, count: words.count)
        similarities = probabilities
        partMargins = Array(repeating: .infinity, count: words.count)
        newestMargins = partMargins
    }

    convenience init(_ words: [TaughtWord], dimensions: Int, isLookedAt: [Bool] = []) {
        self.init(TaughtTemplates(words, dimensions: dimensions, isLookedAt: isLookedAt))
    }

    func add(hop: Span<Float>, embedding: [Float], to scores: inout WordScores) {
        add(embedding)
        for word in words.indices { scores.set(word, probabilities[word], partMargins[word]) }
    }

    /// Adds the embedding of one hop and updates `probabilities`.
    func add(_ embedding: [Float]) {
        newest = (newest + 1) % hops
        UnitVector.write(embedding.span, to: &recent, at: newest * lanesPerVector)
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
        UnitVector.write(embedding.span, to: &recent, at: row * lanesPerVector)
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

    private func similarity(to word: TaughtTemplates.Word) -> (similarity: Float, partMargin: PartMargin) {
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
    private func meanDistance(to word: TaughtTemplates.Word) -> Float {
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
    private func negative(of word: TaughtTemplates.Word) -> Float {
        var highest: Float = -1
        for index in 0..<word.negatives { highest = max(highest, similarity(to: word, at: 1 + index)) }
        return highest
    }

    /// How it stands beside its parts: of each gap between words, what is said before it, and what is said after it.
    private func partMargin(of word: TaughtTemplates.Word, _ said: Float) -> PartMargin {
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
    private func similarity(to word: TaughtTemplates.Word, at index: Int) -> Float {
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
}
