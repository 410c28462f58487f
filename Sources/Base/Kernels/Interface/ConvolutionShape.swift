/// Geometry of a valid convolution (no padding) over channels-last tensors `[columns × channels]`, or over `bands` of them.
///
/// The caller has validated it: every number is at least 1, and `groups` divides both channel counts. A dense layer is
/// a convolution with a kernel of 1. With several bands, the kernel is `[bands × kernel]`, and dilation and groups are 1.
public struct ConvolutionShape: Sendable, Equatable {
    public var inputChannels: Int
    public var outputChannels: Int
    public var kernel: Int
    public var stride: Int
    public var dilation: Int
    public var groups: Int
    /// Bands that one output column depends on; a one-dimensional convolution has one.
    public var bands: Int
    /// Inputs from one of these bands to the next; unused with one band.
    public var bandStride: Int

    public init(
        inputChannels: Int,
        outputChannels: Int,
        kernel: Int = 1,
        stride: Int = 1,
        dilation: Int = 1,
        groups: Int = 1,
        bands: Int = 1,
        bandStride: Int = 0
    ) {
        self.inputChannels = inputChannels
        self.outputChannels = outputChannels
        self.kernel = kernel
        self.stride = stride
        self.dilation = dilation
        self.groups = groups
        self.bands = bands
        self.bandStride = bandStride
    }

    /// Input columns that one output column depends on, `dilation · (kernel − 1) + 1`.
    public var span: Int { dilation * (kernel - 1) + 1 }

    /// Inputs that one output channel depends on, `bands · kernel · inputChannels / groups`.
    @inlinable public var depth: Int { bands * kernel * (inputChannels / groups) }

    /// Number of weights, `[outputChannels × depth]`.
    public var weightCount: Int { outputChannels * depth }

    /// Whether each channel has a filter of its own and reads no other channel.
    public var isDepthwise: Bool { groups > 1 && groups == inputChannels && groups == outputChannels }

    /// Whether the inputs of an output column are contiguous in memory, in each band. If so, the convolution is a matrix product
    /// whose rows overlap, and no im2col copy is needed.
    @inlinable public var isContiguous: Bool { dilation == 1 && groups == 1 }

    /// Contiguous runs of inputs that one output column reads.
    @inlinable public var runs: Int { isContiguous ? bands : kernel }
    /// Inputs from the start of one run to the start of the next.
    @inlinable public var runStride: Int { isContiguous ? bandStride : dilation * inputChannels }
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
