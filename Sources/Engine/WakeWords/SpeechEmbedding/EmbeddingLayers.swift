import KernelInterface

/// The layers of Google's speech embedding, and how many rows of each are new with a chunk of audio.
///
/// Tensors are `[frames × bands × channels]`. Convolutions pad the bands with zeros, and not the time. Windows begin at multiples of eight
/// frames, and the poolings halve the time three times, so that a stream computes each row once and has the values of every window.
struct EmbeddingLayers {
    /// Extents of a kernel or of a pooling.
    struct Extent: Equatable {
        var frames: Int
        var bands: Int
    }

    /// A convolution, and what follows it: leaky ReLU with a lower limit (but for the last one), and maybe a pooling to the maximum.
    struct Layer {
        var kernel: Extent
        var inputs: Int
        var outputs: Int
        var pool: Extent?
        /// Bands of the input.
        var bands = 0
        /// Rows of the input that are new with a chunk.
        var rows = 0
        /// Rows that wait for the other row of a pooling.
        var pending = 0

        /// Floats from one row of the input to the next: the bands, and one of zeros, which pads both this row and the next one.
        var inputPitch: Int { (bands + 1) * inputs }
        var outputPitch: Int { (bands + 1) * outputs }
        /// Older rows of the input that the first new one needs.
        var history: Int { kernel.frames - 1 }
        /// Columns of the output, with those between the rows.
        var columns: Int { rows * (bands + 1) - 1 }
        var weightCount: Int { outputs * kernel.frames * kernel.bands * inputs }

        var shape: ConvolutionShape {
            ConvolutionShape(
                inputChannels: inputs,
                outputChannels: outputs,
                kernel: kernel.bands,
                bands: kernel.frames,
                bandStride: inputPitch
            )
        }
    }

    private(set) var layers: [Layer] = []
    /// Multiply-adds of a chunk.
    var multiplyAdds: Int { layers.reduce(0) { $0 + $1.weightCount * $1.rows * $1.bands } }

    /// Numbers of an embedding.
    static let outputs = 96
    /// Slope of the leaky ReLU below zero, and its lower limit.
    static let slope: Float = 0.2
    static let limit: Float = -0.4

    init() {
        append(Extent(frames: 3, bands: 3), 1, 24)
        append(Extent(frames: 1, bands: 3), 24, 24)
        append(Extent(frames: 3, bands: 1), 24, 24, pool: Extent(frames: 2, bands: 2))
        let pools = [Extent(frames: 1, bands: 2), Extent(frames: 2, bands: 2)]
        for (block, (inputs, outputs)) in [(24, 48), (48, 72), (72, 96), (96, 96)].enumerated() {
            append(Extent(frames: 1, bands: 3), inputs, outputs)
            append(Extent(frames: 3, bands: 1), outputs, outputs)
            append(Extent(frames: 1, bands: 3), outputs, outputs)
            append(Extent(frames: 3, bands: 1), outputs, outputs, pool: pools[block % 2])
        }
        append(Extent(frames: 3, bands: 1), 96, Self.outputs)
        countRows()
    }

    private mutating func append(_ kernel: Extent, _ inputs: Int, _ outputs: Int, pool: Extent? = nil) {
        layers.append(Layer(kernel: kernel, inputs: inputs, outputs: outputs, pool: pool))
    }

    private mutating func countRows() {
        // With chunk m, the rows of a tensor up to rows · m + last can be computed.
        var (rows, last, bands) = (MelFrontEnd.frames, MelFrontEnd.frames - 1, MelFrontEnd.bands)
        for index in layers.indices {
            layers[index].rows = rows
            layers[index].bands = bands
            last -= layers[index].history
            guard let pool = layers[index].pool else { continue }
            if pool.frames == 2 {
                // Pairs begin at even rows.
                layers[index].pending = last & 1 == 0 ? 1 : 0
                last = (last - 1) >> 1
                rows /= 2
            }
            bands /= pool.bands
        }
    }
}
