import KernelInterface

/// Many live streams through one model, one hop of each per call: each layer's weights are read once for a group of streams.
///
/// For servers with many microphones. Each stream's results equal those of its own ``Session`` to the last bit. `init` allocates all
/// memory; every stream starts in the state after endless digital silence.
public struct StreamBatch: ~Copyable, Sendable {
    public let model: Model
    public let streams: Int
    /// Posteriors of the newest hops, `[streams × labels]`.
    public private(set) var posteriors: [Float]
    /// Activity logits of the newest hops, `[streams × model.activityCount]`, oldest first.
    public private(set) var activity: [Float]

    /// Streams that go through the network together: enough to fill the kernels' tiles, and few enough that their state
    /// and the weights stay in the L2 cache.
    private static let groupSize = 12

    private let plan: ExecutionPlan
    private let calibration: Calibration
    private let arena: Arena
    private let states: Arena.Region
    /// Floats from one stream's state to the next.
    private let streamStride: Int
    private let scratch: Arena.Region
    private let probabilities: Arena.Region
    private var newest: [Float]

    /// - Returns: nil where the model does not stream.
    public init?(_ model: Model, streams: Int) {
        guard streams >= 1, let hop = model.plans.hop else { return nil }
        self.model = model
        self.streams = streams
        plan = hop
        calibration = Calibration(model, prior: .stream)
        // An odd number of cache lines: with a power of two, the same column of all streams would map to the same few cache sets.
        streamStride = Arena.aligned(hop.count) | 16
        var layout = Arena.Layout()
        states = layout.reserve(streams * streamStride)
        scratch = layout.reserve(model.frontEnd.scratchCount)
        probabilities = layout.reserve(model.labelOfLogit.count)
        arena = Arena(layout)
        posteriors = Array(repeating: 0, count: streams * model.labels.count)
        activity = Array(repeating: 0, count: streams * model.activityCount)
        newest = Array(repeating: 0, count: model.labels.count)
        let session = Session(model)
        for stream in 0..<streams { session.copyState(to: state(of: stream)) }
        readOutputs()
    }

    /// Scores the next hop of every stream; `window(i)` returns the newest `windowSamples` samples of stream i.
    public mutating func score(window: (Int) -> UnsafeBufferPointer<Float>) {
        for first in stride(from: 0, to: streams, by: Self.groupSize) {
            score(first..<min(first + Self.groupSize, streams), window)
        }
        readOutputs()
    }

    private func state(of stream: Int) -> UnsafeMutablePointer<Float> { arena[states] + stream * streamStride }

    private func score(_ group: Range<Int>, _ window: (Int) -> UnsafeBufferPointer<Float>) {
        let newest = model.frontEnd.samples(ofNewest: plan.inputColumns)
        for stream in group {
            let block = state(of: stream)
            plan.layout.shiftHistory(block)
            model.frontEnd.run(
                window(stream).span.extracting(newest),
                columns: plan.inputColumns,
                to: block + plan.inputOffset,
                scratch: arena[scratch],
                kernels: model.kernels
            )
        }
        plan.run(
            state(of: group.lowerBound),
            weights: model.weights.base,
            kernels: model.kernels,
            streams: group.count,
            streamStride: streamStride
        )
    }

    private mutating func readOutputs() {
        for stream in 0..<streams {
            let block = state(of: stream)
            _ = calibration.apply(block + plan.output, to: &newest, scratch: arena[probabilities])
            for label in newest.indices { posteriors[stream * newest.count + label] = newest[label] }
            let count = model.activityCount
            for index in 0..<count { activity[stream * count + index] = block[plan.activity + index] }
        }
    }
}
