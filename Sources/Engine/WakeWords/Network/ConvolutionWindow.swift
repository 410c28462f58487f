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
    /// Whether positions reach beyond the input.
    let isPadded: Bool

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
        isPadded = down.isPadded || across.isPadded
    }

    /// Elements that a channel of an output position reads.
    var taps: Int { kernel.height * kernel.width }

    private static func positions(
        _ extent: Int,
        _ kernel: Int,
        _ stride: Int,
        _ dilation: Int,
        _ isPadded: Bool
    ) throws(WakeWordError) -> (count: Int, before: Int, isPadded: Bool) {
        let reach = (kernel - 1) * dilation + 1
        if isPadded {
            let count = (extent + stride - 1) / stride
            let missing = max(0, (count - 1) * stride + reach - extent)
            return (count, missing / 2, missing > 0)
        }
        guard reach <= extent else { throw .damaged.saying("a convolution is longer than its input") }
        return ((extent - reach) / stride + 1, 0, false)
    }

    /// Elements from the inputs of a position to those of the next, if all inputs of a position are adjacent; else nil.
    var adjacentStride: Int? {
        guard !isPadded else { return nil }
        // Whole rows of the input, or single elements.
        if kernel.width == width, dilation.height == 1 || kernel.height == 1, dilation.width == 1 || width == 1 {
            return stride.height * width * channels
        }
        guard taps == 1 else { return nil }
        return stride == (1, 1) || rows == 1 ? stride.width * channels : nil
    }

    /// Copies the inputs of each position side by side; those outside of the input stay as they are.
    func runs(from source: Int, to target: Int, _ budget: ModelBudget) throws(WakeWordError) -> [CopiedRun] {
        try budget.take(ModelBudget.product([rows, columns, taps]), of: 2 * MemoryLayout<CopiedRun>.stride)
        var runs: [CopiedRun] = []
        var place = target
        for row in 0..<rows {
            for column in 0..<columns {
                for y in 0..<kernel.height {
                    for x in 0..<kernel.width {
                        let line = row * stride.height + y * dilation.height - padding.height
                        let element = column * stride.width + x * dilation.width - padding.width
                        if (0..<height).contains(line), (0..<width).contains(element) {
                            let first = source + (line * width + element) * channels
                            runs.append(CopiedRun(source: first, target: place, count: channels))
                        }
                        place += channels
                    }
                }
            }
        }
        return runs
    }
}
