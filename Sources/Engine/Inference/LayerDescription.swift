private import Core

/// One layer of a network in `model.json`, decoded but not validated; its keys are specified in `Models/FORMAT.md`.
package struct LayerDescription: Decodable, Sendable {
    package enum Activation: String, Sendable { case none, relu, silu, gelu }

    /// What a layer computes, with its parameters.
    package enum Operation: Sendable, Equatable {
        /// A convolution; one over the frames alone has one band, and a dense layer is one with a kernel of 1.
        case convolution(PlaneConvolution, Activation)
        /// A factor and a summand for each channel and each of equal parts of the bands.
        case bandScale(channels: Int, parts: Int)
        /// The sum of inputs of the same shape; one band is added to every band.
        case add(Activation)
        /// The moving average over this number of columns.
        case mean(columns: Int)
        /// The mean of all bands, which become one.
        case meanBands
        /// The mean of all frames, which become one.
        case meanFrames
        /// Drops columns at the start and at the end.
        case crop(start: Int, end: Int)
        /// Keeps frames in the middle.
        case middleFrames(count: Int)
        /// Makes all columns one column.
        case flatten
        /// Gives each column the mean 0 and the variance 1; then, where it is scaled, a factor and a summand for each channel.
        case normalise(isScaled: Bool)
        /// The first half of the channels, each times the sigmoid of its opposite in the second half.
        case gate
        /// Attention of each column to all, of its queries, keys and values, each of all heads.
        case attention(heads: Int)
    }

    package var name: String
    /// Names of earlier layers, or of the network's input: two or more for `add`, one for all other operations.
    package var inputs: [String]
    package var operation: Operation

    private enum Key: String, CodingKey {
        case op, name, input, inputs, kernel, stride, padding, dilation, groups, activation, columns, start, end
        case channels, parts, count
        case inputChannels = "in"
        case outputChannels = "out"
    }

    /// A layer with one input, of a network that is described in code.
    package init(_ name: String, of input: String, _ operation: Operation) {
        (self.name, inputs, self.operation) = (name, [input], operation)
    }

    /// The sum of two layers.
    package init(_ name: String, sum inputs: (String, String)) {
        (self.name, self.inputs, operation) = (name, [inputs.0, inputs.1], .add(.none))
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        name = try container.decode(String.self, forKey: .name)
        let op = try container.decode(String.self, forKey: .op)
        inputs =
            op == "add"
            ? try container.decode([String].self, forKey: .inputs)
            : [try container.decode(String.self, forKey: .input)]
        func number(_ key: Key) throws -> Int { try container.decode(Int.self, forKey: key) }
        func wrong(_ key: Key, _ what: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: container, debugDescription: what)
        }
        func activation() throws -> Activation {
            let name = try container.decodeIfPresent(String.self, forKey: .activation) ?? Activation.none.rawValue
            guard let activation = Activation(rawValue: name) else {
                throw wrong(.activation, "unknown activation \(quoted(name)), not none, relu, silu or gelu")
            }
            return activation
        }
        switch op {
        case "conv1d", "conv2d", "dense":
            let kernel =
                switch op {
                case "conv1d": Extent(bands: 1, frames: try number(.kernel))
                case "conv2d": try container.decode(Extent.self, forKey: .kernel)
                default: Extent(bands: 1, frames: 1)
                }
            func extent(_ key: Key, or usual: Extent) throws -> Extent {
                if op == "conv2d" { return try container.decodeIfPresent(Extent.self, forKey: key) ?? usual }
                let frames = op == "conv1d" ? try container.decodeIfPresent(Int.self, forKey: key) : nil
                return Extent(bands: usual.bands, frames: frames ?? usual.frames)
            }
            var convolution = PlaneConvolution(
                inputChannels: try number(.inputChannels),
                outputChannels: try number(.outputChannels),
                kernel: kernel
            )
            convolution.storedDimensions = op == "dense" ? 2 : op == "conv1d" ? 3 : 4
            convolution.stride = try extent(.stride, or: convolution.stride)
            convolution.dilation = try extent(.dilation, or: convolution.dilation)
            if op == "conv2d" { convolution.padding = try extent(.padding, or: convolution.padding) }
            if op != "dense" { convolution.groups = try container.decodeIfPresent(Int.self, forKey: .groups) ?? 1 }
            operation = .convolution(convolution, try activation())
        case "bandScale": operation = .bandScale(channels: try number(.channels), parts: try number(.parts))
        case "add": operation = .add(try activation())
        case "mean": operation = .mean(columns: try number(.columns))
        case "meanBands": operation = .meanBands
        case "meanFrames": operation = .meanFrames
        case "crop":
            func columns(_ key: Key) throws -> Int { try container.decodeIfPresent(Int.self, forKey: key) ?? 0 }
            operation = .crop(start: try columns(.start), end: try columns(.end))
        case "middleFrames": operation = .middleFrames(count: try number(.count))
        case "flatten": operation = .flatten
        default:
            throw wrong(
                .op,
                "unknown op \(quoted(op)), not conv1d, conv2d, dense, bandScale, add, mean, meanBands, meanFrames, crop, "
                    + "middleFrames or flatten"
            )
        }
    }
}
