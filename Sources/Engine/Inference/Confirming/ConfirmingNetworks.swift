public import Core
import KernelInterface
import Kernels

/// The networks of a model that confirm what its streaming network proposes.
public final class ConfirmingNetworks: Sendable {
    public let networks: [ConfirmingNetwork]
    /// Those of the streaming network.
    let shares: Shares
    /// Contrasts of clips between which shares move; nil where they are the same for all clips.
    private let clipContrast: ContrastRange?
    /// The least score that is proposed, in each mode.
    public let proposals: [DetectionMode: Float]
    /// Lowers the confidence of words that have been the likeliest for a few hops only.
    public let duration: DurationPenalty
    /// In a stream, the posterior below which every word is refused before all networks have looked.
    let refusal: Float
    /// The words of the model that all networks know, by index among its labels.
    public let words: [Int]
    /// For each network the logit of each of these words, `[networks][words]`.
    let logits: [[Int]]
    /// For each network the other logits, `[networks][…]`.
    let otherLogits: [[Int]]

    /// Half of the longest window and its shift: samples that one look reads before and after a word's middle.
    public let reachSamples: Int
    /// Multiply-adds of one look in a stream, all its networks and shifts together.
    public var multiplyAdds: Int { networks.reduce(0) { $0 + ($1.shares.stream > 0 ? $1.multiplyAdds : 0) } }
    /// Bytes of the packed weights.
    public var weightBytes: Int { networks.reduce(0) { $0 + $1.weightBytes } }

    /// The least score that is proposed where the model does not say.
    static let defaultProposal = 0.2

    /// - Parameters:
    ///   - labels: of the model, whose last two are no words.
    ///   - measuresContrast: whether the model measures the contrast of clips.
    ///   - file: name of the description in error messages.
    init(
        _ description: ConfirmDescription,
        labels: [String],
        measuresContrast: Bool,
        sampleRate: Int,
        isQuantised: Bool,
        kernels: KernelSet,
        from tensors: SafeTensors,
        file: String
    ) throws(ModelError) {
        func wrong(_ key: String, _ what: String) -> ModelError {
            .description.saying("\(file): key “confirm.\(key)”: \(what); see Models/FORMAT.md")
        }
        guard (1...Limits.confirmingNetworks).contains(description.networks.count) else {
            throw wrong(
                "networks",
                "\(description.networks.count) networks, not from 1 to \(Limits.confirmingNetworks)"
            )
        }
        guard Set(description.networks.map(\.name)).count == description.networks.count else {
            throw wrong("networks", "two have the same name")
        }
        shares = try Shares(
            description.share,
            clip: description.clipShare,
            noisyClip: description.noisyClipShare,
            wrong: wrong
        )
        clipContrast = try Self.range(description, measuresContrast: measuresContrast, wrong: wrong)
        var proposals: [DetectionMode: Float] = [:]
        for mode in DetectionMode.allCases { proposals[mode] = Float(Self.defaultProposal) }
        for (name, score) in (description.proposals ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let mode = DetectionMode(rawValue: name) else {
                throw wrong("proposals", "\(quoted(name)) is not a mode; use command or spot")
            }
            guard score > 0, score < 1 else { throw wrong("proposals", "\(score) is not between 0 and 1") }
            proposals[mode] = Float(score)
        }
        duration = try DurationPenalty(description.duration, wrong: wrong)
        let refusal = description.refuseBelow ?? 0
        guard refusal >= 0, refusal < 1 else { throw wrong("refuseBelow", "\(refusal) is not from 0 to below 1") }
        self.refusal = Float(refusal)
        let loading = description.networks.map { network in
            Loading { () throws(ModelError) in
                try ConfirmingNetwork(
                    network,
                    sampleRate: sampleRate,
                    isQuantised: isQuantised,
                    kernels: kernels,
                    from: tensors,
                    file: file
                )
            }
        }
        let networks = try loading.map { one throws(ModelError) in try one.value() }
        let known = networks.map { network in
            Dictionary(uniqueKeysWithValues: zip(network.labels, network.labels.indices))
        }
        let words = Labels(labels).wordIndices.filter { index in known.allSatisfy { $0[labels[index]] != nil } }
        guard !words.isEmpty else { throw wrong("networks", "they know none of the model's words in common") }
        self.networks = networks
        self.words = words
        self.proposals = proposals
        logits = known.map { indices in words.map { indices[labels[$0]] ?? 0 } }
        let names = Set(words.map { labels[$0] })
        otherLogits = networks.map { network in network.labels.indices.filter { !names.contains(network.labels[$0]) } }
        reachSamples = networks.map { $0.windowSamples / 2 + ($0.shifts.map(abs).max() ?? 0) }.max() ?? 0
    }

    private static func range(
        _ description: ConfirmDescription,
        measuresContrast: Bool,
        wrong: (_ key: String, _ what: String) -> ModelError
    ) throws(ModelError) -> ContrastRange? {
        guard let range = description.clipContrast else {
            let shares = [description.noisyClipShare] + description.networks.map(\.noisyClipShare)
            guard shares.allSatisfy({ $0 == nil }) else {
                throw wrong("clipContrast", "missing, but there is a “noisyClipShare”")
            }
            return nil
        }
        let valid = try ContrastRange(range.from, range.to) { wrong("clipContrast", $0) }
        guard measuresContrast else { throw wrong("clipContrast", "is given, but the model has no “clipContrast”") }
        return valid
    }

    /// How far something stands out of the background of a clip of this contrast in dB, 0…1.
    func foreground(_ contrast: Float) -> Float { clipContrast?.foreground(contrast) ?? 1 }
}
