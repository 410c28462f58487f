public import Core
private import Glibc

/// A word that the user taught, as a detector recognises it: templates in the model's embedding space.
public struct TaughtWord: Sendable, Equatable {
    /// Slope of the logistic curve from similarity to probability: from 10 % to 90 % within a similarity of 0.44, flat
    /// enough for thresholds to make a difference.
    static let slope: Float = 10

    /// Similarity minus `boundary` at which a word has the probability p: ln(p / (1 − p)) / slope, for 0 < p < 1.
    public static func margin(probability: Float) -> Float { logf(probability / (1 - probability)) / slope }

    /// The inverse of ``margin(probability:)``.
    public static func probability(margin: Float) -> Float { 1 / (1 + expf(-margin * slope)) }

    /// One of the model's words, which is then recognised in the user's voice too, or any other name.
    public let name: String
    /// Least probability at which it fires, 0…1.
    public let threshold: Float
    /// Thresholds for sensitivities and modes, as far as they could be estimated.
    public let sensitivities: SensitivityTable<Float>
    /// `[templates × dimensions]`: the embedding at the word's end, then those before it.
    public let templates: [[Float]]
    /// Where in time the templates lie.
    public let alignment: TemplateAlignment
    /// Similarity, −1…1, at which the probability is 0.5.
    public let boundary: Float
    /// What is not the word, though it is like it: vectors to compare with as with `templates`, `[n × templates × dimensions]`.
    public let negatives: [[[Float]]]

    /// The parts of a phrase, said alone: vectors to compare with as with `templates`, `[parts × templates × dimensions]`.
    public let parts: [[[Float]]]

    /// A phrase that is as similar to one of its parts as to its takes counts as `boundary` and so much more; where it is more similar
    /// to the part, its similarity falls twice as fast. Chosen by 43 times "computer" and ten times "hey computer" by real people: from
    /// 0.25 to 0.4 one or none of the former is found, and nearly as many of the latter as without parts, at 0.2 fewer.
    private static let (partAllowance, partWeight): (Float, Float) = (0.3, 2)
    /// Weight of a negative: the word's similarity counts as `boundary` where it is that of the negative, and rises twice as fast.
    private static let negativeWeight: Float = 2

    /// - Returns: nil without templates, with templates of different lengths, or beyond ``TemplateAlignment/longestReach``.
    public init?(
        name: String,
        threshold: Float,
        sensitivities: SensitivityTable<Float> = SensitivityTable(),
        templates: [[Float]],
        templateSpacing: Int,
        boundary: Float,
        negatives: [[[Float]]] = [],
        parts: [[[Float]]] = []
    ) {
        guard let first = templates.first, !first.isEmpty, templates.allSatisfy({ $0.count == first.count }),
            templateSpacing >= 0, (templates.count - 1) * (templateSpacing + 1) < TemplateAlignment.longestReach
        else { return nil }
        self.name = name
        self.threshold = threshold
        self.sensitivities = sensitivities
        self.templates = templates
        alignment = TemplateAlignment(count: templates.count, spacing: templateSpacing)
        self.boundary = boundary
        func alike(_ vectors: [[Float]]) -> Bool {
            vectors.count == templates.count && vectors.allSatisfy { $0.count == first.count }
        }
        self.negatives = negatives.filter(alike)
        self.parts = parts.filter(alike)
    }

    /// The similarity that counts, beside the most similar negative.
    public func similarity(_ said: Float, besides negative: Float) -> Float {
        Self.similarity(said, besides: negative, boundary: boundary)
    }

    static func similarity(_ said: Float, besides negative: Float, boundary: Float) -> Float {
        min(said, boundary + negativeWeight * (said - negative))
    }

    static func similarity(_ said: Float, besidesPart part: Float, boundary: Float) -> Float {
        min(said, boundary + partAllowance + partWeight * (said - part))
    }

    /// The highest probability in a recording, as a detector computes it. Allocates.
    ///
    /// - Parameter embeddings: at each hop, `[hops × dimensions]`.
    public func highestProbability(in embeddings: [[Float]]) -> Float {
        var scorer = TaughtWordScorer([self], dimensions: templates.first?.count ?? 0)
        var highest: Float = 0
        for embedding in embeddings {
            scorer.add(embedding)
            highest = max(highest, scorer.probabilities.first ?? 0)
        }
        return highest
    }
}

/// Computes for each hop the probability of each taught word, from the embeddings of the newest hops.
///
/// With sₜ the similarity of a word at hop t, its probability is 1 / (1 + exp(slope · (boundary − (sₜ + sₜ₋₁) / 2))). The mean
/// of two hops suppresses similarities that last for one hop by chance. Nothing is allocated after `init`.
struct TaughtWordScorer {
    private typealias Lanes = SIMD16<Float>

    private struct Word {
        /// Index of the first lanes of its first template.
        var start: Int
        /// Of no templates if they come from another model.
        var alignment: TemplateAlignment
        var boundary: Float
        /// How many negatives follow its templates, and how many parts follow these.
        var negatives: Int
        var parts: Int
    }

    /// `[words]`, 0…1.
    private(set) var probabilities: [Float]
    /// Similarities at the newest hop, `[words]`.
    private var similarities: [Float]

    private let words: [Word]
    /// Unit vectors, `[templates × lanesPerVector]`, zero-padded.
    private let templates: [Lanes]
    /// Ring of the newest embeddings as unit vectors, `[hops × lanesPerVector]`.
    private var recent: [Lanes]
    private let lanesPerVector: Int
    private let hops: Int
    /// Row of the newest embedding.
    private var newest = 0

    /// - Parameter dimensions: of the model's embedding. Words of another embedding have probability 0.
    init(_ words: [TaughtWord], dimensions: Int) {
        lanesPerVector = (dimensions + Lanes.scalarCount - 1) / Lanes.scalarCount
        hops = TemplateAlignment.longestReach + 2
        var templates: [Lanes] = []
        self.words = words.map { word in
            let fits = word.templates.allSatisfy { $0.count == dimensions }
            let entry = Word(
                start: templates.count,
                alignment: fits ? word.alignment : TemplateAlignment(count: 0, spacing: 0),
                boundary: word.boundary,
                negatives: fits ? word.negatives.count : 0,
                parts: fits ? word.parts.count : 0
            )
            if fits {
                let all = word.templates + word.negatives.joined() + word.parts.joined()
                for template in all { templates += Self.unit(template) }
            }
            return entry
        }
        self.templates = templates
        recent = Array(repeating: .zero, count: hops * lanesPerVector)
        probabilities = Array(repeating: 0, count: words.count)
        similarities = probabilities
    }

    /// Adds the embedding of one hop and updates `probabilities`.
    mutating func add(_ embedding: [Float]) {
        newest = (newest + 1) % hops
        Self.unit(embedding, into: &recent, at: newest * lanesPerVector)
        for index in words.indices {
            let similarity = similarity(to: words[index])
            probabilities[index] = probability(of: index, similarity)
            similarities[index] = similarity
        }
    }

    /// Computes in `ahead` what `probabilities` would become if this embedding came next; changes nothing else.
    mutating func lookAhead(_ embedding: [Float], into ahead: inout [Float]) {
        let row = (newest + 1) % hops
        let kept = newest
        // The row of the oldest embedding, which no template reaches.
        Self.unit(embedding, into: &recent, at: row * lanesPerVector)
        newest = row
        for index in words.indices { ahead[index] = probability(of: index, similarity(to: words[index])) }
        newest = kept
        for lane in 0..<lanesPerVector { recent[row * lanesPerVector + lane] = .zero }
    }

    /// Resets to the initial state, for example after a gap in the audio.
    mutating func flush() {
        for index in recent.indices { recent[index] = .zero }
        for index in probabilities.indices {
            probabilities[index] = 0
            similarities[index] = 0
        }
    }

    private func probability(of index: Int, _ newest: Float) -> Float {
        guard words[index].alignment.count > 0 else { return 0 }
        let exponent = TaughtWord.slope * (words[index].boundary - (newest + similarities[index]) / 2)
        // Below 0.25 %, the usual case, the exponential is not worth its time.
        return exponent > 6 ? 0 : 1 / (1 + expf(exponent))
    }

    private func similarity(to word: Word) -> Float {
        let said = similarity(to: word, at: 0)
        // Far below the boundary a negative changes nothing that matters.
        guard word.negatives + word.parts > 0, said > word.boundary - 0.3 else { return said }
        let negative = highest(of: word, from: 1, count: word.negatives)
        let part = highest(of: word, from: 1 + word.negatives, count: word.parts)
        let counted = TaughtWord.similarity(said, besides: negative, boundary: word.boundary)
        return min(counted, TaughtWord.similarity(said, besidesPart: part, boundary: word.boundary))
    }

    /// The highest similarity to some of its negatives and parts; −1 for none.
    private func highest(of word: Word, from first: Int, count: Int) -> Float {
        var highest: Float = -1
        for index in 0..<count { highest = max(highest, similarity(to: word, at: first + index)) }
        return highest
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
