/// Geometry of a one-dimensional valid convolution (no padding) over channels-last tensors `[columns × channels]`.
///
/// The caller has validated it: every number is at least 1, and `groups` divides both channel counts. A dense layer is
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

    /// Input columns that one output column depends on, `dilation · (kernel − 1) + 1`.
    public var span: Int { dilation * (kernel - 1) + 1 }

    /// Number of weights, `[outputChannels × kernel × inputChannels / groups]`.
    public var weightCount: Int { outputChannels * kernel * (inputChannels / groups) }

    /// Whether each channel has a filter of its own and reads no other channel.
    public var isDepthwise: Bool { groups > 1 && groups == inputChannels && groups == outputChannels }

    /// Whether all inputs of an output column are contiguous in memory. If so, the convolution is a matrix product
    /// whose rows overlap, and no im2col copy is needed.
    @inlinable public var isContiguous: Bool { dilation == 1 && groups == 1 }

    /// Contiguous runs of inputs that one output column reads.
    @inlinable public var runs: Int { isContiguous ? 1 : kernel }
    /// Inputs in each run.
    @inlinable public var runLength: Int { (isContiguous ? kernel : 1) * (inputChannels / groups) }

    /// The layout of `count` adjacent output columns of one tensor.
    public func adjacentColumns(_ count: Int) -> StridedColumns {
        StridedColumns(count: count, inputStride: stride * inputChannels, outputStride: outputChannels)
    }

    /// Input columns that `columns` output columns need.
    public func inputColumns(for columns: Int) -> Int { (columns - 1) * stride + span }
}

/// The output columns of one kernel call: adjacent columns of a tensor, or the same column of many streams.
public struct StridedColumns: Sendable, Equatable {
    public var count: Int
    /// Inputs from the first input of one column to the first input of the next.
    public var inputStride: Int
    /// Floats from one output column to the next.
    public var outputStride: Int
}
