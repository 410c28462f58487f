private import Core

/// `confirm` of `model.json`, decoded but not validated: the networks that look once more at what the streaming network proposes.
package struct ConfirmDescription: Decodable, Sendable {
    package var networks: [ConfirmingNetworkDescription]
    /// Weight of the streaming network's log-posteriors in the sum.
    package var share: Double
    /// The same for single clips; `share` if missing.
    package var clipShare: Double?
    /// The same for clips in which nothing stands out of the background; `clipShare` if missing.
    package var noisyClipShare: Double?
    /// Contrasts of clips between which shares move from one to the other; needs `clipContrast` of the model.
    package var clipContrast: ContrastRangeDescription?
    /// The least score that is proposed, by mode, which is checked after decoding.
    package var proposals: [String: Double]?
    /// The thresholds of the fused confidence; those of the model if both are missing.
    package var thresholds: [String: Double]?
    /// The same by sensitivity and mode, which are checked after decoding.
    package var sensitivities: [String: [String: SensitivityDescription]]?
    /// How long a word is the likeliest before all of its confidence counts; at once if missing.
    package var duration: DurationDescription?
    /// In a stream, the posterior below which every word is refused before all networks have looked; 0 if missing.
    package var refuseBelow: Double?
}

/// `clipContrast` of `confirm`, in dB.
package struct ContrastRangeDescription: Decodable, Sendable {
    package var from: Double
    package var to: Double
}

/// `duration` of `confirm`.
package struct DurationDescription: Decodable, Sendable {
    package var hops: Int
    /// In nats, for each hop that is missing.
    package var penalty: Double
}

/// A network of `confirm`.
package struct ConfirmingNetworkDescription: Decodable, Sendable {
    /// Its tensors are called `<name>.<layer>.weight` and so on.
    package var name: String
    package var windowSamples: Int
    package var frontEnd: CentredFrontEndDescription
    /// What each logit stands for; any word, and what is not a word.
    package var labels: [String]
    package var layers: [ConfirmingLayerDescription]
    package var output: String
    /// Weight of its log-posteriors in the sum.
    package var share: Double
    /// The same for single clips; `share` if missing.
    package var clipShare: Double?
    /// The same for clips in which nothing stands out of the background; `clipShare` if missing.
    package var noisyClipShare: Double?
    /// Shifts of the window in seconds; the answers are averaged. One look without a shift if missing.
    package var shifts: [Double]?
    /// Largest absolute outputs, by layer or `"features"`: the layers that read these may run in int8.
    package var ranges: [String: Double]?
}

/// The front end of a confirming network: log-mel with frames centred on their hop, and slopes.
package struct CentredFrontEndDescription: Decodable, Sendable {
    /// What the mel bands are in the network's input.
    package enum Axis: String, Decodable, Sendable {
        /// `[bands × frames × (1 + slopes)]`.
        case bands
        /// `[1 × frames × bands]`.
        case channels
    }

    package var logMel: LogMelDescription
    package var axis: Axis
    /// How many further channels there are, each the slope of the one before.
    package var slopes: Int

    private enum Key: String, CodingKey { case kind, axis, slopes }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let kind = try container.decode(String.self, forKey: .kind)
        guard kind == "centred-log-mel" else {
            throw DecodingError.dataCorruptedError(
                forKey: .kind,
                in: container,
                debugDescription: "unknown front end \(quoted(kind)), not centred-log-mel"
            )
        }
        logMel = try LogMelDescription(from: decoder)
        axis = try container.decodeIfPresent(Axis.self, forKey: .axis) ?? .bands
        slopes = try container.decodeIfPresent(Int.self, forKey: .slopes) ?? 0
    }
}

/// One layer of a confirming network; its keys are specified in `Models/FORMAT.md`.
package struct ConfirmingLayerDescription: Decodable, Sendable {
    package enum Activation: String, Decodable, Sendable { case none, relu, silu }

    /// What a layer computes.
    package enum Operation: Sendable {
        case convolution(PlaneConvolution, Activation)
        /// A factor and a summand for each channel and each of equal parts of the bands.
        case bandScale(channels: Int, parts: Int)
        /// The mean of all bands, which become one.
        case meanBands
        /// The mean of all frames, which become one.
        case meanFrames
        /// Frames in the middle.
        case middleFrames(count: Int)
        /// The sum of inputs of the same shape; one band is added to every band.
        case add(Activation)
    }

    package var name: String
    /// Names of earlier layers, or "features".
    package var inputs: [String]
    package var operation: Operation

    private enum Key: String, CodingKey {
        case op, name, input, inputs, kernel, stride, padding, dilation, groups, activation, channels, parts, count
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
        func extent(_ key: Key, or fallback: Int) throws -> Extent {
            try container.decodeIfPresent(Extent.self, forKey: key) ?? Extent(bands: fallback, frames: fallback)
        }
        let activation = try container.decodeIfPresent(Activation.self, forKey: .activation) ?? .none
        switch op {
        case "conv2d":
            let shape = PlaneConvolution(
                inputChannels: try container.decode(Int.self, forKey: .inputChannels),
                outputChannels: try container.decode(Int.self, forKey: .outputChannels),
                kernel: try container.decode(Extent.self, forKey: .kernel),
                stride: try extent(.stride, or: 1),
                padding: try extent(.padding, or: 0),
                dilation: try extent(.dilation, or: 1),
                groups: try container.decodeIfPresent(Int.self, forKey: .groups) ?? 1
            )
            operation = .convolution(shape, activation)
        case "bandScale":
            operation = .bandScale(
                channels: try container.decode(Int.self, forKey: .channels),
                parts: try container.decode(Int.self, forKey: .parts)
            )
        case "meanBands": operation = .meanBands
        case "meanFrames": operation = .meanFrames
        case "middleFrames": operation = .middleFrames(count: try container.decode(Int.self, forKey: .count))
        case "add": operation = .add(activation)
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .op,
                in: container,
                debugDescription:
                    "unknown op \(quoted(op)), not conv2d, bandScale, meanBands, meanFrames, middleFrames or add"
            )
        }
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

/// A two-dimensional convolution with zeros around its input, decoded but not validated.
package struct PlaneConvolution: Sendable, Equatable {
    package var inputChannels: Int
    package var outputChannels: Int
    package var kernel: Extent
    package var stride: Extent
    package var padding: Extent
    package var dilation: Extent
    package var groups: Int
}
