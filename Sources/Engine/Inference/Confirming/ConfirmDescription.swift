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
    package var layers: [LayerDescription]
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
