public import Inference

/// Neighbouring hops of a recording, with as much audio before them as the model remembers.
public struct AudioChunk: Sendable {
    /// The audio before, then the hops.
    public var samples: [Float]
    public let hops: Int
    /// Nothing was heard before: the samples before the hops stand for silence.
    public let isFirst: Bool

    public init(samples: [Float], hops: Int, isFirst: Bool) {
        self.samples = samples
        self.hops = hops
        self.isFirst = isFirst
    }
}

/// What a model makes of a piece.
public struct ChunkScores: Sendable {
    /// Posteriors hop after hop, one a label.
    public var posteriors: [Float] = []
    /// Activity logits hop after hop; empty where the model has no activity layer.
    public var activity: [Float] = []
    /// Embeddings hop after hop; empty where nobody asked for them.
    public var embeddings: [Float] = []

    public init() {}
}

/// Scores pieces of recordings in any order, many hops at once: what a stream would have said, to the last bit.
///
/// One serves one thread at a time; pieces of one recording may go to several.
public final class ChunkScorer {
    /// Hops that are computed at once: columns for whole tiles of six in the deepest layer too.
    public static let hopsAtOnce = 12

    /// Samples that stand before a piece's hops.
    public let lead: Int
    private let hop: Int
    private var session: ChunkSession

    /// - Parameter embeds: whether the pieces are embedded too, as the user's own words want it.
    /// - Returns: nil where the model does not stream.
    public init?(_ model: Model, embeds: Bool) {
        guard let session = ChunkSession(model, hops: ChunkScorer.hopsAtOnce, embeds: embeds) else { return nil }
        hop = model.hopSamples
        lead = ChunkScorer.lead(of: model, session)
        self.session = session
    }

    /// Samples of a window, rounded up to whole calls of the session, and its context.
    private static func lead(of model: Model, _ session: borrowing ChunkSession) -> Int {
        let length = session.hops * model.hopSamples
        return (model.windowSamples + length - 1) / length * length + session.contextSamples
    }

    /// - Parameter piece: `lead` samples and then its hops.
    public func score(_ piece: AudioChunk) -> ChunkScores {
        precondition(piece.samples.count == lead + piece.hops * hop, "a piece has \(lead) samples before its hops")
        var answers = ChunkScores()
        let labels = session.posteriors.count / session.hops
        let steps = session.activity.count / session.hops
        let dimensions = session.embeddings.count / session.hops
        answers.embeddings.reserveCapacity(piece.hops * dimensions)
        answers.posteriors.reserveCapacity(piece.hops * labels)
        answers.activity.reserveCapacity(piece.hops * steps)
        var next = piece.isFirst ? lead - session.contextSamples : 0
        if piece.isFirst { session.reset() }
        while next + session.contextSamples < piece.samples.count {
            let count = min(session.sampleCount, piece.samples.count - next)
            if count == session.sampleCount {
                session.score(piece.samples.span.extracting(next..<next + count))
            } else {
                // Beyond the piece's end nothing is asked.
                let rest = [Float](repeating: 0, count: session.sampleCount - count)
                let padded = piece.samples[next..<next + count] + rest
                session.score(padded.span)
            }
            if next + session.contextSamples >= lead {
                let hops = (count - session.contextSamples) / hop
                answers.posteriors += session.posteriors.prefix(hops * labels)
                answers.activity += session.activity.prefix(hops * steps)
                answers.embeddings += session.embeddings.prefix(hops * dimensions)
            }
            next += session.hops * hop
        }
        return answers
    }
}
