import KernelInterface

/// A model's front end alone: computes the network's input columns from samples.
///
/// `init` allocates all memory; `run` allocates nothing.
public struct FeatureExtractor: ~Copyable, Sendable {
    private let model: Model
    private let arena: Arena
    private let output: Arena.Region
    private let scratch: Arena.Region

    /// - Parameter newest: number of columns to compute, counted from the window's end, clamped to 1...all.
    public init(_ model: Model, newest: Int) {
        self.model = model
        let count = min(max(newest, 1), model.frontEnd.columns)
        var layout = Arena.Layout()
        output = layout.reserve(count * model.frontEnd.channels)
        scratch = layout.reserve(model.frontEnd.scratchCount)
        arena = Arena(layout)
    }

    /// Computes the newest columns of a window of `windowSamples` samples.
    public mutating func run(window samples: Span<Float>) {
        let count = output.count / model.frontEnd.channels
        model.frontEnd.run(
            samples.extracting(model.frontEnd.samples(ofNewest: count)),
            columns: count,
            to: arena[output],
            scratch: arena[scratch],
            kernels: model.kernels
        )
    }

    /// The columns of the last run, `[columns × channels]`, oldest first.
    public var columns: [Float] { Array(UnsafeBufferPointer(start: arena[output], count: output.count)) }
}
