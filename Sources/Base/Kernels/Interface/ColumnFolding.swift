// A layer with 2, 4 or 8 output channels fills an eighth to a half of a panel. Folded, some adjacent output columns of it are one column
// of a convolution with as many times the channels, so that panels are full. Its kernel reads the inputs of all these columns, and
// its weights are zero where a column does not read an input. Adjacent columns share inputs, so that it also multiplies less.

extension ConvolutionShape {
    /// Adjacent output columns that are best computed as one; 1 where they share too few inputs, or fill a panel.
    public var foldableColumns: Int {
        guard isContiguous, kernel >= 2 * stride else { return 1 }
        return max(1, panelWidth / outputChannels)
    }

    /// The convolution that computes `count` adjacent output columns as one.
    ///
    /// Its output has the memory layout of this one's.
    public func folded(_ count: Int) -> ConvolutionShape {
        var shape = self
        shape.outputChannels = count * outputChannels
        shape.kernel = (count - 1) * stride + kernel
        shape.stride = count * stride
        return shape
    }
}

/// The weights `[count · outputChannels × depth]` and biases of a folded convolution.
///
/// - Parameters:
///   - weights: `[outputChannels × depth]`.
///   - shape: the shape before folding, with `isContiguous`.
public func foldConvolution(
    weights: [Float],
    bias: [Float],
    shape: ConvolutionShape,
    columns count: Int
) -> (weights: [Float], bias: [Float]) {
    let folded = shape.folded(count)
    var result = [Float](repeating: 0, count: folded.weightCount)
    for column in 0..<count {
        for channel in 0..<shape.outputChannels {
            let first = (column * shape.outputChannels + channel) * folded.depth
            let target = first + column * shape.stride * shape.inputChannels
            for row in 0..<shape.depth {
                let (run, index) = row.quotientAndRemainder(dividingBy: shape.runLength)
                result[target + run * folded.runLength + index] = weights[channel * shape.depth + row]
            }
        }
    }
    return (result, (0..<count).flatMap { _ in bias })
}
