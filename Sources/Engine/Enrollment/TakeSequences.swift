import Inference
import Spotting
private import WakeWords

// The takes of a word as sequences of hops, which what is said is aligned with.

extension WordStore.Word {
    /// Those of its takes that have one; of many takes some that lie evenly among them.
    var sequences: [[[Float]]] { Self.some(of: takes.map(\.sequence), most: TaughtWord.mostSequences) }

    /// The speech frames of its takes, likewise.
    var speechTakes: [[[Float]]] { Self.some(of: takes.map(\.speech), most: SpeechTakes.mostTakes) }

    private static func some(of all: [[[Float]]], most: Int) -> [[[Float]]] {
        let usable = all.filter { !$0.isEmpty }
        guard usable.count > most else { return usable }
        return (0..<most).map { usable[$0 * usable.count / most] }
    }

    /// Similarity of a take to the other takes as a detector computes it, −1…1; nil for a single take or one with another number of
    /// templates.
    func similarity(ofTake index: Int) -> Float? {
        guard let similarity = templateSimilarity(ofTake: index) else { return nil }
        let distance = distance(ofTake: index, \.sequence) {
            HopWarping.distance(of: $0, in: $1, ends: HopWarping.ends)
        }
        return distance.map { TaughtWord.similarity(similarity, distance: $0) } ?? similarity
    }

    /// The same after a second look; nil for a take that has no speech frames, or where no other one has.
    func lookedSimilarity(ofTake index: Int) -> Float? {
        guard let similarity = similarity(ofTake: index) else { return nil }
        let distance = distance(ofTake: index, \.speech) {
            FrameWarping.distance(of: $0, in: $1, ends: SpeechTakes.ends)
        }
        return distance.map { SpeechTakes.similarity(similarity, distance: $0) }
    }

    /// The mean distance of the other takes from the end of a take; nil where it, or all others, have no vectors.
    ///
    /// - Parameter vectors: of a take, `[steps × numbers]`.
    private func distance(
        ofTake index: Int,
        _ vectors: (WordStore.Take) -> [[Float]],
        _ distance: (_ take: [[Float]], _ steps: [[Float]]) -> Float
    ) -> Float? {
        let others = takes.indices.filter { $0 != index }.map { vectors(takes[$0]) }.filter { !$0.isEmpty }
        let own = vectors(takes[index])
        guard !others.isEmpty, !own.isEmpty else { return nil }
        return others.reduce(0) { $0 + distance($1, own) } / Float(others.count)
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
            if takes[index].sequence.isEmpty { takes[index].sequence = embedder.sequence(of: utterance) }
            if takes[index].speech.isEmpty { takes[index].speech = embedder.speech(of: utterance) }
        }
    }
}

extension TimeWarping {
    /// The distance of a take from the last steps of another one.
    ///
    /// - Parameter ends: it may end at so many of them.
    static func distance(of take: [[Float]], in steps: [[Float]], ends: Int) -> Float {
        let newest = steps.suffix(Self.steps)
        return distance(of: take, ends: ends) { vector in newest.map { dot(vector, $0) } }
    }

    /// - Parameter cosines: of a step of the take with the newest steps of a stream, of which there may be fewer than are compared.
    static func distance<Step>(of take: [Step], ends: Int, cosines: (_ step: Step) -> [Float]) -> Float {
        var warping = Self()
        for step in take {
            var costs = Costs(repeating: 1)
            let known = cosines(step)
            for (index, cosine) in known.enumerated() { costs[Self.steps - known.count + index] -= cosine }
            warping.add(costs)
        }
        return warping.distance(ends: ends)
    }
}
