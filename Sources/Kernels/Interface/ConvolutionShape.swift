/// The geometry of a one-dimensional valid convolution over channels-last columns.
///
/// The caller has checked it: every number is at least 1, and `groups` divides both channel counts. A dense layer is
/// a convolution with a kernel of 1.
public struct ConvolutionShape: Sendable, Equatable {
    public var inputChannels: Int
    public var outputChannels: Int
    public var kernel: Int
    public var stride: Int
    public var dilation: Int
    public var groups: Int

    public init(
        inputChannels: Int,
        outputChannels: Int,
        kernel: Int = 1,
        stride: Int = 1,
        dilation: Int = 1,
        groups: Int = 1
    ) {
        self.inputChannels = inputChannels
        self.outputChannels = outputChannels
        self.kernel = kernel
        self.stride = stride
        self.dilation = dilation
        self.groups = groups
    }

    /// Input columns under one output column.
    public var span: Int { dilation * (kernel - 1) + 1 }

    /// Floats of the weights as stored, `[outputChannels, kernel, inputChannels / groups]`.
    public var weightCount: Int { outputChannels * kernel * (inputChannels / groups) }

    /// One filter per channel: no channel is mixed with another.
    public var isDepthwise: Bool { groups > 1 && groups == inputChannels && groups == outputChannels }

    /// Neighbouring taps lie side by side in memory: all inputs of an output column are one run, and the convolution is a plain
    /// matrix product whose rows overlap, for which nothing has to be gathered first.
    @inlinable public var isContiguous: Bool { dilation == 1 && groups == 1 }

    /// Stretches of neighbouring inputs that one output column reads, and inputs in each.
    @inlinable public var runs: Int { isContiguous ? 1 : kernel }
    @inlinable public var runLength: Int { (isContiguous ? kernel : 1) * (inputChannels / groups) }

    /// Neighbouring output columns, as they lie in one tensor.
    public func run(of columns: Int) -> ColumnRun {
        ColumnRun(count: columns, inputStep: stride * inputChannels, outputStep: outputChannels)
    }

    /// Input columns that `columns` output columns need.
    public func inputColumns(for columns: Int) -> Int { (columns - 1) * stride + span }
}

/// Output columns of one call: neighbours in a tensor, or the same column of many streams.
public struct ColumnRun: Sendable, Equatable {
    public var count: Int
    /// Floats from the input of one column to that of the next.
    public var inputStep: Int
    /// Floats from one output column to the next.
    public var outputStep: Int

    public init(count: Int, inputStep: Int, outputStep: Int) {
        self.count = count
        self.inputStep = inputStep
        self.outputStep = outputStep
    }
}
