import KernelInterface

/// Many live streams through one model, a hop of each at a time: each layer's weights are read once for all of them.
///
/// A server with many microphones uses it. Every stream answers to the last bit what a ``Session`` of its own would. All
/// memory is allocated at the start; each stream begins as one that has heard digital silence for ever.
public struct StreamBatch: ~Copyable, Sendable {
    public let model: Model
    public let streams: Int
    /// Posteriors of each stream, one a label, stream after stream.
    public private(set) var posteriors: [Float]
    /// Activity logits of each stream's newest hop, oldest first; empty where the model has no activity layer.
    public private(set) var activity: [Float]

    /// Streams that go through the network together: so many that tiles are full, so few that what they keep stays in the
    /// processor's second cache beside the weights.
    private static let group = 12

    private let schedule: Schedule
    private let calibration: Calibration
    private let arena: AlignedBuffer
    /// Floats from one stream's block to the next.
    private let apart: Int
    private let scratch: Int
    private let powers: Int
    private var newest: [Float]

    /// - Returns: nil where the model does not stream.
    public init?(_ model: Model, streams: Int) {
        guard streams >= 1, let hop = model.answering.hop else { return nil }
        self.model = model
        self.streams = streams
        schedule = hop
        calibration = Calibration(model, prior: .stream)
        // An odd number of cache lines apart: at a power of two all streams' columns would meet in the same few sets.
        apart = aligned(hop.count) | 16
        scratch = streams * apart
        powers = scratch + aligned(max(model.frontEnd.scratchCount, min(streams, Self.group) * hop.scratchCount))
        arena = AlignedBuffer(count: powers + aligned(model.labelOfLogit.count))
        posteriors = Array(repeating: 0, count: streams * model.labels.count)
        activity = Array(repeating: 0, count: streams * model.activityCount)
        newest = Array(repeating: 0, count: model.labels.count)
        let session = Session(model)
        for stream in 0..<streams { session.copyStream(to: arena.base + stream * apart) }
        answer()
    }

    /// Hears the next hop of every stream; `window` gives each one's newest `windowSamples` samples.
    public mutating func score(window: (Int) -> UnsafeBufferPointer<Float>) {
        for first in stride(from: 0, to: streams, by: Self.group) {
            score(first..<min(first + Self.group, streams), window)
        }
        answer()
    }

    private func score(_ group: Range<Int>, _ window: (Int) -> UnsafeBufferPointer<Float>) {
        let base = arena.base
        for stream in group {
            let block = base + stream * apart
            schedule.age(block)
            model.frontEnd.run(
                window(stream).span,
                newest: schedule.inputColumns,
                to: block + schedule.inputOffset,
                scratch: base + scratch,
                kernels: model.kernels
            )
        }
        schedule.run(
            base + group.lowerBound * apart,
            weights: model.weights.buffer.base,
            kernels: model.kernels,
            scratch: base + scratch,
            streams: group.count,
            apart: apart
        )
    }

    private mutating func answer() {
        for stream in 0..<streams {
            let block = arena.base + stream * apart
            _ = calibration.apply(block + schedule.output, to: &newest, powers: arena.base + powers)
            for label in newest.indices { posteriors[stream * newest.count + label] = newest[label] }
            let count = model.activityCount
            for index in 0..<count { activity[stream * count + index] = block[schedule.activity + index] }
        }
    }
}
