import KernelInterface

/// One of the live streams that a ``StreamBatch`` scores: the state of its layers, and the outputs of its newest hop.
///
/// It takes part in the batch that made it, and starts in the state after endless digital silence.
public final class BatchStream {
    /// As those of a ``InferenceStream``.
    public fileprivate(set) var posteriors: [Float]
    public fileprivate(set) var embedding: [Float]
    public fileprivate(set) var activity: [Float]
    fileprivate let state: Arena

    fileprivate init(_ session: borrowing InferenceStream, stateCount: Int) {
        posteriors = Array(repeating: 0, count: session.posteriors.count)
        embedding = Array(repeating: 0, count: session.embedding.count)
        activity = Array(repeating: 0, count: session.activity.count)
        var layout = Arena.Layout()
        _ = layout.reserve(stateCount)
        state = Arena(layout)
    }

    /// The outputs of a session, without new memory.
    fileprivate func copyOutputs(_ session: borrowing InferenceStream) {
        for index in posteriors.indices { posteriors[index] = session.posteriors[index] }
        for index in embedding.indices { embedding[index] = session.embedding[index] }
        for index in activity.indices { activity[index] = session.activity[index] }
    }
}

/// Scores one hop of each of many live streams per call: each layer's weights are read once for a group of streams.
///
/// For servers with many microphones. Streams come and go, and each call may score others of them. The results equal those of a
/// ``InferenceStream`` for each stream to the last bit. All memory is allocated by `init` and ``makeStream()``. A model that does not stream
/// computes the whole window of one stream after the other.
public struct StreamBatch: ~Copyable {
    public let model: Model
    /// The newest samples of a window that a hop is computed from: its own and those before it that its frames overlap, or the whole
    /// window of a model that does not stream.
    public let newestSamples: Int

    /// Streams that go through the network together: enough to fill the kernels' tiles, and few enough that their state
    /// and the weights stay in the L2 cache.
    private static let groupSize = 12

    /// Nil where the model does not stream.
    private let plan: ExecutionPlan?
    private let calibration: Calibration
    /// Gives the state after silence, and scores whole windows.
    private var session: InferenceStream
    private let arena: Arena
    private let states: Arena.Region
    /// Floats from one stream's state to the next in a group.
    private let streamStride: Int
    private let scratch: Arena.Region
    private let probabilities: Arena.Region

    /// - Parameter embeds: whether to compute embeddings, which may need layers of their own.
    public init(_ model: Model, embeds: Bool = false) {
        self.model = model
        plan = model.streamMemory(embeds: embeds).plans.hop
        calibration = Calibration(model, prior: .stream)
        session = InferenceStream(model, embeds: embeds)
        let first = plan.map { model.frontEnd.samples(ofNewest: $0.inputColumns).lowerBound } ?? 0
        newestSamples = model.windowSamples - first
        // An odd number of cache lines: with a power of two, the same column of all streams would map to the same few cache sets.
        streamStride = Arena.aligned(plan?.count ?? 0) | 16
        var layout = Arena.Layout()
        states = layout.reserve(plan == nil ? 0 : Self.groupSize * streamStride)
        scratch = layout.reserve(model.frontEnd.scratchCount)
        probabilities = layout.reserve(model.labelOfLogit.count)
        arena = Arena(layout)
    }

    /// A new stream for this batch.
    public mutating func makeStream() -> BatchStream {
        let stream = BatchStream(session, stateCount: plan?.count ?? 0)
        reset(stream)
        return stream
    }

    /// Returns a stream to the state after endless digital silence.
    public mutating func reset(_ stream: BatchStream) {
        session.reset()
        session.copyState(to: stream.state.base)
        stream.copyOutputs(session)
    }

    /// Scores the next hop of each of these streams, none of which may occur twice.
    ///
    /// - Parameter window: returns the newest ``newestSamples`` samples of a stream, by its index among `streams`.
    public mutating func score(_ streams: [BatchStream], window: (Int) -> UnsafeBufferPointer<Float>) {
        guard let plan else {
            for index in streams.indices {
                session.scoreWhole(window: window(index).span)
                streams[index].copyOutputs(session)
            }
            return
        }
        for first in stride(from: 0, to: streams.count, by: Self.groupSize) {
            score(streams, first..<min(first + Self.groupSize, streams.count), plan, window)
        }
    }

    /// Scores a group: its states are copied next to each other, where the kernels reach them all in one call, and back.
    private func score(
        _ streams: [BatchStream],
        _ group: Range<Int>,
        _ plan: ExecutionPlan,
        _ window: (Int) -> UnsafeBufferPointer<Float>
    ) {
        for index in group {
            let block = arena[states] + (index - group.lowerBound) * streamStride
            block.update(from: streams[index].state.base, count: plan.count)
            plan.layout.shiftHistory(block)
            model.frontEnd.run(
                window(index).span,
                columns: plan.inputColumns,
                to: block + plan.inputOffset,
                scratch: arena[scratch],
                kernels: model.kernels
            )
        }
        plan.run(
            arena[states],
            weights: model.weights.base,
            kernels: model.kernels,
            streams: group.count,
            streamStride: streamStride
        )
        for index in group {
            let block = arena[states] + (index - group.lowerBound) * streamStride
            let stream = streams[index]
            _ = calibration.apply(block + plan.output, to: &stream.posteriors, scratch: arena[probabilities])
            plan.embedding?.read(from: block, into: &stream.embedding)
            for place in stream.activity.indices { stream.activity[place] = block[plan.activity + place] }
            stream.state.base.update(from: block, count: plan.count)
        }
    }
}
