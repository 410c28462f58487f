import KernelInterface
import Kernels

/// Attention of each column to all columns, without positions: two matrix products a head, whose second factors are packed as weights.
struct Attention: Sendable {
    let columns: Int
    /// Channels of the output: those of all heads.
    let width: Int
    let heads: Int

    private var headWidth: Int { width / heads }
    /// Of a layer with an output for each column.
    private var panels: Int { (columns + panelWidth - 1) / panelWidth }

    /// Floats of scratch memory: scores and shares of a head, then the packed weights.
    var scratchCount: Int { 2 * Arena.aligned(columns * columns) + Arena.aligned(packedCount) }
    private var packedCount: Int {
        let ofValues = (headWidth + panelWidth - 1) / panelWidth
        return panelWidth * max(panels * (1 + headWidth), ofValues * (1 + columns))
    }

    /// - Parameters:
    ///   - rows: queries, keys and values of all heads, `[columns × 3 × width]`.
    ///   - output: `[columns × width]`.
    ///   - scratch: `scratchCount` floats, 64-byte aligned.
    func run(
        _ rows: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        _ scratch: UnsafeMutablePointer<Float>,
        _ kernels: borrowing KernelSet
    ) {
        let (scores, shares) = (scratch, scratch + Arena.aligned(columns * columns))
        let packed = shares + Arena.aligned(columns * columns)
        let toAll = ConvolutionShape(inputChannels: headWidth, outputChannels: columns)
        let ofAll = ConvolutionShape(inputChannels: columns, outputChannels: headWidth)
        for first in stride(from: 0, to: width, by: headWidth) {
            pack(keys: rows + width + first, into: packed)
            var queries = toAll.adjacentColumns(columns)
            queries.inputStride = 3 * width
            kernels.convolve(rows + first, scores, queries, packed, toAll, nil, false)
            for column in 0..<columns {
                let (row, target) = (scores + column * columns, shares + column * columns)
                if !kernels.softmax(row, target, columns, 1) { target.update(repeating: 0, count: columns) }
            }
            pack(values: rows + 2 * width + first, into: packed)
            var targets = ofAll.adjacentColumns(columns)
            targets.outputStride = width
            kernels.convolve(shares, output + first, targets, packed, ofAll, nil, false)
        }
    }

    /// The panels of a layer with an output for each column, and its key as weights.
    private func pack(keys: UnsafePointer<Float>, into packed: UnsafeMutablePointer<Float>) {
        var panel = packed
        for first in stride(from: 0, to: columns, by: panelWidth) {
            panel.update(repeating: 0, count: panelWidth * (1 + headWidth))
            for lane in 0..<min(panelWidth, columns - first) {
                let key = keys + (first + lane) * 3 * width
                for row in 0..<headWidth { panel[(1 + row) * panelWidth + lane] = key[row] }
            }
            panel += panelWidth * (1 + headWidth)
        }
    }

    /// The panels of a layer with an input for each column, and the columns' values as weights.
    private func pack(values: UnsafePointer<Float>, into packed: UnsafeMutablePointer<Float>) {
        var panel = packed
        for first in stride(from: 0, to: headWidth, by: panelWidth) {
            panel.update(repeating: 0, count: panelWidth * (1 + columns))
            for column in 0..<columns {
                let lanes = panel + (1 + column) * panelWidth
                lanes.update(from: values + column * 3 * width + first, count: min(panelWidth, headWidth - first))
            }
            panel += panelWidth * (1 + columns)
        }
    }
}
