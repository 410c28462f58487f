private import Core
import KernelInterface
import Kernels

/// The validation of one layer: its errors name the layer.
protocol LayerInference {
    /// The layer's name.
    var name: String { get }
    /// The file, and what of it, in error messages.
    var place: String { get }
}

extension LayerInference {
    func wrong(_ what: String) -> ModelError {
        .layer.saying("\(place): layer \(quoted(name)): \(what); see Models/FORMAT.md")
    }

    func tooLarge(_ what: String) -> ModelError {
        .size.saying(
            "\(place): layer \(quoted(name)): with this layer the \(what) exceed the limit; make the model smaller"
        )
    }
}

/// Validates one layer against its inputs, and infers the shape of its output.
struct ShapeInference: LayerInference {
    let layer: LayerDescription
    let file: String
    let streams: Bool

    var place: String { file }
    var name: String { layer.name }

    /// The layer's output, which will be the tensor `index`.
    func outputTensor(inputs: [Int], among tensors: [Network.Tensor], index: Int) throws(ModelError) -> Network.Tensor {
        let isAdd = if case .add = layer.operation { true } else { false }
        guard inputs.count == (isAdd ? 2 : 1) else { throw wrong("\(inputs.count) inputs, not \(isAdd ? 2 : 1)") }
        let input = tensors[inputs[0]]
        switch layer.operation {
        case .convolution(let shape, _, _):
            try validate(shape)
            guard shape.inputChannels == input.channels else {
                throw wrong("“in” is \(shape.inputChannels), but its input has \(input.channels) channels")
            }
            return try slidingWindow(
                input,
                span: shape.span,
                stride: shape.stride,
                channels: shape.outputChannels,
                index: index
            )
        case .mean(let columns):
            guard (1...Limits.columns).contains(columns) else { throw wrong("“columns” is \(columns), not positive") }
            return try slidingWindow(input, span: columns, stride: 1, channels: input.channels, index: index)
        case .add:
            let other = tensors[inputs[1]]
            guard input.channels == other.channels, input.columns == other.columns else {
                throw wrong(
                    "its inputs differ: \(input.columns) columns of \(input.channels) channels, and \(other.columns) "
                        + "of \(other.channels)"
                )
            }
            guard input.columnsPerHop == other.columnsPerHop else {
                throw wrong("its inputs grow by \(input.columnsPerHop) and \(other.columnsPerHop) columns a hop")
            }
            return try slidingWindow(input, span: 1, stride: 1, channels: input.channels, index: index)
        case .crop(let start, let end):
            let range = 0...Limits.columns
            guard range.contains(start), range.contains(end) else {
                throw wrong("“start” \(start) or “end” \(end) is negative or too large")
            }
            guard start + end < input.columns else {
                throw wrong("it drops \(start) + \(end) of \(input.columns) columns, and leaves none")
            }
            return view(of: input, channels: input.channels, columns: input.columns - start - end, start, end)
        case .flatten:
            guard !streams else { throw wrong("a flatten cannot stream; set streaming to false") }
            let channels = input.channels * input.columns
            guard channels <= Limits.channels else { throw tooLarge("channels") }
            return view(of: input, channels: channels, columns: 1, 0, 0)
        }
    }

    private func validate(_ shape: ConvolutionShape) throws(ModelError) {
        func within(_ key: String, _ value: Int, _ limit: Int) throws(ModelError) {
            guard (1...limit).contains(value) else { throw wrong("“\(key)” is \(value), not from 1 to \(limit)") }
        }
        try within("in", shape.inputChannels, Limits.channels)
        try within("out", shape.outputChannels, Limits.channels)
        try within("kernel", shape.kernel, Limits.kernel)
        try within("stride", shape.stride, Limits.kernel)
        try within("dilation", shape.dilation, Limits.kernel)
        try within("groups", shape.groups, Limits.channels)
        guard shape.inputChannels % shape.groups == 0, shape.outputChannels % shape.groups == 0 else {
            throw wrong(
                "“groups” \(shape.groups) does not divide \(shape.inputChannels) and "
                    + "\(shape.outputChannels) channels"
            )
        }
        guard shape.weightCount <= Limits.weights else { throw tooLarge("weights") }
    }

    /// The output of a window of `span` columns that slides over the input by `stride`.
    private func slidingWindow(
        _ input: Network.Tensor,
        span: Int,
        stride: Int,
        channels: Int,
        index: Int
    ) throws(ModelError) -> Network.Tensor {
        guard span <= input.columns else { throw wrong("it spans \(span) columns, but its input has \(input.columns)") }
        if streams {
            guard input.columnsPerHop % stride == 0 else {
                throw wrong("a hop's \(input.columnsPerHop) new columns are not multiple of the stride \(stride)")
            }
            guard (input.columns - span) % stride == 0 else {
                throw wrong("its last column misses the end of the window, so that it cannot stream")
            }
        }
        return Network.Tensor(
            name: layer.name,
            channels: channels,
            columns: (input.columns - span) / stride + 1,
            columnsPerHop: input.columnsPerHop / stride,
            root: index,
            isNonNegative: isNonNegative(after: input),
            columnsBefore: 0,
            columnsAfter: 0
        )
    }

    private func isNonNegative(after input: Network.Tensor) -> Bool {
        switch layer.operation {
        case .convolution(_, _, let relu), .add(let relu): relu
        case .mean, .crop, .flatten: input.isNonNegative
        }
    }

    private func view(
        of input: Network.Tensor,
        channels: Int,
        columns: Int,
        _ start: Int,
        _ end: Int
    ) -> Network.Tensor {
        Network.Tensor(
            name: layer.name,
            channels: channels,
            columns: columns,
            columnsPerHop: input.columnsPerHop,
            root: input.root,
            isNonNegative: input.isNonNegative,
            columnsBefore: input.columnsBefore + start,
            columnsAfter: input.columnsAfter + end
        )
    }
}
