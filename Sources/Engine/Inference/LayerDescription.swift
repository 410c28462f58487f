private import Core
package import KernelInterface

/// One layer of `model.json`, decoded but not validated; its keys are specified in `Models/FORMAT.md`.
package struct LayerDescription: Decodable, Sendable {
    /// What a layer computes, with its parameters.
    package enum Operation: Sendable, Equatable {
        /// A convolution; a dense layer is one with a kernel of 1.
        case convolution(ConvolutionShape, dense: Bool, relu: Bool)
        /// The sum of two inputs of the same shape.
        case add(relu: Bool)
        /// The moving average over this number of columns.
        case mean(columns: Int)
        /// Drops columns at the start and at the end.
        case crop(start: Int, end: Int)
        /// Makes all columns one column.
        case flatten
    }

    package var name: String
    /// Names of earlier layers, or "input": two for `add`, one for all other operations.
    package var inputs: [String]
    /// What the layer computes.
    package var operation: Operation

    private enum Key: String, CodingKey {
        case op, name, input, inputs, kernel, stride, dilation, groups, activation, columns, start, end
        case inputChannels = "in"
        case outputChannels = "out"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        name = try container.decode(String.self, forKey: .name)
        let op = try container.decode(String.self, forKey: .op)
        inputs =
            op == "add"
            ? try container.decode([String].self, forKey: .inputs)
            : [try container.decode(String.self, forKey: .input)]
        func number(_ key: Key, or fallback: Int) throws -> Int {
            try container.decodeIfPresent(Int.self, forKey: key) ?? fallback
        }
        func relu() throws -> Bool {
            let activation = try container.decodeIfPresent(String.self, forKey: .activation) ?? "none"
            guard activation == "relu" || activation == "none" else {
                throw DecodingError.dataCorruptedError(
                    forKey: .activation,
                    in: container,
                    debugDescription: "unknown activation \(quoted(activation)), not none or relu"
                )
            }
            return activation == "relu"
        }
        switch op {
        case "conv1d", "dense":
            let dense = op == "dense"
            let shape = ConvolutionShape(
                inputChannels: try container.decode(Int.self, forKey: .inputChannels),
                outputChannels: try container.decode(Int.self, forKey: .outputChannels),
                kernel: dense ? 1 : try container.decode(Int.self, forKey: .kernel),
                stride: dense ? 1 : try number(.stride, or: 1),
                dilation: dense ? 1 : try number(.dilation, or: 1),
                groups: dense ? 1 : try number(.groups, or: 1)
            )
            operation = .convolution(shape, dense: dense, relu: try relu())
        case "add": operation = .add(relu: try relu())
        case "mean": operation = .mean(columns: try container.decode(Int.self, forKey: .columns))
        case "crop": operation = .crop(start: try number(.start, or: 0), end: try number(.end, or: 0))
        case "flatten": operation = .flatten
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .op,
                in: container,
                debugDescription: "unknown op \(quoted(op)), not conv1d, dense, add, mean, crop or flatten"
            )
        }
    }
}
