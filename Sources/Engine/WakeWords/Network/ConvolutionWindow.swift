/// Where the inputs of a convolution lie. Extents are in elements; an input has the shape `[1, height, width, channels]`.
struct ConvolutionWindow {
    let channels: Int
    /// Positions of the output.
    let rows: Int
    let columns: Int
    private let height: Int
    private let width: Int
    private let kernel: (height: Int, width: Int)
    private let stride: (height: Int, width: Int)
    private let dilation: (height: Int, width: Int)
    /// Elements that are added before the first ones.
    private let padding: (height: Int, width: Int)
    /// Extents with all that positions read beyond the input.
    private let reach: (height: Int, width: Int)
    /// Whether positions reach beyond the input.
    var isPadded: Bool { reach != (height, width) }

    /// - Parameters:
    ///   - shape: of the input.
    ///   - filter: `[any, height, width, any]`.
    init(_ shape: [Int], _ filter: [Int], _ options: ConvolutionOptions) throws(WakeWordError) {
        guard shape.count == 4, filter.count == 4, shape[0] == 1, shape[1...].allSatisfy({ $0 > 0 }),
            filter.allSatisfy({ $0 > 0 })
        else { throw .damaged.saying("a convolution has an input of \(shape) and weights of \(filter)") }
        (height, width, channels) = (shape[1], shape[2], shape[3])
        (kernel, stride, dilation) = ((filter[1], filter[2]), options.stride, options.dilation)
        let down = try Self.positions(height, filter[1], stride.height, dilation.height, options.isPadded)
        let across = try Self.positions(width, filter[2], stride.width, dilation.width, options.isPadded)
        (rows, columns) = (down.count, across.count)
        padding = (down.before, across.before)
        reach = (down.reach, across.reach)
    }

    /// Elements that a channel of an output position reads.
    var taps: Int { kernel.height * kernel.width }

    private static func positions(
        _ extent: Int,
        _ kernel: Int,
        _ stride: Int,
        _ dilation: Int,
        _ isPadded: Bool
    ) throws(WakeWordError) -> (count: Int, before: Int, reach: Int) {
        let reach = (kernel - 1) * dilation + 1
        if isPadded {
            let count = (extent + stride - 1) / stride
            let missing = max(0, (count - 1) * stride + reach - extent)
            return (count, missing / 2, extent + missing)
        }
        guard reach <= extent else { throw .damaged.saying("a convolution is longer than its input") }
        return ((extent - reach) / stride + 1, 0, extent)
    }

    /// Elements from the inputs of a position to those of the next, if all inputs of a position are adjacent; else nil.
    private var adjacentStride: Int? {
        // Whole rows of the input, or single elements.
        if kernel.width == reach.width, dilation.height == 1 || kernel.height == 1,
            dilation.width == 1 || reach.width == 1
        {
            return stride.height * reach.width * channels
        }
        guard taps == 1 else { return nil }
        return stride == (1, 1) || rows == 1 ? stride.width * channels : nil
    }

    /// The inputs of each position side by side, which they may be already.
    ///
    /// - Parameters:
    ///   - place: of the convolution's input.
    ///   - zero: an element beyond the input.
    /// - Returns: the place of the first position's inputs, and elements from there to those of the next.
    func inputs(at place: Int, zero: Int8, _ parts: inout NetworkParts) throws(WakeWordError) -> (
        start: Int, stride: Int
    ) {
        let length = taps * channels
        guard
            ModelBudget.product([length, rows, columns]) <= NetworkParts.Limits.memory,
            ModelBudget.product([reach.height, reach.width, channels]) <= NetworkParts.Limits.memory
        else { throw .size.saying("a convolution has too many inputs") }
        let line = reach.width * channels
        var first = place
        if isPadded {
            first = try parts.reserve(reach.height * line, value: zero)
            let own = width * channels
            let start = first + padding.height * line + padding.width * channels
            try parts.move([height, own], from: place, [own, 1], to: start, [line, 1])
        }
        if let stride = adjacentStride { return (first, stride) }
        let shape = [rows, columns, kernel.height, kernel.width, channels]
        let start = try parts.reserve(length * rows * columns, value: zero)
        let strides = [
            stride.height * line, stride.width * channels, dilation.height * line, dilation.width * channels, 1,
        ]
        try parts.move(shape, from: first, strides, to: start, Loops.strides(shape))
        return (start, length)
    }
}
