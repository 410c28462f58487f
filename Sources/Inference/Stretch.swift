import KernelInterface

/// One stream through a model by many hops at once, as a file has them: each layer's weights are read once for all of them.
///
/// It answers to the last bit what a ``Session`` answers hop by hop. All memory is allocated at the start; it begins as a
/// stream that has heard digital silence for ever.
public struct Stretch: ~Copyable, Sendable {
    public let model: Model
    /// Hops of one call.
    public let hops: Int
    /// Posteriors of each hop, one a label, hop after hop.
    public private(set) var posteriors: [Float]
    /// Activity logits of each hop, oldest first; empty where the model has no activity layer.
    public private(set) var activity: [Float]
    /// Embedding of each hop, hop after hop; empty where nobody asked for them.
    public private(set) var embeddings: [Float]

    private let schedule: Schedule
    private let calibration: Calibration
    /// The stream's columns, a copy of them after endless silence, then scratch memory.
    private let arena: AlignedBuffer
    private let scratch: Int
    private let powers: Int
    private var newest: [Float]

    /// - Parameter embeds: whether embeddings are computed, for which a model may have layers of their own.
    /// - Returns: nil where the model does not stream, or a hop brings more than the window of a layer holds.
    public init?(_ model: Model, hops: Int, embeds: Bool = false) {
        let network = model.network
        let embeds = embeds && network.embedding != nil
        guard hops >= 1, network.streams, network.tensors.allSatisfy({ $0.columnsPerHop <= $0.columns }),
            network.tensors[network.output].columnsPerHop == 1,
            !embeds || network.embedding.map({ network.tensors[$0].columnsPerHop }) == 1
        else { return nil }
        self.model = model
        self.hops = hops
        schedule = Schedule.hops(hops, network, weights: model.weights, embeds: embeds)
        calibration = Calibration(model, prior: .stream)
        scratch = 2 * aligned(schedule.count)
        powers = scratch + aligned(max(model.frontEnd.scratchCount, schedule.scratchCount))
        arena = AlignedBuffer(count: powers + aligned(model.labelOfLogit.count))
        posteriors = Array(repeating: 0, count: hops * model.labels.count)
        activity = Array(repeating: 0, count: hops * model.activityCount)
        embeddings = Array(repeating: 0, count: embeds ? hops * model.embeddingCount : 0)
        newest = Array(repeating: 0, count: model.labels.count)
        let silence = [Float](repeating: 0, count: samples)
        // A layer knows nothing older than the window; what it knew of before is gone by then.
        for _ in 0...(model.windowSamples / (hops * model.hopSamples) + 1) { score(silence.span) }
        (arena.base + aligned(schedule.count)).update(from: arena.base, count: schedule.count)
    }

    /// Samples that a call takes: those of the hops, and before them what the first frame reaches back.
    public var samples: Int { hops * model.hopSamples + lead }
    /// Samples of a call that stand before its first hop: the last of the call before.
    public var lead: Int { max(0, model.frontEnd.frameSamples - model.frontEnd.hopSamples) }

    /// Hears the next hops.
    public mutating func score(_ samples: Span<Float>) {
        precondition(samples.count == self.samples, "a stretch has \(self.samples) samples")
        let base = arena.base
        schedule.age(base)
        model.frontEnd.run(
            samples,
            columns: schedule.inputColumns,
            to: base + schedule.inputOffset,
            scratch: base + scratch,
            kernels: model.kernels
        )
        schedule.run(base, weights: model.weights.buffer.base, kernels: model.kernels, scratch: base + scratch)
        let logits = model.labelOfLogit.count
        for hop in 0..<hops {
            // The answer's place is the newest hop's.
            let answer = base + schedule.output - (hops - 1 - hop) * logits
            _ = calibration.apply(answer, to: &newest, powers: base + powers)
            for label in newest.indices { posteriors[hop * newest.count + label] = newest[label] }
        }
        let first = base + schedule.activity - (hops - 1) * model.activityCount
        for index in activity.indices { activity[index] = first[index] }
        let oldest = base + schedule.embedding - (embeddings.count - embeddings.count / hops)
        for index in embeddings.indices { embeddings[index] = oldest[index] }
    }

    /// Goes back to a stream that has heard digital silence for ever.
    public mutating func reset() {
        arena.base.update(from: arena.base + aligned(schedule.count), count: schedule.count)
    }
}
