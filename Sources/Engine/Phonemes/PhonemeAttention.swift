import Inference
import KernelInterface

/// Attention of each frame to all frames, without positions: two matrix products a head, whose second factors are packed as weights.
struct PhonemeAttention {
    private let scores: Arena.Region
    private let shares: Arena.Region
    private let packed: Arena.Region

    /// - Parameter frames: the most there are.
    init(frames: Int, _ layout: inout Arena.Layout) {
        let (panels, width) = ((frames + panelWidth - 1) / panelWidth, PhonemeShape.headWidth)
        let ofValues = (width + panelWidth - 1) / panelWidth
        scores = layout.reserve(frames * frames)
        shares = layout.reserve(frames * frames)
        packed = layout.reserve(panelWidth * max(panels * (1 + width), ofValues * (1 + frames)))
    }

    /// - Parameters:
    ///   - rows: queries, keys and values of all heads, `[frames × 3 × width]`.
    ///   - output: `[frames × width]`.
    func run(
        _ rows: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        frames: Int,
        _ memory: borrowing Arena,
        _ kernels: borrowing KernelSet
    ) {
        let (width, head) = (PhonemeShape.width, PhonemeShape.headWidth)
        let (scores, shares, packed) = (memory[scores], memory[shares], memory[packed])
        let toAll = ConvolutionShape(inputChannels: head, outputChannels: frames)
        let ofAll = ConvolutionShape(inputChannels: frames, outputChannels: head)
        for number in 0..<PhonemeShape.heads {
            let first = number * head
            pack(keys: rows + width + first, frames, into: packed)
            var queries = toAll.adjacentColumns(frames)
            queries.inputStride = 3 * width
            kernels.convolve(rows + first, scores, queries, packed, toAll, nil, false)
            for frame in 0..<frames {
                let (row, target) = (scores + frame * frames, shares + frame * frames)
                if !kernels.softmax(row, target, frames, 1) { target.update(repeating: 0, count: frames) }
            }
            pack(values: rows + 2 * width + first, frames, into: packed)
            var columns = ofAll.adjacentColumns(frames)
            columns.outputStride = width
            kernels.convolve(shares, output + first, columns, packed, ofAll, nil, false)
        }
    }

    /// The panels of a layer with an output for each frame, and its key as weights.
    private func pack(keys: UnsafePointer<Float>, _ frames: Int, into packed: UnsafeMutablePointer<Float>) {
        let (head, step) = (PhonemeShape.headWidth, 3 * PhonemeShape.width)
        var panel = packed
        for first in stride(from: 0, to: frames, by: panelWidth) {
            panel.update(repeating: 0, count: panelWidth * (1 + head))
            for lane in 0..<min(panelWidth, frames - first) {
                let key = keys + (first + lane) * step
                for row in 0..<head { panel[(1 + row) * panelWidth + lane] = key[row] }
            }
            panel += panelWidth * (1 + head)
        }
    }

    /// The panels of a layer with an input for each frame, and the frames' values as weights.
    private func pack(values: UnsafePointer<Float>, _ frames: Int, into packed: UnsafeMutablePointer<Float>) {
        let (head, step) = (PhonemeShape.headWidth, 3 * PhonemeShape.width)
        var panel = packed
        for first in stride(from: 0, to: head, by: panelWidth) {
            panel.update(repeating: 0, count: panelWidth * (1 + frames))
            for frame in 0..<frames {
                let lanes = panel + (1 + frame) * panelWidth
                lanes.update(from: values + frame * step + first, count: min(panelWidth, head - first))
            }
            panel += panelWidth * (1 + frames)
        }
    }
}
