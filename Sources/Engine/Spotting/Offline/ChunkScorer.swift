public import Inference

/// Consecutive hops of a recording, with as much audio before them as the model's state depends on.
public struct AudioChunk: Sendable {
    /// ``ChunkScorer/lead`` samples of the audio before the hops, then the samples of the hops.
    public var samples: [Float]
    /// Number of hops.
    public let hops: Int
    /// Whether the recording begins with this chunk; the samples before its hops then stand for silence.
    public let isFirst: Bool
}

/// The outputs of a model for a chunk, hop after hop.
public struct ChunkScores: Sendable {
    /// `[hops × labels]`
    public var posteriors: [Float] = []
    /// Logits, `[hops × activity steps]`; empty where the model has no activity layer.
    public var activity: [Float] = []
    /// `[hops × dimensions]`; empty unless the scorer was asked to embed.
    public var embeddings: [Float] = []

    public init() {}
}

/// Scores chunks of recordings in any order, many hops at once; the scores equal those of a streaming ``InferenceStream`` bit by bit.
///
/// An instance serves one thread at a time; chunks of one recording may go to several instances.
public final class ChunkScorer {
    /// Hops computed in one pass. In every layer they make a multiple of six columns, a tile of the kernels.
    public static let hopsAtOnce = 12

    /// Samples before a chunk's hops: the model's window in whole passes, and those that its first frame overlaps.
    public let lead: Int
    /// Samples of a hop.
    private let hop: Int
    private var session: ChunkStream

    /// - Parameter embeds: whether embeddings are computed too, as taught words need them.
    /// - Returns: nil where the model does not stream.
    public init?(_ model: Model, embeds: Bool) {
        guard let session = ChunkStream(model, hops: ChunkScorer.hopsAtOnce, embeds: embeds) else { return nil }
        hop = model.hopSamples
        let pass = session.hops * model.hopSamples
        lead = (model.windowSamples + pass - 1) / pass * pass + session.contextSamples
        self.session = session
    }

    /// Scores one chunk.
    ///
    /// - Parameter chunk: `lead` samples, then the samples of its hops; another number of samples is a programming
    ///   error.
    public func score(_ chunk: AudioChunk) -> ChunkScores {
        precondition(chunk.samples.count == lead + chunk.hops * hop, "a chunk has \(lead) samples before its hops")
        var scores = ChunkScores()
        let labels = session.posteriors.count / session.hops
        let steps = session.activity.count / session.hops
        let dimensions = session.embeddings.count / session.hops
        scores.embeddings.reserveCapacity(chunk.hops * dimensions)
        scores.posteriors.reserveCapacity(chunk.hops * labels)
        scores.activity.reserveCapacity(chunk.hops * steps)
        var next = chunk.isFirst ? lead - session.contextSamples : 0
        if chunk.isFirst { session.reset() }
        while next + session.contextSamples < chunk.samples.count {
            let count = min(session.sampleCount, chunk.samples.count - next)
            if count == session.sampleCount {
                session.score(chunk.samples.span.extracting(next..<next + count))
            } else {
                // The last pass is filled up with silence; its scores beyond the chunk's end are not used.
                let rest = [Float](repeating: 0, count: session.sampleCount - count)
                let padded = chunk.samples[next..<next + count] + rest
                session.score(padded.span)
            }
            if next + session.contextSamples >= lead {
                let hops = (count - session.contextSamples) / hop
                scores.posteriors += session.posteriors.prefix(hops * labels)
                scores.activity += session.activity.prefix(hops * steps)
                scores.embeddings += session.embeddings.prefix(hops * dimensions)
            }
            next += session.hops * hop
        }
        return scores
    }
}

/// Splits the scored chunks of a recording into hops, with the scores that a ``HopScorer`` gives.
struct ChunkHops {
    private let model: Model
    private let dimensions: Int
    private var scorers: WordScorers

    init(_ vocabulary: Vocabulary) {
        model = vocabulary.model
        dimensions = vocabulary.embeds ? model.embeddingCount : 0
        scorers = WordScorers(vocabulary)
    }

    /// Calls `body` for each hop of a chunk until it returns false; call it for the chunks in the recording's order.
    ///
    /// - Parameter body: gets the hop's scores, the activity up to its end, and the window that ends with it.
    /// - Returns: false if `body` returned false.
    mutating func forEach(
        of chunk: AudioChunk,
        _ scores: ChunkScores,
        _ body: (HopScores, ActivityHistory, Span<Float>) -> Bool
    ) -> Bool {
        let (hop, labels, steps) = (model.hopSamples, model.labels.count, model.activityCount)
        let first = chunk.samples.count - chunk.hops * hop
        for number in 0..<chunk.hops {
            let end = first + (number + 1) * hop
            scorers.add(
                hop: chunk.samples.span.extracting(end - hop..<end),
                logits: Array(scores.activity[number * steps..<(number + 1) * steps]),
                embedding: Array(scores.embeddings[number * dimensions..<(number + 1) * dimensions])
            )
            let posteriors = Array(scores.posteriors[number * labels..<(number + 1) * labels])
            let scores = HopScores(posteriors: posteriors, words: scorers.scores)
            let window = chunk.samples.span.extracting(end - model.windowSamples..<end)
            guard body(scores, scorers.activity, window) else { return false }
        }
        return true
    }
}
