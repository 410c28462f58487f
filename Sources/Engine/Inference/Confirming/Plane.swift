import KernelInterface
import Kernels

/// Shape of a tensor of a confirming network, `[bands × frames × channels]`.
struct Plane: Sendable, Equatable, CustomStringConvertible {
    var bands: Int
    var frames: Int
    var channels: Int

    var count: Int { bands * frames * channels }
    /// Floats of one band.
    var bandCount: Int { frames * channels }

    var description: String { "\(bands) bands of \(frames) frames of \(channels) channels" }
}

extension PlaneConvolution {
    /// The input with zeros around it.
    func padded(_ input: Plane) -> Plane {
        Plane(
            bands: input.bands + 2 * padding.bands,
            frames: input.frames + 2 * padding.frames,
            channels: input.channels
        )
    }

    /// Whether the kernels read the input as it is.
    var isPadded: Bool { padding != Extent(bands: 0, frames: 0) }

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
            bandStride: padded(input).bandCount
        )
    }
}

/// Validates one layer of a confirming network against its inputs, and infers the shape of its output.
struct PlaneInference: LayerInference {
    let layer: ConfirmingLayerDescription
    /// The file, and the network in it.
    let place: String

    var name: String { layer.name }

    /// The layer's output.
    func output(of inputs: [Plane]) throws(ModelError) -> Plane {
        if case .add = layer.operation {
            guard (2...Limits.addends).contains(inputs.count) else {
                throw wrong("\(inputs.count) inputs, not 2 to \(Limits.addends)")
            }
        } else {
            guard inputs.count == 1 else { throw wrong("\(inputs.count) inputs, not 1") }
        }
        let input = inputs[0]
        switch layer.operation {
        case .convolution(let convolution, _): return try output(of: convolution, input)
        case .bandScale(let channels, let parts):
            guard channels == input.channels else {
                throw wrong("“channels” is \(channels), but its input has \(input.channels)")
            }
            guard parts >= 1, input.bands % parts == 0 else {
                throw wrong("“parts” \(parts) does not divide its input's \(input.bands) bands")
            }
            return input
        case .meanBands: return Plane(bands: 1, frames: input.frames, channels: input.channels)
        case .meanFrames:
            guard input.bands == 1 else { throw wrong("its input has \(input.bands) bands, not 1") }
            return Plane(bands: 1, frames: 1, channels: input.channels)
        case .middleFrames(let count):
            guard input.bands == 1 else { throw wrong("its input has \(input.bands) bands, not 1") }
            guard (1...Limits.columns).contains(count) else { throw wrong("“count” is \(count), not positive") }
            return Plane(bands: 1, frames: min(count, input.frames), channels: input.channels)
        case .add(let activation):
            guard activation != .silu else { throw wrong("a sum has no “silu”, but none or relu") }
            for other in inputs.dropFirst() {
                let band = Plane(bands: other.bands, frames: input.frames, channels: input.channels)
                guard other == band, other.bands == input.bands || other.bands == 1 else {
                    throw wrong("its inputs differ: \(input), and \(other)")
                }
            }
            return input
        }
    }

    private func output(of convolution: PlaneConvolution, _ input: Plane) throws(ModelError) -> Plane {
        func within(_ key: String, _ value: Int, _ range: ClosedRange<Int>) throws(ModelError) {
            guard range.contains(value) else {
                throw wrong("“\(key)” is \(value), not from \(range.lowerBound) to \(range.upperBound)")
            }
        }
        func within(_ key: String, _ value: Extent, _ range: ClosedRange<Int>) throws(ModelError) {
            try within(key, value.bands, range)
            try within(key, value.frames, range)
        }
        let side = 1...Limits.side
        try within("in", convolution.inputChannels, 1...Limits.channels)
        try within("out", convolution.outputChannels, 1...Limits.channels)
        try within("kernel", convolution.kernel, side)
        try within("stride", convolution.stride, side)
        try within("dilation", convolution.dilation, side)
        try within("padding", convolution.padding, 0...Limits.side)
        try within("groups", convolution.groups, 1...Limits.channels)
        guard convolution.inputChannels == input.channels else {
            throw wrong("“in” is \(convolution.inputChannels), but its input has \(input.channels) channels")
        }
        let groups = convolution.groups
        guard convolution.inputChannels % groups == 0, convolution.outputChannels % groups == 0 else {
            throw wrong(
                "“groups” \(groups) does not divide \(convolution.inputChannels) and \(convolution.outputChannels) channels"
            )
        }
        guard convolution.dilation.bands == 1 else { throw wrong("“dilation” of the bands is not 1") }
        guard convolution.kernel.bands == 1 || (groups == 1 && convolution.dilation.frames == 1) else {
            throw wrong("a kernel over several bands has a dilation of 1 and one group")
        }
        let (padded, shape) = (convolution.padded(input), convolution.shape(of: input))
        guard padded.count <= Limits.activations else { throw tooLarge("activations of the window") }
        guard shape.weightCount <= Limits.weights else { throw tooLarge("weights") }
        guard convolution.kernel.bands <= padded.bands, shape.span <= padded.frames else {
            throw wrong("its kernel spans more than its input, which is \(padded) with its zeros")
        }
        return Plane(
            bands: (padded.bands - convolution.kernel.bands) / convolution.stride.bands + 1,
            frames: (padded.frames - shape.span) / convolution.stride.frames + 1,
            channels: convolution.outputChannels
        )
    }
}
