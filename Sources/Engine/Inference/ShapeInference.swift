private import Core
import KernelInterface
import Kernels

/// Validates one layer against its inputs, and infers the shape of its output.
struct ShapeInference {
    let layer: LayerDescription
    /// The file, and what of it, in error messages.
    let place: String
    let streams: Bool

    func wrong(_ what: String) -> ModelError {
        .layer.saying("\(place): layer \(quoted(layer.name)): \(what); see Models/FORMAT.md")
    }

    func tooLarge(_ what: String) -> ModelError {
        .size.saying(
            "\(place): layer \(quoted(layer.name)): with this layer the \(what) exceed the limit; make the model smaller"
        )
    }

    /// The layer's output, which will be the tensor `index`.
    func output(of inputs: [Network.Tensor], index: Int) throws(ModelError) -> Network.Tensor {
        let isAdd = if case .add = layer.operation { true } else { false }
        guard isAdd ? (2...Limits.addends).contains(inputs.count) : inputs.count == 1 else {
            throw wrong("\(inputs.count) inputs, not \(isAdd ? "2 to \(Limits.addends)" : "1")")
        }
        let (input, plane) = (inputs[0], inputs[0].plane)
        switch layer.operation {
        case .convolution(let convolution, _):
            let output = try output(of: convolution, plane)
            let shape = convolution.shape(of: plane)
            return try tensor(output, of: input, index, span: shape.span, stride: shape.stride)
        case .bandScale(let channels, let parts):
            guard channels == plane.channels else {
                throw wrong("“channels” is \(channels), but its input has \(plane.channels)")
            }
            guard parts >= 1, plane.bands % parts == 0 else {
                throw wrong("“parts” \(parts) does not divide its input's \(plane.bands) bands")
            }
            return try tensor(plane, of: input, index)
        case .add(let activation):
            guard activation == .none || activation == .relu else {
                throw wrong("a sum has no “\(activation.rawValue)”, but none or relu")
            }
            for other in inputs.dropFirst() {
                let band = Plane(frames: plane.frames, channels: plane.channels)
                guard other.plane == plane || other.plane == band else {
                    throw wrong("its inputs differ: \(plane), and \(other.plane)")
                }
                guard other.columnsPerHop == input.columnsPerHop else {
                    throw wrong("its inputs grow by \(input.columnsPerHop) and \(other.columnsPerHop) columns a hop")
                }
            }
            return try tensor(plane, of: input, index)
        case .mean(let columns):
            try requireBand(plane)
            guard (1...Limits.columns).contains(columns) else { throw wrong("“columns” is \(columns), not positive") }
            guard columns <= plane.frames else { throw tooLong(columns, plane) }
            let output = Plane(frames: plane.frames - columns + 1, channels: plane.channels)
            return try tensor(output, of: input, index, span: columns)
        case .meanBands:
            try requireWhole()
            return try tensor(Plane(frames: plane.frames, channels: plane.channels), of: input, index)
        case .meanFrames:
            try requireWhole()
            try requireBand(plane)
            return try tensor(Plane(frames: 1, channels: plane.channels), of: input, index)
        case .crop(let start, let end):
            try requireBand(plane)
            let range = 0...Limits.columns
            guard range.contains(start), range.contains(end) else {
                throw wrong("“start” \(start) or “end” \(end) is negative or too large")
            }
            guard start + end < plane.frames else {
                throw wrong("it drops \(start) + \(end) of \(plane.frames) columns, and leaves none")
            }
            return view(of: input, start, end)
        case .middleFrames(let count):
            try requireWhole()
            try requireBand(plane)
            guard (1...Limits.columns).contains(count) else { throw wrong("“count” is \(count), not positive") }
            let dropped = max(0, plane.frames - count)
            return view(of: input, dropped / 2, dropped - dropped / 2)
        case .flatten:
            try requireWhole()
            guard plane.count <= Limits.channels else { throw tooLarge("channels") }
            var flat = view(of: input, 0, 0)
            flat.plane = Plane(frames: 1, channels: plane.count)
            return flat
        case .normalise:
            try requireLanes(plane.channels)
            return try tensor(plane, of: input, index)
        case .gate:
            try requireLanes(plane.channels, of: 2)
            var half = plane
            half.channels /= 2
            return try tensor(half, of: input, index)
        case .attention(let heads):
            try requireWhole()
            try requireBand(plane)
            guard heads >= 1, plane.channels % (3 * heads) == 0 else {
                throw wrong("its input has \(plane.channels) channels, not queries, keys and values of \(heads) heads")
            }
            return try tensor(Plane(frames: plane.frames, channels: plane.channels / 3), of: input, index)
        }
    }

    private func requireWhole() throws(ModelError) {
        guard !streams else { throw wrong("it cannot stream; set streaming to false") }
    }

    private func requireBand(_ plane: Plane) throws(ModelError) {
        guard plane.bands == 1 else { throw wrong("its input has \(plane.bands) bands, not 1") }
    }

    private func requireLanes(_ channels: Int, of parts: Int = 1) throws(ModelError) {
        guard channels % (parts * columnLanes) == 0 else {
            throw wrong("its input has \(channels) channels, not a multiple of \(parts * columnLanes)")
        }
    }

    private func tooLong(_ span: Int, _ plane: Plane) -> ModelError {
        wrong("it spans \(span) columns, but its input has \(plane.frames)")
    }

    private func output(of convolution: PlaneConvolution, _ input: Plane) throws(ModelError) -> Plane {
        func within(_ key: String, _ values: Int..., limits: ClosedRange<Int>) throws(ModelError) {
            for value in values where !limits.contains(value) {
                throw wrong("“\(key)” is \(value), not from \(limits.lowerBound) to \(limits.upperBound)")
            }
        }
        let (kernel, groups) = (convolution.kernel, convolution.groups)
        try within("in", convolution.inputChannels, limits: 1...Limits.channels)
        try within("out", convolution.outputChannels, limits: 1...Limits.channels)
        try within("groups", groups, limits: 1...Limits.channels)
        for (key, extent) in [
            ("kernel", kernel), ("stride", convolution.stride), ("dilation", convolution.dilation),
        ] { try within(key, extent.bands, extent.frames, limits: 1...Limits.kernel) }
        try within("padding", convolution.padding.bands, convolution.padding.frames, limits: 0...Limits.kernel)
        guard convolution.inputChannels == input.channels else {
            throw wrong("“in” is \(convolution.inputChannels), but its input has \(input.channels) channels")
        }
        guard convolution.inputChannels % groups == 0, convolution.outputChannels % groups == 0 else {
            throw wrong(
                "“groups” \(groups) does not divide \(convolution.inputChannels) and \(convolution.outputChannels) channels"
            )
        }
        guard convolution.dilation.bands == 1 else { throw wrong("“dilation” of the bands is not 1") }
        guard kernel.bands == 1 || (groups == 1 && convolution.dilation.frames == 1) else {
            throw wrong("a kernel over several bands has a dilation of 1 and one group")
        }
        if convolution.isPadded { try requireWhole() }
        let (padded, shape) = (convolution.padded(input), convolution.shape(of: input))
        guard padded.count <= Limits.activations else { throw tooLarge("activations of the window") }
        guard kernel.bands <= padded.bands else {
            throw wrong("its kernel spans more bands than its input has, which are \(padded.bands) with its zeros")
        }
        guard shape.span <= padded.frames else { throw tooLong(shape.span, padded) }
        // The inputs of one output are no more than the input has.
        guard shape.weightCount <= Limits.weights else { throw tooLarge("weights") }
        return Plane(
            bands: (padded.bands - kernel.bands) / convolution.stride.bands + 1,
            frames: (padded.frames - shape.span) / convolution.stride.frames + 1,
            channels: convolution.outputChannels
        )
    }

    /// A tensor that a window of `span` columns computes, which slides over the input by `stride`.
    private func tensor(
        _ plane: Plane,
        of input: Network.Tensor,
        _ index: Int,
        span: Int = 1,
        stride: Int = 1
    ) throws(ModelError) -> Network.Tensor {
        if streams {
            guard input.columnsPerHop % stride == 0 else {
                throw wrong("a hop's \(input.columnsPerHop) new columns are not multiple of the stride \(stride)")
            }
            guard (input.columns - span) % stride == 0 else {
                throw wrong("its last column misses the end of the window, so that it cannot stream")
            }
        }
        let isNonNegative =
            switch layer.operation {
            case .convolution(_, let activation), .add(let activation): activation == .relu
            case .bandScale, .normalise, .gate, .attention: false
            case .mean, .meanBands, .meanFrames, .crop, .middleFrames, .flatten: input.isNonNegative
            }
        return Network.Tensor(
            name: layer.name,
            plane: plane,
            columnsPerHop: input.columnsPerHop / stride,
            root: index,
            isNonNegative: isNonNegative
        )
    }

    private func view(of input: Network.Tensor, _ start: Int, _ end: Int) -> Network.Tensor {
        var view = input
        view.name = layer.name
        view.plane.frames -= start + end
        view.columnsBefore += start
        view.columnsAfter += end
        return view
    }
}
