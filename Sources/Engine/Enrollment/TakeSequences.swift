import Inference
import Spotting
private import WakeWords

// The takes of a word as sequences of hops, which what is said is aligned with.

extension WordStore.Word {
    /// Those of its takes that have one; of many takes some that lie evenly among them.
    var sequences: [[[Float]]] {
        let all = takes.map(\.sequence).filter { !$0.isEmpty }
        guard all.count > TaughtWord.mostSequences else { return all }
        return (0..<TaughtWord.mostSequences).map { all[$0 * all.count / TaughtWord.mostSequences] }
    }

    /// The speech frames of its takes, likewise.
    var speechTakes: [[[Float]]] {
        let all = takes.map(\.speech).filter { !$0.isEmpty }
        guard all.count > SpeechTakes.mostTakes else { return all }
        return (0..<SpeechTakes.mostTakes).map { all[$0 * all.count / SpeechTakes.mostTakes] }
    }

    /// Similarity of a take to the other takes as a detector computes it, −1…1; nil for a single take or one with another number of
    /// templates.
    func similarity(ofTake index: Int) -> Float? {
        guard let similarity = templateSimilarity(ofTake: index) else { return nil }
        let others = takes.indices.filter { $0 != index }.map { takes[$0].sequence }.filter { !$0.isEmpty }
        let own = takes[index].sequence
        guard !others.isEmpty, !own.isEmpty else { return similarity }
        let sum = others.reduce(0) { $0 + HopWarping.distance(of: $1, in: own) }
        return TaughtWord.similarity(similarity, distance: sum / Float(others.count))
    }

    /// The same after a second look; nil for a take that has no speech frames, or where no other one has.
    func lookedSimilarity(ofTake index: Int) -> Float? {
        let others = takes.indices.filter { $0 != index }.map { takes[$0].speech }.filter { !$0.isEmpty }
        let own = takes[index].speech
        guard let similarity = similarity(ofTake: index), !others.isEmpty, !own.isEmpty else { return nil }
        let sum = others.reduce(0) { $0 + FrameWarping.distance(of: $1, in: own) }
        return SpeechTakes.similarity(similarity, distance: sum / Float(others.count))
    }

    /// Whether a take has a recording, but no sequence: an earlier version stored it.
    var lacksSequences: Bool { takes.contains { $0.sequence.isEmpty && !$0.templates.isEmpty } }

    /// The same of speech frames.
    var lacksSpeech: Bool {
        SpeechEmbedding.ofTakes != nil && takes.contains { $0.speech.isEmpty && !$0.templates.isEmpty }
    }

    /// Adds the sequences and the speech frames of takes that have a recording.
    mutating func addSequences(_ embedder: inout TakeEmbedder, _ model: Model) {
        for index in takes.indices where takes[index].sequence.isEmpty || takes[index].speech.isEmpty {
            guard let utterance = Self.utterance(takes[index].audio, model) else { continue }
            takes[index].sequence = embedder.sequence(of: utterance)
            takes[index].speech = embedder.speech(of: utterance)
        }
    }
}

extension HopWarping {
    /// The distance of a take's sequence from the last hops of another one.
    static func distance(of take: [[Float]], in hops: [[Float]]) -> Float {
        var warping = HopWarping()
        let newest = hops.suffix(Self.steps)
        for vector in take {
            var costs = SIMD16<Float>(repeating: 1)
            for (index, hop) in newest.enumerated() { costs[Self.steps - newest.count + index] -= dot(vector, hop) }
            warping.add(costs)
        }
        return warping.distance
    }
}

extension FrameWarping {
    /// The distance of a take's speech frames from the last frames of another one.
    static func distance(of take: [[Float]], in frames: [[Float]]) -> Float {
        var warping = FrameWarping()
        let newest = frames.suffix(Self.steps)
        for vector in take {
            var costs = SIMD32<Float>(repeating: 1)
            for (index, frame) in newest.enumerated() { costs[Self.steps - newest.count + index] -= dot(vector, frame) }
            warping.add(costs)
        }
        return warping.distance(ends: SpeechTakes.ends)
    }
}
