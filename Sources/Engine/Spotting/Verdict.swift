public import Inference

/// What the confirming networks and the streaming network together answer to a proposal.
public struct Verdict: Sendable, Equatable, BitwiseCopyable {
    /// The likeliest word, by index among the labels.
    public var label: Int
    /// Its posterior, of all networks.
    public var confidence: Float
    /// Its posterior of the confirming networks alone.
    public var confirmed: Float

    public init(label: Int, confidence: Float, confirmed: Float) {
        (self.label, self.confidence, self.confirmed) = (label, confidence, confirmed)
    }

    /// The verdict of the newest look.
    public init(_ confirmer: Confirmer) {
        let words = confirmer.networks.words
        var best = 0
        for index in words.indices where confirmer.fused[index] > confirmer.fused[best] { best = index }
        self.init(label: words[best], confidence: confirmer.fused[best], confirmed: confirmer.confirmed[best])
    }
}

/// Looks at what the gate proposes. A class, because a closure would be allocated.
public protocol ProposalConfirmer: AnyObject {
    /// - Parameters:
    ///   - posteriors: of the streaming network, `[model's labels]`.
    ///   - middle: the middle of the word, in samples since the stream began.
    ///   - hops: since the word became the likeliest.
    func look(_ posteriors: [Float], middle: Int, hops: Int) -> Verdict
}

/// The newest audio of one stream, and the networks that look at it.
final class SecondLook: ProposalConfirmer {
    private let networks: ConfirmingNetworks
    private let model: Model
    private var confirmer: Confirmer?
    private let audio: RecentAudio

    /// - Parameters:
    ///   - confirmer: several streams may share one; nil makes one at the first look, which then allocates.
    ///   - hops: hops of the stream until now.
    /// - Returns: nil for a model without confirming networks.
    init?(_ model: Model, confirmer: Confirmer?, hops: Int = 0) {
        guard let networks = model.confirmation else { return nil }
        self.model = model
        self.networks = networks
        self.confirmer = confirmer
        audio = RecentAudio(
            hopSamples: model.hopSamples,
            sampleRate: model.sampleRate,
            reach: networks.reachSamples,
            after: hops
        )
    }

    /// Adds what is before the newest hop in a window that ends with it; for a look that begins within a stream.
    func fill(before window: Span<Float>) { audio.fill(before: window) }

    /// Adds a hop of audio.
    func add(hop: Span<Float>) { audio.add(hop: hop) }

    /// Forgets the audio; the time goes on.
    func flush() { audio.flush() }

    func look(_ posteriors: [Float], middle: Int, hops: Int) -> Verdict {
        let confirmer = self.confirmer ?? Confirmer(networks, of: model)
        self.confirmer = confirmer
        let audio = audio
        confirmer.look(posteriors, middle: middle, penalty: networks.duration.nats(after: hops)) {
            audio.read(from: $0, into: $1)
        }
        return Verdict(confirmer)
    }
}

extension Confirmer {
    /// Nil for a model without confirming networks.
    convenience init?(_ model: Model) {
        guard let networks = model.confirmation else { return nil }
        self.init(networks, of: model)
    }
}
