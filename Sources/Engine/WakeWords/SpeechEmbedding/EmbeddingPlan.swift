import KernelInterface
import Kernels

/// The steps from a chunk's features to its embedding, with every address resolved to an offset into one block of memory.
struct EmbeddingPlan {
    let layers: [EmbeddingLayers.Layer]
    /// Offsets of the layers' packed weights.
    private(set) var weights: [Int] = []
    /// Floats of packed weights, and of a stream's memory.
    private(set) var weightCount = 0
    private(set) var memoryCount = 0
    /// Offset of the newest embedding.
    private(set) var output = 0
    let multiplyAdds: Int
    private var program = FloatProgram(steps: [])
    /// Loops over the features and their places in the first layer's input, which begin at `input`.
    private var features = Loops([], a: [])
    private var input = 0

    init(_ description: EmbeddingLayers) {
        (layers, multiplyAdds) = (description.layers, description.multiplyAdds)
        var inputs: [Int] = []
        for layer in layers {
            weights.append(weightCount)
            weightCount += Self.aligned(packedConvolutionCount(layer.shape))
            // A column of zeros is before the input's oldest row.
            inputs.append(memoryCount + Self.aligned(layer.inputs))
            memoryCount = Self.aligned(inputs[inputs.count - 1] + (layer.history + layer.rows) * layer.inputPitch)
        }
        var steps: [FloatStep] = []
        for (index, layer) in layers.enumerated() {
            let (source, isLast) = (inputs[index], index + 1 == layers.count)
            // The new rows of the next layer's input.
            let target = isLast ? 0 : inputs[index + 1] + layers[index + 1].history * layers[index + 1].inputPitch
            // Where the output waits for its pooling, or the embedding is.
            let waiting = memoryCount
            let isKept = isLast || layer.pool != nil
            if isKept { memoryCount += Self.aligned((layer.pending + layer.rows) * layer.outputPitch) }
            if isLast { output = waiting }
            steps.append(
                .convolve(
                    // The first column of a kernel over three bands is the one of zeros before the row.
                    input: source - (layer.kernel.bands - 1) / 2 * layer.inputs,
                    output: isKept ? waiting + layer.pending * layer.outputPitch : target,
                    columns: layer.columns,
                    shape: layer.shape,
                    weights: weights[index]
                )
            )
            func keep(_ count: Int, at place: Int, from newer: Int) {
                guard count > 0 else { return }
                steps.append(.move(Loops([count], a: [1], b: [1]), input: newer, output: place))
            }
            keep(layer.history * layer.inputPitch, at: source, from: source + layer.rows * layer.inputPitch)
            guard !isLast else { continue }
            var (rows, bands, channels) = (layer.rows, layer.bands, layer.outputs)
            if let pool = layer.pool {
                (rows, bands) = (rows / pool.frames, bands / pool.bands)
                let pitch = layer.outputPitch
                let loops = Loops(
                    [rows, bands, channels],
                    a: [pool.frames * pitch, pool.bands * channels, 1],
                    b: [(bands + 1) * channels, channels, 1]
                )
                let members = Loops([pool.frames, pool.bands], a: [pitch, channels])
                let count = pool.frames * pool.bands
                // It does not matter that the activation follows: it never falls.
                steps.append(
                    .reduce(.maximum, loops, members: members, groupCount: count, input: waiting, output: target)
                )
                keep(layer.pending * pitch, at: waiting, from: waiting + rows * pool.frames * pitch)
            }
            let count = (rows * (bands + 1) - 1) * channels
            let function = FloatFunction.leaky(slope: EmbeddingLayers.slope, lowest: EmbeddingLayers.limit)
            steps.append(.apply(function, input: target, output: target, count: count))
            // The columns between the rows are zeros, as the one before the first row: they pad the bands.
            if rows > 1 {
                let between = Loops([rows - 1, channels], a: [0, 0], b: [(bands + 1) * channels, 1])
                let zero = inputs[index + 1] - layers[index + 1].inputs
                steps.append(.move(between, input: zero, output: target + bands * channels))
            }
        }
        program = FloatProgram(steps: steps)
        guard let first = layers.first else { return }
        input = inputs[0] + first.history * first.inputPitch
        features = Loops([first.rows, first.bands], a: [first.bands, 1], b: [first.inputPitch, 1])
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
        self.features.copy(features, to: memory + input)
        program.run(memory, weights: weights, kernels)
    }
}
