/// A model's network alone, from the front end's columns to the logits: to measure it, and to compare it with others.
///
/// Beside the window it keeps a stream. All its memory is allocated at the start; `window` and `hop` allocate nothing.
public struct NetworkRun: ~Copyable, Sendable {
    public let model: Model
    /// The columns of the stream, those of a whole window, then scratch memory.
    private let arena: AlignedBuffer
    private let windowStart: Int
    private let scratch: Int
    private var newestIsHop = false

    /// The stream begins with zeros in every layer, and has forgotten them after a window's length of hops.
    public init(_ model: Model) {
        self.model = model
        windowStart = aligned(model.answering.hop?.count ?? 0)
        scratch = windowStart + aligned(model.answering.window.count)
        arena = AlignedBuffer(
            count: scratch + max(model.answering.window.scratchCount, model.answering.hop?.scratchCount ?? 0)
        )
    }

    /// Channels of each column.
    public var channels: Int { model.network.tensors[0].channels }
    /// Columns of a window.
    public var windowColumns: Int { model.answering.window.inputColumns }
    /// Columns of a hop; 0 where the model does not stream.
    public var hopColumns: Int { model.answering.hop?.inputColumns ?? 0 }

    /// Computes the whole window of `windowColumns` columns, channels last.
    public mutating func window(_ columns: Span<Float>) {
        newestIsHop = false
        run(model.answering.window, columns, at: windowStart)
    }

    /// Computes what the next `hopColumns` columns bring; nothing where the model does not stream.
    public mutating func hop(_ columns: Span<Float>) {
        guard let hop = model.answering.hop else { return }
        newestIsHop = true
        hop.age(arena.base)
        run(hop, columns, at: 0)
    }

    /// The newest run's logits, then the activity logits of the newest hop.
    public var answer: [Float] {
        let schedule = newestIsHop ? model.answering.hop ?? model.answering.window : model.answering.window
        let block = arena.base + (newestIsHop ? 0 : windowStart)
        let logits = UnsafeBufferPointer(start: block + schedule.output, count: model.labelOfLogit.count)
        let activity = UnsafeBufferPointer(start: block + schedule.activity, count: model.activityCount)
        return Array(logits) + Array(activity)
    }

    private func run(_ schedule: Schedule, _ columns: Span<Float>, at start: Int) {
        let count = schedule.inputColumns * channels
        precondition(columns.count == count, "\(count) numbers expected, not \(columns.count)")
        let block = arena.base + start
        let input = block + schedule.inputOffset
        columns.withUnsafeBufferPointer { numbers in
            if let first = numbers.baseAddress { input.update(from: first, count: count) }
        }
        schedule.run(block, weights: model.weights.buffer.base, kernels: model.kernels, scratch: arena.base + scratch)
    }
}
