import KernelInterface

/// Shape of a tensor, `[bands × frames × channels]`: a column is one frame of one band.
struct Plane: Sendable, Equatable, CustomStringConvertible {
    var bands = 1
    var frames: Int
    var channels: Int

    /// Columns of all bands.
    var columns: Int { bands * frames }
    var count: Int { columns * channels }

    var description: String {
        "\(bands == 1 ? "" : "\(bands) bands of ")\(frames) columns of \(channels) channels"
    }
}

/// A number for the bands and one for the frames: `[bands, frames]`.
package struct Extent: Decodable, Sendable, Equatable {
    package var bands: Int
    package var frames: Int

    package init(bands: Int, frames: Int) { (self.bands, self.frames) = (bands, frames) }

    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        bands = try container.decode(Int.self)
        frames = try container.decode(Int.self)
        guard container.isAtEnd else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "more than two numbers")
        }
    }
}

/// A convolution over bands and frames, with zeros around its input.
package struct PlaneConvolution: Sendable, Equatable {
    package var inputChannels: Int
    package var outputChannels: Int
    package var kernel: Extent
    package var stride = Extent(bands: 1, frames: 1)
    package var padding = Extent(bands: 0, frames: 0)
    package var dilation = Extent(bands: 1, frames: 1)
    package var groups = 1
    /// Dimensions of the stored weights: 4, 3 without bands, 2 for a dense layer.
    var storedDimensions = 4

    /// Whether the last of these dimensions is that of a group's inputs.
    var storesInputs = true

    /// Shape of the stored weights, `[out, kernel bands, kernel frames, in / groups]`.
    package var storedShape: [Int] {
        let inputs = storesInputs ? [inputChannels / groups] : []
        return [outputChannels] + [kernel.bands, kernel.frames].suffix(storedDimensions - 1 - inputs.count) + inputs
    }

    /// One over frames, described in code; depthwise, its weights are stored as `[channels, kernel]`.
    package init(
        _ inputs: Int,
        _ outputs: Int,
        kernel: Int = 1,
        stride: Int = 1,
        padding: Int = 0,
        isDepthwise: Bool = false
    ) {
        (inputChannels, outputChannels) = (inputs, outputs)
        self.kernel = Extent(bands: 1, frames: kernel)
        self.stride.frames = stride
        self.padding.frames = padding
        if isDepthwise { (groups, storesInputs) = (inputs, false) }
        storedDimensions = kernel == 1 || isDepthwise ? 2 : 3
    }

    init(inputChannels: Int, outputChannels: Int, kernel: Extent) {
        (self.inputChannels, self.outputChannels, self.kernel) = (inputChannels, outputChannels, kernel)
    }

    var weightCount: Int { outputChannels * kernel.bands * kernel.frames * (inputChannels / groups) }

    /// The input with zeros around it.
    func padded(_ input: Plane) -> Plane {
        Plane(
            bands: input.bands + 2 * padding.bands,
            frames: input.frames + 2 * padding.frames,
            channels: input.channels
        )
    }

    /// Whether the kernels need a copy of the input.
    var isPadded: Bool { padding != Extent(bands: 0, frames: 0) }

    /// Whether it computes all bands of an input at once, as adjacent columns: there is one band, or each column is computed of one.
    func isLine(_ input: Plane) -> Bool {
        let one = Extent(bands: 1, frames: 1)
        return !isPadded && (input.bands == 1 || (kernel == one && stride == one))
    }

    /// The kernels' shape for one band of the output.
    func shape(of input: Plane) -> ConvolutionShape {
        ConvolutionShape(
            inputChannels: inputChannels,
            outputChannels: outputChannels,
            kernel: kernel.frames,
            stride: stride.frames,
            dilation: dilation.frames,
            groups: groups,
            bands: kernel.bands,
            bandStride: padded(input).frames * inputChannels
        )
    }
}
