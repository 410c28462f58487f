import KernelInterface

/// A model's front end alone, from samples to the columns that the network takes.
///
/// All its memory is allocated at the start; `run` allocates nothing.
public struct FeatureRun: ~Copyable, Sendable {
    private let model: Model
    private let count: Int
    /// The columns, then scratch memory.
    private let arena: AlignedBuffer
    private let scratch: Int

    /// - Parameter newest: how many columns, counted from the window's end, at least one and at most all.
    public init(_ model: Model, newest: Int) {
        self.model = model
        count = min(max(newest, 1), model.frontEnd.columns)
        scratch = aligned(count * model.frontEnd.channels)
        arena = AlignedBuffer(count: scratch + model.frontEnd.scratchCount)
    }

    /// Computes the columns of a window of `windowSamples` samples.
    public mutating func run(window samples: Span<Float>) {
        model.frontEnd.run(
            samples,
            newest: count,
            to: arena.base,
            scratch: arena.base + scratch,
            kernels: model.kernels
        )
    }

    /// What the newest run gave, oldest column first, channels last.
    public var columns: [Float] {
        Array(UnsafeBufferPointer(start: arena.base, count: count * model.frontEnd.channels))
    }
}
