private import Glibc
import KernelInterface
import Kernels

/// Looks at windows of a recording with all networks of a ``ConfirmingNetworks``, and fuses their answers with the streaming network's.
///
/// In a stream a word that the first networks refuse is not looked at by the others.
///
/// `init` allocates all memory; `look` allocates nothing.
public final class Confirmer {
    /// Posteriors of the fused answer after `look`: the confirmed words, `[ConfirmingNetworks.words]`, then everything else.
    public private(set) var fused: [Float]
    /// The same of the confirming networks alone.
    public private(set) var confirmed: [Float]

    /// The networks that look.
    public let networks: ConfirmingNetworks
    private let kernels: KernelSet
    private let prior: Prior
    /// The posterior below which every word is refused before all networks have looked.
    private let refusal: Float
    private let arena: Arena
    private let window: Arena.Region
    private let memory: Arena.Region
    private let probabilities: Arena.Region

    /// A window's highest magnitude: louder ones are scaled down to it, as in training.
    private static let highest: Float = 0.5
    /// The least posterior whose logarithm is taken.
    private static let least: Float = 1e-6

    /// - Parameter model: the model of these networks.
    public init(_ networks: ConfirmingNetworks, of model: Model, prior: Prior = .stream) {
        self.networks = networks
        self.prior = prior
        refusal = prior == .stream ? networks.refusal : 0
        kernels = model.kernels
        var layout = Arena.Layout()
        window = layout.reserve(networks.networks.map(\.windowSamples).max() ?? 0)
        memory = layout.reserve(networks.networks.map(\.memoryCount).max() ?? 0)
        probabilities = layout.reserve(networks.networks.map(\.labels.count).max() ?? 0)
        arena = Arena(layout)
        fused = [Float](repeating: 0, count: networks.words.count + 1)
        confirmed = fused
    }

    /// Computes `fused` and `confirmed`.
    ///
    /// - Parameters:
    ///   - posteriors: of the streaming network, `[model's labels]`.
    ///   - middle: the sample in the middle of the word.
    ///   - penalty: nats that are subtracted from the log-posteriors of all words.
    ///   - contrast: of a clip, in dB: how far something stands out of its background.
    ///   - read: writes so many samples, from a sample on, to memory; those that a recording does not have are 0.
    public func look(
        _ posteriors: [Float],
        middle: Int,
        penalty: Float = 0,
        contrast: Float = .infinity,
        read: (_ first: Int, UnsafeMutableBufferPointer<Float>) -> Void
    ) {
        for index in confirmed.indices { confirmed[index] = 0 }
        let foreground = networks.foreground(contrast)
        let own = share(networks.shares, foreground)
        var total: Float = 0
        // Counts indices: an array's iterator allocates in builds without optimisation.
        for number in networks.networks.indices {
            let network = networks.networks[number]
            let share = share(network.shares, foreground)
            guard share > 0 else { continue }
            if total > 0, refusal > 0 {
                fuse(posteriors, own, penalty)
                if isRefused { break }
            }
            total += share
            for index in network.shifts.indices {
                let samples = UnsafeMutableBufferPointer(start: arena[window], count: network.windowSamples)
                read(middle + network.shifts[index] - network.windowSamples / 2, samples)
                limit(samples)
                let logits = network.run(arena[window], memory: arena[memory], kernels: kernels)
                guard kernels.softmax(logits, arena[probabilities], network.labels.count, 1) else { continue }
                add(number, weight: share / Float(network.shifts.count))
            }
        }
        fuse(posteriors, own, penalty)
        if total > 0 { for index in confirmed.indices { confirmed[index] /= total } }
        Self.normalise(&confirmed)
    }

    /// Whether no word of `fused` reaches the limit.
    private var isRefused: Bool {
        for index in networks.words.indices where fused[index] >= refusal { return false }
        return true
    }

    private func share(_ shares: Shares, _ foreground: Float) -> Float {
        prior == .clip ? shares.clip(foreground: foreground) : shares.stream
    }

    /// Computes `fused` from the streaming network's posteriors, of this share, and the sums of log-posteriors in `confirmed`.
    private func fuse(_ posteriors: [Float], _ own: Float, _ penalty: Float) {
        let other = networks.words.count
        var rest: Float = 1
        for index in 0..<other {
            let posterior = posteriors[networks.words[index]]
            rest -= posterior
            fused[index] = confirmed[index] + own * log(max(Self.least, posterior)) - penalty
        }
        fused[other] = confirmed[other] + own * log(max(Self.least, rest))
        Self.normalise(&fused)
    }

    /// Adds the log-posteriors of the network's newest run to `confirmed`.
    private func add(_ network: Int, weight: Float) {
        let probabilities = arena[probabilities]
        let logits = networks.logits[network]
        for index in logits.indices { confirmed[index] += weight * log(max(Self.least, probabilities[logits[index]])) }
        let others = networks.otherLogits[network]
        var rest: Float = 0
        for index in others.indices { rest += probabilities[others[index]] }
        confirmed[logits.count] += weight * log(max(Self.least, rest))
    }

    /// Scales samples so that none exceeds the peak; samples that are not finite become 0.
    private func limit(_ samples: UnsafeMutableBufferPointer<Float>) {
        guard let base = samples.baseAddress else { return }
        var magnitude = peak(base, count: samples.count)
        if magnitude.isNaN {
            for index in samples.indices where !samples[index].isFinite { samples[index] = 0 }
            magnitude = peak(base, count: samples.count)
        }
        guard magnitude > Self.highest else { return }
        scale(base, by: Self.highest / magnitude, to: base, count: samples.count)
    }

    /// Turns logarithms into posteriors.
    private static func normalise(_ logarithms: inout [Float]) {
        var (highest, sum) = (-Float.infinity, Float(0))
        for index in logarithms.indices { highest = max(highest, logarithms[index]) }
        for index in logarithms.indices {
            logarithms[index] = exp(logarithms[index] - highest)
            sum += logarithms[index]
        }
        for index in logarithms.indices { logarithms[index] /= sum }
    }
}
