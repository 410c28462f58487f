/// The kernels of one instruction set, as function values: chosen once at load time, then called without another check.
///
/// Tensors are channels-last, `[columns × channels]`; a column is one time step. No kernel allocates memory or checks
/// bounds: the caller does both. Outputs must not overlap inputs unless a kernel says that they may.
public struct KernelSet: Sendable {
    /// Computes output columns of a convolution: `output = relu(bias + weights * input + residual)`, where the residual and ReLU
    /// are optional.
    ///
    /// The residual has the layout of the output. `packed` comes from `packConvolution` and is 64-byte aligned. A column's result
    /// does not depend on which other columns are computed in the same call, to the last bit.
    public typealias Convolve =
        @Sendable (
            _ input: UnsafePointer<Float>,
            _ output: UnsafeMutablePointer<Float>,
            _ columns: StridedColumns,
            _ packed: UnsafePointer<Float>,
            _ shape: ConvolutionShape,
            _ residual: UnsafePointer<Float>?,
            _ relu: Bool
        ) -> Void

    /// Quantises `count` floats, each to `QuantisedLayout.inputBytes` bytes.
    ///
    /// Returns false where `input · scale` is NaN or infinite for any of them. The output for NaN is unspecified; an infinity is
    /// clamped.
    public typealias Quantise =
        @Sendable (
            _ input: UnsafePointer<Float>,
            _ output: UnsafeMutableRawPointer,
            _ count: Int,
            _ quantiser: Quantiser
        ) -> Bool

    /// Computes what `Convolve` does from inputs of `Quantise` and weights of `packQuantisedConvolution`, both in this set's
    /// `quantisedLayout`, for a shape with `canBeQuantised`; and quantises the result as `Quantise` does, where the output asks for it.
    ///
    /// Each input column begins at a multiple of 4 bytes. Up to `quantisedGroupSize − 1` inputs after the last one may
    /// be read; their values do not matter. All instruction sets give the same result to the last bit.
    public typealias ConvolveQuantised =
        @Sendable (
            _ input: UnsafeRawPointer,
            _ output: QuantisedOutput,
            _ columns: StridedColumns,
            _ packed: UnsafePointer<Float>,
            _ shape: ConvolutionShape,
            _ residual: UnsafePointer<Float>?,
            _ relu: Bool
        ) -> Void

    /// Computes what `ConvolveQuantised` does with fewer multiplications, to the last bit: adjacent columns of a shape with `isFast`, from inputs
    /// that are all valid.
    ///
    /// `fast` comes from `packFastConvolution`; `packed`, from which that was made, gives the steps and biases. `scratch` holds
    /// `FastConvolution.scratchBytes` bytes, 64-byte aligned.
    public typealias ConvolveFast =
        @Sendable (
            _ input: UnsafeRawPointer,
            _ output: QuantisedOutput,
            _ columns: Int,
            _ packed: UnsafePointer<Float>,
            _ fast: UnsafePointer<Float>,
            _ shape: ConvolutionShape,
            _ residual: UnsafePointer<Float>?,
            _ relu: Bool,
            _ scratch: UnsafeMutableRawPointer
        ) -> Void

    /// Adds two tensors of `count` floats, then applies ReLU if `relu` is true; the output may be either input.
    public typealias Add =
        @Sendable (
            _ left: UnsafePointer<Float>,
            _ right: UnsafePointer<Float>,
            _ output: UnsafeMutablePointer<Float>,
            _ count: Int,
            _ relu: Bool
        ) -> Void

    /// Moving average over `width` columns: `columns` output columns from `columns + width − 1` input columns.
    public typealias Mean =
        @Sendable (
            _ input: UnsafePointer<Float>,
            _ output: UnsafeMutablePointer<Float>,
            _ columns: Int,
            _ width: Int,
            _ channels: Int
        ) -> Void

    /// Applies SiLU, `x / (1 + exp(−x))`, to `count` floats in place; NaN stays NaN.
    public typealias SiLU = @Sendable (_ values: UnsafeMutablePointer<Float>, _ count: Int) -> Void

    /// Turns `count` logits into probabilities, `exp(scale · logit) / Σ exp(scale · logit)`, with `scale > 0`.
    ///
    /// Returns false, with the output unspecified, when a logit is NaN or infinite.
    public typealias Softmax =
        @Sendable (
            _ logits: UnsafePointer<Float>,
            _ output: UnsafeMutablePointer<Float>,
            _ count: Int,
            _ scale: Float
        ) -> Bool

    /// Computes normalised log-mel features `[columns × bands]` of `(columns − 1) · hopSamples + frameSamples` samples.
    ///
    /// Frame i starts at sample `i · hopSamples`. `scratch` holds `shape.scratchCount` floats, 64-byte aligned. A sample that is NaN
    /// or infinite makes the features of its frames NaN.
    public typealias LogMel =
        @Sendable (
            _ samples: UnsafePointer<Float>,
            _ output: UnsafeMutablePointer<Float>,
            _ columns: Int,
            _ tables: borrowing LogMelTables,
            _ scratch: UnsafeMutablePointer<Float>
        ) -> Void

    /// Polyphase FIR filter: `output[i] = Σ taps[p mod phases][k] · input[p / phases + k]`, where `p = phase + i · step`.
    ///
    /// `taps` is `[phases × tapCount]`, and `phase` is from 0 to below `phases`. An output does not depend on which other outputs are
    /// computed in the same call, to the last bit.
    public typealias Resample =
        @Sendable (
            _ input: UnsafePointer<Float>,
            _ output: UnsafeMutablePointer<Float>,
            _ count: Int,
            _ phase: Int,
            _ shape: PolyphaseShape,
            _ taps: UnsafePointer<Float>
        ) -> Void

    /// Runs multiply-adds in registers alone, at the processor's peak rate: the upper limit for the other kernels.
    ///
    /// Writes one vector of at most 16 floats, so that the compiler cannot drop the loop. Returns the number of multiply-adds.
    public typealias FMAThroughput = @Sendable (_ rounds: Int, _ output: UnsafeMutablePointer<Float>) -> Int

    public let instructionSet: InstructionSet
    public let quantisedLayout: QuantisedLayout
    public let convolve: Convolve
    public let quantise: Quantise
    public let convolveQuantised: ConvolveQuantised
    /// Nil where it would not be faster.
    public let convolveFast: ConvolveFast?
    public let add: Add
    public let mean: Mean
    public let silu: SiLU
    public let softmax: Softmax
    public let logMel: LogMel
    public let resample: Resample
    /// Nil for the scalar kernels, which are not meant to be fast.
    public let fmaThroughput: FMAThroughput?

    public init(
        _ instructionSet: InstructionSet,
        quantisedLayout: QuantisedLayout,
        convolve: @escaping Convolve,
        quantise: @escaping Quantise,
        convolveQuantised: @escaping ConvolveQuantised,
        convolveFast: ConvolveFast?,
        add: @escaping Add,
        mean: @escaping Mean,
        silu: @escaping SiLU,
        softmax: @escaping Softmax,
        logMel: @escaping LogMel,
        resample: @escaping Resample,
        fmaThroughput: FMAThroughput?
    ) {
        self.instructionSet = instructionSet
        self.quantisedLayout = quantisedLayout
        self.convolve = convolve
        self.quantise = quantise
        self.convolveQuantised = convolveQuantised
        self.convolveFast = convolveFast
        self.add = add
        self.mean = mean
        self.silu = silu
        self.softmax = softmax
        self.logMel = logMel
        self.resample = resample
        self.fmaThroughput = fmaThroughput
    }
}
