import Inference

/// What the gate proposes, as a second look needs it.
public struct ProposedWord: Sendable, Equatable, Hashable, BitwiseCopyable {
    public var label: Int
    /// Its score.
    public var score: Float
    /// The middle of the word, and where the audio ends that belongs to it, in samples since the stream began.
    public var middle: Int
    public var end: Int
    /// Since the word became the likeliest.
    public var hops: Int
    /// How a taught phrase stands beside its parts.
    public var partMargin: PartMargin

    public init(label: Int, score: Float, middle: Int, end: Int, hops: Int, partMargin: PartMargin = .infinity) {
        (self.label, self.score, self.partMargin) = (label, score, partMargin)
        (self.middle, self.end, self.hops) = (middle, end, hops)
    }
}

/// Looks at what the gate proposes. A class, because a closure would be allocated.
public protocol ProposalConfirmer: AnyObject {
    /// - Parameter posteriors: of the streaming network, `[model's labels]`.
    func look(_ word: ProposedWord, _ posteriors: [Float]) -> Verdict
}

/// What looks at the proposals of some streams, one at a time: the confirming networks of the model at its words, and the alignment with
/// takes at taught words.
public final class Confirmers {
    private let networks: Confirmer?
    private let taught: TaughtWordLook?

    /// - Returns: nil for a vocabulary without second looks.
    public init?(_ vocabulary: Vocabulary) {
        networks = Confirmer(vocabulary.model)
        taught = TaughtWordLook(vocabulary)
        guard networks != nil || taught != nil else { return nil }
    }

    /// - Parameter read: writes so many samples, from a sample on, to memory; those that the stream does not have are 0.
    public func look(
        _ word: ProposedWord,
        _ posteriors: [Float],
        read: (_ first: Int, UnsafeMutableBufferPointer<Float>) -> Void
    ) -> Verdict {
        if let verdict = taught?.look(word, read: read) { return verdict }
        guard let networks else { return Verdict(label: word.label, confidence: 0, confirmed: 0) }
        let penalty = networks.networks.duration.nats(after: word.hops)
        networks.look(posteriors, middle: word.middle, penalty: penalty, read: read)
        return Verdict(networks)
    }

    /// Whether a vocabulary has some.
    static func exist(for vocabulary: Vocabulary) -> Bool {
        vocabulary.model.confirmation != nil || !vocabulary.lookedAt.isEmpty
    }
}

/// The newest audio of one stream, and what looks at it.
final class SecondLook: ProposalConfirmer {
    private let vocabulary: Vocabulary
    private var confirmers: Confirmers?
    private let audio: RecentAudio

    /// - Parameters:
    ///   - confirmers: several streams may share them; nil makes them at the first look, which then allocates.
    ///   - hops: hops of the stream until now.
    ///   - former: of the same stream, whose audio goes on; nil where it begins.
    /// - Returns: nil for a vocabulary without second looks.
    init?(_ vocabulary: Vocabulary, _ confirmers: Confirmers?, hops: Int = 0, replacing former: SecondLook? = nil) {
        guard Confirmers.exist(for: vocabulary) else { return nil }
        self.vocabulary = vocabulary
        self.confirmers = confirmers
        let model = vocabulary.model
        if let former, former.vocabulary.model === model {
            audio = former.audio
        } else {
            audio = RecentAudio(
                hopSamples: model.hopSamples,
                sampleRate: model.sampleRate,
                reach: model.confirmation?.reachSamples ?? 0,
                after: hops
            )
        }
    }

    /// Adds what is before the newest hop in a window that ends with it; for a look that begins within a stream.
    func fill(before window: Span<Float>) { audio.fill(before: window) }

    /// Adds a hop of audio.
    func add(hop: Span<Float>) { audio.add(hop: hop) }

    /// Forgets the audio; the time goes on.
    func flush() { audio.flush() }

    func look(_ word: ProposedWord, _ posteriors: [Float]) -> Verdict {
        guard let confirmers = confirmers ?? Confirmers(vocabulary) else {
            return Verdict(label: word.label, confidence: 0, confirmed: 0)
        }
        self.confirmers = confirmers
        let audio = audio
        return confirmers.look(word, posteriors) { audio.read(from: $0, into: $1) }
    }
}

extension Confirmer {
    /// Nil for a model without confirming networks.
    convenience init?(_ model: Model) {
        guard let networks = model.confirmation else { return nil }
        self.init(networks, of: model)
    }
}
