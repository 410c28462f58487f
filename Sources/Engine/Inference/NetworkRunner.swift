/// A model's network alone, from the front end's columns to the logits, for measurements and comparisons.
///
/// It keeps the state of one stream and the memory of a whole window. `init` allocates all memory; `window` and `hop`
/// allocate nothing.
public struct NetworkRunner: ~Copyable, Sendable {
    public let model: Model
    private let arena: Arena
    private let stream: Arena.Region
    private let wholeWindow: Arena.Region
    private var newestIsHop = false

    /// The stream's history starts as zeros in every layer; after one window of hops they no longer have an effect.
    public init(_ model: Model) {
        self.model = model
        let plans = model.plans
        var layout = Arena.Layout()
        stream = layout.reserve(plans.hop?.count ?? 0)
        wholeWindow = layout.reserve(plans.window.count)
        arena = Arena(layout)
    }

    /// Channels of each input column.
    public var channels: Int { model.network.tensors[0].channels }
    /// Input columns of a window.
    public var windowColumns: Int { model.plans.window.inputColumns }
    /// Input columns of a hop; 0 where the model does not stream.
    public var hopColumns: Int { model.plans.hop?.inputColumns ?? 0 }

    /// Computes a whole window, `[windowColumns × channels]`.
    public mutating func window(_ columns: Span<Float>) {
        setWindow(columns)
        runWindow()
    }

    /// Copies the columns of a window, `[windowColumns × channels]`, to where the front end would write them.
    public mutating func setWindow(_ columns: Span<Float>) { copy(columns, for: model.plans.window, in: wholeWindow) }

    /// Computes the window that was set; may be repeated.
    public mutating func runWindow() {
        newestIsHop = false
        run(model.plans.window, in: wholeWindow)
    }

    /// Computes the next hop, `[hopColumns × channels]`; does nothing where the model does not stream.
    public mutating func hop(_ columns: Span<Float>) {
        guard let hop = model.plans.hop else { return }
        newestIsHop = true
        hop.layout.shiftHistory(arena[stream])
        copy(columns, for: hop, in: stream)
        run(hop, in: stream)
    }

    /// The logits of the last run, then the activity logits of its newest hop.
    public var answer: [Float] {
        let plan = newestIsHop ? model.plans.hop ?? model.plans.window : model.plans.window
        let block = arena[newestIsHop ? stream : wholeWindow]
        let logits = UnsafeBufferPointer(start: block + plan.output, count: model.labelOfLogit.count)
        let activity = UnsafeBufferPointer(start: block + plan.activity, count: model.activityCount)
        return Array(logits) + Array(activity)
    }

    private func copy(_ columns: Span<Float>, for plan: ExecutionPlan, in region: Arena.Region) {
        let count = plan.inputColumns * channels
        precondition(columns.count == count, "expected \(count) numbers, not \(columns.count)")
        let target = arena[region] + plan.inputOffset
        columns.withUnsafeBufferPointer { numbers in
            if let first = numbers.baseAddress { target.update(from: first, count: count) }
        }
    }

    private func run(_ plan: ExecutionPlan, in region: Arena.Region) {
        plan.run(arena[region], weights: model.weights.base, kernels: model.kernels)
    }
}
