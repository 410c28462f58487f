/// The vector code of one instruction set, as function values: chosen once, called without a further look.
///
/// Every function takes memory that its caller has checked and allocates nothing. Tensors are channels last. Outputs do
/// not overlap inputs unless said.
public struct KernelSet: Sendable {
    /// Computes output columns of a convolution with packed weights: bias, then a residual that is added where there is
    /// one, then ReLU where asked.
    ///
    /// The residual lies as the output does. `packed` was filled by `packConvolution` and is 64-byte aligned. A column
    /// comes out the same to the last bit whichever columns are computed with it.
    public typealias Convolve =
        @Sendable (
            _ input: UnsafePointer<Float>,
            _ output: UnsafeMutablePointer<Float>,
            _ columns: ColumnRun,
            _ packed: UnsafePointer<Float>,
            _ shape: ConvolutionShape,
            _ residual: UnsafePointer<Float>?,
            _ rectify: Bool
        ) -> Void

    /// Rounds `count` numbers to whole ones as the quantiser says, each in as many bytes as the layout has for an input.
    ///
    /// Answers false where one of them is NaN or infinite, or so large that the product with the scale is; the first have no
    /// meaning in the output, the others are cut.
    public typealias Quantise =
        @Sendable (
            _ input: UnsafePointer<Float>,
            _ output: UnsafeMutableRawPointer,
            _ count: Int,
            _ quantiser: Quantiser
        ) -> Bool

    /// Computes what `Convolve` does from inputs that `Quantise` rounded and weights that `packQuantisedConvolution` packed
    /// in the same layout, for a shape that can be quantised.
    ///
    /// Columns of inputs begin at multiples of 4 bytes. Fewer than `quantisedGroup` inputs behind the last may be read, whatever
    /// they are. All instruction sets give the same to the last bit.
    public typealias ConvolveQuantised =
        @Sendable (
            _ input: UnsafeRawPointer,
            _ output: UnsafeMutablePointer<Float>,
            _ columns: ColumnRun,
            _ packed: UnsafePointer<Float>,
            _ shape: ConvolutionShape,
            _ residual: UnsafePointer<Float>?,
            _ rectify: Bool
        ) -> Void

    /// Adds two tensors of `count` floats, then ReLU where asked; the output may be either of them.
    public typealias Add =
        @Sendable (
            _ left: UnsafePointer<Float>,
            _ right: UnsafePointer<Float>,
            _ output: UnsafeMutablePointer<Float>,
            _ count: Int,
            _ rectify: Bool
        ) -> Void

    /// Averages each run of `run` neighbouring columns: `columns` output columns from `columns + run - 1`.
    public typealias Mean =
        @Sendable (
            _ input: UnsafePointer<Float>,
            _ output: UnsafeMutablePointer<Float>,
            _ columns: Int,
            _ run: Int,
            _ channels: Int
        ) -> Void

    /// Turns `count` logits into probabilities, `exp(scale · logit)` over its sum, with `scale` positive.
    ///
    /// Answers false, with the output unspecified, when a logit is NaN or infinite.
    public typealias Softmax =
        @Sendable (
            _ logits: UnsafePointer<Float>,
            _ output: UnsafeMutablePointer<Float>,
            _ count: Int,
            _ scale: Float
        ) -> Bool

    /// Turns samples into normalised log-mel columns, `columns` rows of `bands` floats.
    ///
    /// Frame i starts at sample `i · hopSamples`; there are `(columns − 1) · hopSamples + frameSamples` samples, and
    /// `shape.scratchCount` floats of scratch, 64-byte aligned. A sample that is NaN or infinite makes its frames NaN.
    public typealias LogMel =
        @Sendable (
            _ samples: UnsafePointer<Float>,
            _ output: UnsafeMutablePointer<Float>,
            _ columns: Int,
            _ tables: borrowing LogMelTables,
            _ scratch: UnsafeMutablePointer<Float>
        ) -> Void

    /// Filters and thins out: `output[i]` is the sum of `taps[k] · input[i · factor + k]`. `taps` is a multiple of 16.
    public typealias Decimate =
        @Sendable (
            _ input: UnsafePointer<Float>,
            _ output: UnsafeMutablePointer<Float>,
            _ count: Int,
            _ factor: Int,
            _ taps: UnsafePointer<Float>,
            _ tapCount: Int
        ) -> Void

    /// Multiplies and adds in registers alone, as fast as the processor can: what the others are measured against.
    ///
    /// Writes a vector of at most 16 floats, so that nothing of it can be left out. Returns the number of multiply-adds.
    public typealias Peak = @Sendable (_ rounds: Int, _ output: UnsafeMutablePointer<Float>) -> Int

    public let instructionSet: InstructionSet
    public let quantisedLayout: QuantisedLayout
    public let convolve: Convolve
    public let quantise: Quantise
    public let convolveQuantised: ConvolveQuantised
    public let add: Add
    public let mean: Mean
    public let softmax: Softmax
    public let logMel: LogMel
    public let decimate: Decimate
    /// Nil for the plain loops, which are not meant to be fast.
    public let peak: Peak?

    public init(
        _ instructionSet: InstructionSet,
        quantisedLayout: QuantisedLayout,
        convolve: @escaping Convolve,
        quantise: @escaping Quantise,
        convolveQuantised: @escaping ConvolveQuantised,
        add: @escaping Add,
        mean: @escaping Mean,
        softmax: @escaping Softmax,
        logMel: @escaping LogMel,
        decimate: @escaping Decimate,
        peak: Peak?
    ) {
        self.instructionSet = instructionSet
        self.quantisedLayout = quantisedLayout
        self.convolve = convolve
        self.quantise = quantise
        self.convolveQuantised = convolveQuantised
        self.add = add
        self.mean = mean
        self.softmax = softmax
        self.logMel = logMel
        self.decimate = decimate
        self.peak = peak
    }
}
