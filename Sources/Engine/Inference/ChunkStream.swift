import KernelInterface

/// One stream through a model, many hops per call, for audio files: the weights are read once for all hops of a chunk.
///
/// Its results equal those of a ``InferenceStream``, hop by hop, to the last bit. `init` allocates all memory; the stream
/// starts in the state after endless digital silence.
public struct ChunkStream: ~Copyable, Sendable {
    public let model: Model
    /// Hops of one chunk.
    public let hops: Int
    /// Posteriors of the newest chunk, `[hops × labels]`.
    public private(set) var posteriors: [Float]
    /// Activity logits of the newest chunk, `[hops × model.activityCount]`, oldest first.
    public private(set) var activity: [Float]
    /// Embeddings of the newest chunk, `[hops × model.embeddingCount]`; empty unless `embeds` is true.
    public private(set) var embeddings: [Float]

    private let plan: ExecutionPlan
    private let calibration: Calibration
    private let arena: Arena
    private let stream: Arena.Region
    /// The state after endless digital silence.
    private let silence: Arena.Region
    private let scratch: Arena.Region
    private let probabilities: Arena.Region
    private var newest: [Float]

    /// - Parameter embeds: whether to compute embeddings, which may need layers of their own.
    /// - Returns: nil where the model does not stream, or a hop adds more columns than a layer has in a window.
    public init?(_ model: Model, hops: Int, embeds: Bool = false) {
        let network = model.network
        let embeds = embeds && !network.embedding.isEmpty
        guard hops >= 1, network.streams, network.tensors.allSatisfy({ $0.columnsPerHop <= $0.columns }),
            network.tensors[network.output].columnsPerHop == 1,
            !embeds || network.embedding.allSatisfy({ network.tensors[$0].columnsPerHop == 1 })
        else { return nil }
        self.init(silent: model, hops, embeds: embeds)
        let zeros = [Float](repeating: 0, count: sampleCount)
        // No layer depends on samples before the window: after a window of silence, none depends on the initial zeros.
        for _ in 0...(model.windowSamples / (hops * model.hopSamples) + 1) { score(zeros.span) }
        arena.copy(stream, to: silence)
    }

    /// Memory of zeros. Swift 6.2 calls mutating methods only after another `init`.
    private init(silent model: Model, _ hops: Int, embeds: Bool) {
        let network = model.network
        self.model = model
        self.hops = hops
        // As in all streams, embeddings stay zero where their layers cannot be loaded.
        let canEmbed = embeds && (try? model.loadEmbedding()) != nil
        plan = ExecutionPlan(network, weights: model.weights, embeds: canEmbed, hops: hops)
        calibration = Calibration(model, prior: .stream)
        var layout = Arena.Layout()
        stream = layout.reserve(plan.count)
        silence = layout.reserve(plan.count)
        scratch = layout.reserve(model.frontEnd.scratchCount)
        probabilities = layout.reserve(model.labelOfLogit.count)
        arena = Arena(layout)
        posteriors = Array(repeating: 0, count: hops * model.labels.count)
        activity = Array(repeating: 0, count: hops * model.activityCount)
        embeddings = Array(repeating: 0, count: embeds ? hops * model.embeddingCount : 0)
        newest = Array(repeating: 0, count: model.labels.count)
    }

    /// Samples of one call: `contextSamples`, then the samples of the hops.
    public var sampleCount: Int { hops * model.hopSamples + contextSamples }
    /// Samples before the first hop that its first frame overlaps: the last ones of the previous call.
    public var contextSamples: Int { max(0, model.frontEnd.frameSamples - model.frontEnd.hopSamples) }

    /// Scores the next `hops` hops, given `sampleCount` samples.
    public mutating func score(_ samples: Span<Float>) {
        precondition(samples.count == sampleCount, "a chunk has \(sampleCount) samples")
        let block = arena[stream]
        plan.layout.shiftHistory(block)
        model.run(plan, samples, state: block, scratch: arena[scratch])
        // The plan gives the position of the newest hop's outputs; the outputs of earlier hops are before them.
        let logitCount = model.labelOfLogit.count
        for hop in 0..<hops {
            let logits = block + plan.output - (hops - 1 - hop) * logitCount
            _ = calibration.apply(logits, to: &newest, scratch: arena[probabilities])
            for label in newest.indices { posteriors[hop * newest.count + label] = newest[label] }
        }
        let firstActivity = block + plan.activity - (hops - 1) * model.activityCount
        for index in activity.indices { activity[index] = firstActivity[index] }
        for hop in 0..<hops where !embeddings.isEmpty {
            plan.embedding?.read(from: block, before: hops - 1 - hop, into: &embeddings, at: hop * model.embeddingCount)
        }
    }

    /// Returns to the state after endless digital silence.
    public mutating func reset() { arena.copy(silence, to: stream) }
}
