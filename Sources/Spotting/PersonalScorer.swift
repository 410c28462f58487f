/// Tells from the embeddings of the newest hops how likely it is that each of the user's words was just said.
///
/// A word is likened to what was heard by the cosine between its anchors and the embeddings at their hops; an anchor before
/// the last may lie a hop earlier or later, as nobody says a phrase twice at one speed. A logistic curve makes a
/// probability of it. Nothing is allocated after `init`.
struct PersonalScorer {
    private typealias Part = SIMD16<Float>

    private struct Word {
        /// Index of its first anchor's first part.
        var start: Int
        var anchors: Int
        var lag: Int
        var boundary: Float
    }

    /// One a word, of the mean likeness of the newest two hops: one alone may be like a word by chance.
    private(set) var probabilities: [Float]
    private var likenesses: [Float]

    private let words: [Word]
    /// Unit vectors in parts, those of each anchor one after the other.
    private let anchors: [Part]
    /// The newest embeddings as unit vectors, a ring.
    private var recent: [Part]
    private let parts: Int
    private let hops: Int
    private var next = 0

    /// - Parameter dimensions: of the model's embedding; words of another model are never heard.
    init(_ words: [PersonalWord], dimensions: Int) {
        parts = (dimensions + Part.scalarCount - 1) / Part.scalarCount
        hops = PersonalWord.longestReach + 2
        var anchors: [Part] = []
        self.words = words.map { word in
            let fits = word.anchors.allSatisfy { $0.count == dimensions }
            let entry = Word(
                start: anchors.count,
                anchors: fits ? word.anchors.count : 0,
                lag: word.lag,
                boundary: word.boundary
            )
            if fits { for anchor in word.anchors { anchors += Self.unit(anchor) } }
            return entry
        }
        self.anchors = anchors
        recent = Array(repeating: .zero, count: hops * parts)
        probabilities = Array(repeating: 0, count: words.count)
        likenesses = probabilities
    }

    /// Takes the newest hop's embedding in.
    mutating func add(_ embedding: [Float]) {
        next = (next + 1) % hops
        Self.unit(embedding, into: &recent, at: next * parts)
        for index in words.indices {
            let likeness = likeness(to: words[index])
            probabilities[index] = probability(of: index, likeness)
            likenesses[index] = likeness
        }
    }

    /// What `probabilities` would become in `ahead` if this embedding came next; nothing else changes.
    mutating func foresee(_ embedding: [Float], into ahead: inout [Float]) {
        let place = (next + 1) % hops
        let kept = next
        // The oldest vector is in nobody's reach.
        Self.unit(embedding, into: &recent, at: place * parts)
        next = place
        for index in words.indices { ahead[index] = probability(of: index, likeness(to: words[index])) }
        next = kept
        for part in 0..<parts { recent[place * parts + part] = .zero }
    }

    /// Forgets what was heard, as after a gap in the audio.
    mutating func flush() {
        for index in recent.indices { recent[index] = .zero }
        for index in probabilities.indices {
            probabilities[index] = 0
            likenesses[index] = 0
        }
    }

    private func probability(of index: Int, _ newest: Float) -> Float {
        guard words[index].anchors > 0 else { return 0 }
        let distance = PersonalWord.slope * (words[index].boundary - (newest + likenesses[index]) / 2)
        // Most words are nothing like what is heard: no more need be known of them.
        return distance > 6 ? 0 : 1 / (1 + naturalExponential(distance))
    }

    private func likeness(to word: Word) -> Float {
        guard word.anchors > 0 else { return 0 }
        var sum = likeness(at: 0, anchor: word.start)
        for anchor in 1..<max(1, word.anchors) {
            let age = anchor * word.lag
            let start = word.start + anchor * parts
            var best = likeness(at: age, anchor: start)
            for shift in 1...anchor {
                best = max(best, likeness(at: age - shift, anchor: start), likeness(at: age + shift, anchor: start))
            }
            sum += best
        }
        return sum / Float(word.anchors)
    }

    /// The cosine between the embedding so many hops ago and an anchor; 0 where that was before all that was heard.
    private func likeness(at age: Int, anchor: Int) -> Float {
        guard (0..<hops - 1).contains(age) else { return 0 }
        let place = (next + hops - age) % hops * parts
        var sum = Part.zero
        for part in 0..<parts { sum += recent[place + part] * anchors[anchor + part] }
        // By halves: one after the other, sixteen sums would wait for each other.
        let eight = sum.lowHalf + sum.highHalf
        let four = eight.lowHalf + eight.highHalf
        return four.sum()
    }

    private static func unit(_ vector: [Float]) -> [Part] {
        var parts = [Part](repeating: .zero, count: (vector.count + Part.scalarCount - 1) / Part.scalarCount)
        unit(vector, into: &parts, at: 0)
        return parts
    }

    /// A vector that is not finite, as after samples that are no numbers, is like nothing.
    private static func unit(_ vector: [Float], into target: inout [Part], at start: Int) {
        var square: Float = 0
        for index in vector.indices { square += vector[index] * vector[index] }
        let scale = square.isFinite && square > 0 ? 1 / square.squareRoot() : 0
        for index in vector.indices {
            target[start + index / Part.scalarCount][index % Part.scalarCount] = scale == 0 ? 0 : vector[index] * scale
        }
    }
}
