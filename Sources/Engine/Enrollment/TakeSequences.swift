import Inference
import Spotting

// The takes of a word as sequences of hops, which what is said is aligned with.

extension WordStore.Word {
    /// Those of its takes that have one; of many takes some that lie evenly among them.
    var sequences: [[[Float]]] {
        let all = takes.map(\.sequence).filter { !$0.isEmpty }
        guard all.count > TaughtWord.mostSequences else { return all }
        return (0..<TaughtWord.mostSequences).map { all[$0 * all.count / TaughtWord.mostSequences] }
    }

    /// Similarity of a take to the other takes as a detector computes it, −1…1; nil for a single take or one with another number of
    /// templates.
    func similarity(ofTake index: Int) -> Float? {
        guard let similarity = templateSimilarity(ofTake: index) else { return nil }
        let others = takes.indices.filter { $0 != index }.map { takes[$0].sequence }.filter { !$0.isEmpty }
        let own = takes[index].sequence
        guard !others.isEmpty, !own.isEmpty else { return similarity }
        let sum = others.reduce(0) { $0 + TimeWarping.distance(of: $1, in: own) }
        return TaughtWord.similarity(similarity, distance: sum / Float(others.count))
    }

    /// Whether a take has a recording, but no sequence: an earlier version stored it.
    var lacksSequences: Bool { takes.contains { $0.sequence.isEmpty && !$0.templates.isEmpty } }

    /// Adds the sequences of takes that have a recording.
    mutating func addSequences(_ embedder: inout TakeEmbedder, _ model: Model) {
        for index in takes.indices where takes[index].sequence.isEmpty {
            guard let utterance = Self.utterance(takes[index].audio, model) else { continue }
            takes[index].sequence = embedder.sequence(of: utterance)
        }
    }
}

extension TimeWarping {
    /// The distance of a take's sequence from the last hops of another one.
    static func distance(of take: [[Float]], in hops: [[Float]]) -> Float {
        var warping = TimeWarping()
        let newest = hops.suffix(Self.hops)
        for vector in take {
            var costs = Hops(repeating: 1)
            for (index, hop) in newest.enumerated() { costs[Self.hops - newest.count + index] -= dot(vector, hop) }
            warping.add(costs)
        }
        return warping.distance
    }
}
