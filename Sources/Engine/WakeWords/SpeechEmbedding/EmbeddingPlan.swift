import KernelInterface
import Kernels

/// The steps from a chunk's features to its embedding, with every address resolved to an offset into one block of memory.
struct EmbeddingPlan {
    /// A convolution and what follows it.
    struct Step {
        var layer: EmbeddingLayers.Layer
        /// Offset of the packed weights.
        var weights = 0
        /// Offset of the input's oldest row; a column of zeros is before it.
        var input = 0
        /// Offset of the output's first new row: in the next layer's input, or where it waits for its pooling.
        var output = 0
        /// Offset of the pooled output's first new row, in the next layer's input.
        var pooled = 0
    }

    private(set) var steps: [Step] = []
    /// Floats of packed weights, and of a stream's memory.
    private(set) var weightCount = 0
    private(set) var memoryCount = 0
    /// Offset of the newest embedding.
    private(set) var output = 0
    let multiplyAdds: Int

    init(_ layers: EmbeddingLayers) {
        multiplyAdds = layers.multiplyAdds
        steps = layers.layers.map { Step(layer: $0) }
        for index in steps.indices {
            let layer = steps[index].layer
            steps[index].weights = weightCount
            weightCount += Self.aligned(packedConvolutionCount(layer.shape))
            steps[index].input = memoryCount + Self.aligned(layer.inputs)
            memoryCount = Self.aligned(
                steps[index].input + (layer.history + layer.rows) * layer.inputPitch
            )
        }
        for index in steps.indices {
            let layer = steps[index].layer
            let isLast = index + 1 == steps.count
            let next = isLast ? nil : steps[index + 1]
            let target = next.map { $0.input + $0.layer.history * $0.layer.inputPitch }
            if layer.pool == nil, let target {
                steps[index].output = target
                continue
            }
            let start = memoryCount
            memoryCount += Self.aligned((layer.pending + layer.rows) * layer.outputPitch)
            steps[index].output = start + layer.pending * layer.outputPitch
            if let target { steps[index].pooled = target } else { output = start }
        }
    }

    /// The next multiple of 16 floats, 64 bytes.
    private static func aligned(_ count: Int) -> Int { (count + 15) & ~15 }

    /// Computes an embedding. Allocates nothing.
    ///
    /// - Parameters:
    ///   - features: of a chunk, `[frames × bands]`.
    ///   - memory: `memoryCount` floats, which keep what the next chunk needs.
    ///   - weights: the packed weights.
    func run(
        _ features: UnsafePointer<Float>,
        _ memory: UnsafeMutablePointer<Float>,
        weights: UnsafePointer<Float>,
        kernels: borrowing KernelSet
    ) {
        guard let first = steps.first else { return }
        let (layer, bands) = (first.layer, first.layer.bands)
        for frame in 0..<layer.rows {
            let row = memory + first.input + (layer.history + frame) * layer.inputPitch
            row.update(from: features + frame * bands, count: bands)
        }
        for index in steps.indices {
            Self.run(steps[index], memory, weights, kernels, isLast: index + 1 == steps.count)
        }
    }

    private static func run(
        _ step: Step,
        _ memory: UnsafeMutablePointer<Float>,
        _ weights: UnsafePointer<Float>,
        _ kernels: borrowing KernelSet,
        isLast: Bool
    ) {
        let layer = step.layer
        let (input, output) = (memory + step.input, memory + step.output)
        // The first column of a kernel over three bands is the one of zeros before the row.
        let start = input - (layer.kernel.bands - 1) / 2 * layer.inputs
        let columns = layer.shape.adjacentColumns(layer.columns)
        kernels.convolve(start, output, columns, weights + step.weights, layer.shape, nil, false)
        if layer.history > 0 {
            input.update(from: input + layer.rows * layer.inputPitch, count: layer.history * layer.inputPitch)
        }
        guard !isLast else { return }
        guard let pool = layer.pool else {
            activate(output, layer.columns * layer.outputs)
            clearBetween(output, rows: layer.rows, bands: layer.bands, channels: layer.outputs)
            return
        }
        // The first row may have waited since the chunk before.
        let waiting = output - layer.pending * layer.outputPitch
        let rows = layer.rows / pool.frames
        reduce(waiting, layer, pool, to: memory + step.pooled)
        let bands = layer.bands / pool.bands
        activate(memory + step.pooled, (rows * (bands + 1) - 1) * layer.outputs)
        clearBetween(memory + step.pooled, rows: rows, bands: bands, channels: layer.outputs)
        if layer.pending > 0 {
            let used = rows * pool.frames * layer.outputPitch
            waiting.update(from: waiting + used, count: layer.pending * layer.outputPitch)
        }
    }

    private static func activate(_ values: UnsafeMutablePointer<Float>, _ count: Int) {
        for index in 0..<count {
            let value = values[index]
            let leaky = max(value, value * EmbeddingLayers.slope)
            values[index] = max(leaky, EmbeddingLayers.limit)
        }
    }

    /// Sets the columns between the rows to zero: they pad the bands.
    private static func clearBetween(_ values: UnsafeMutablePointer<Float>, rows: Int, bands: Int, channels: Int) {
        for row in 1..<max(rows, 1) {
            (values + (row * (bands + 1) - 1) * channels).update(repeating: 0, count: channels)
        }
    }

    /// The maximum of each two bands, and of each two rows for a pooling over time. It does not matter that the activation follows: it
    /// never falls.
    private static func reduce(
        _ input: UnsafePointer<Float>,
        _ layer: EmbeddingLayers.Layer,
        _ pool: EmbeddingLayers.Extent,
        to output: UnsafeMutablePointer<Float>
    ) {
        let channels = layer.outputs
        let bands = layer.bands / 2
        for row in 0..<layer.rows / pool.frames {
            let upper = input + row * pool.frames * layer.outputPitch
            let lower = upper + (pool.frames - 1) * layer.outputPitch
            let target = output + row * (bands + 1) * channels
            for band in 0..<bands {
                let (place, source) = (band * channels, 2 * band * channels)
                for channel in 0..<channels {
                    let left = max(upper[source + channel], lower[source + channel])
                    let right = max(upper[source + channels + channel], lower[source + channels + channel])
                    target[place + channel] = max(left, right)
                }
            }
        }
    }
}
