import Inference

/// How likely each of the user's own words is said anywhere in a clip: the highest that a stream would have known of it.
public struct ClipPersonalScorer: ~Copyable {
    /// Hops of quiet after the clip, in which what ends it is decided.
    private static let after = 4

    private let vocabulary: Vocabulary
    private var session: Session
    private var scorer: PersonalScorer

    public init(_ vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
        session = Session(vocabulary.model, embeds: true)
        scorer = PersonalScorer(vocabulary.personal, dimensions: vocabulary.model.embeddingCount)
    }

    /// - Parameter clip: samples at the model's rate.
    /// - Returns: a probability of each of the vocabulary's personal words.
    public mutating func score(_ clip: [Float]) -> [Float] {
        let model = vocabulary.model
        let (window, hop) = (model.windowSamples, model.hopSamples)
        let rest = (hop - clip.count % hop) % hop
        let audio =
            [Float](repeating: 0, count: window) + clip + [Float](repeating: 0, count: rest + Self.after * hop)
        session.reset()
        scorer.flush()
        var best = scorer.probabilities
        for end in stride(from: window + hop, through: audio.count, by: hop) {
            session.score(window: audio.span.extracting(end - window..<end))
            scorer.add(session.embedding)
            for index in best.indices { best[index] = max(best[index], scorer.probabilities[index]) }
        }
        return best
    }
}
