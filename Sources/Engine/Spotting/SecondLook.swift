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

/// What looks at the proposals of streams, one at a time: the confirming networks of the model at its words, and the alignment with
/// takes at taught words.
// Sendable is unchecked because of its scratch memory: one thread at a time has it.
public final class Confirmers: @unchecked Sendable {
    private let networks: Confirmer?
    private let taught: TaughtWordLook?

    /// - Parameter vocabulary: has second looks.
    public init(_ vocabulary: Vocabulary) {
        networks = Confirmer(vocabulary.model)
        taught = TaughtWordLook(vocabulary)
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
}

/// The newest audio of one stream, and looks at it, by what streams of a vocabulary share.
///
/// Audio is kept for a vocabulary without second looks too: one with them may follow within the stream.
final class SecondLook: ProposalConfirmer {
    private let vocabulary: Vocabulary
    private let audio: RecentAudio

    /// - Parameters:
    ///   - hops: hops of the stream until now.
    ///   - former: of the same stream, whose audio goes on; nil where it begins.
    init(_ vocabulary: Vocabulary, hops: Int = 0, replacing former: SecondLook? = nil) {
        self.vocabulary = vocabulary
        let model = vocabulary.model
        let new = RecentAudio(
            hopSamples: model.hopSamples,
            sampleRate: model.sampleRate,
            reach: model.confirmation?.reachSamples ?? 0,
            hearsTaughtWords: !vocabulary.lookedAt.isEmpty,
            after: hops
        )
        if let former, former.vocabulary.model.hopSamples == model.hopSamples {
            if former.audio.keepsAsMuch(as: new) {
                audio = former.audio
                return
            }
            new.goOn(from: former.audio)
        }
        audio = new
    }

    /// Adds a hop of audio.
    func add(hop: Span<Float>) { audio.add(hop: hop) }

    /// Forgets the audio; the time goes on.
    func flush() { audio.flush() }

    func look(_ word: ProposedWord, _ posteriors: [Float]) -> Verdict {
        let audio = audio
        return vocabulary.withConfirmers { confirmers in
            confirmers.look(word, posteriors) { audio.read(from: $0, into: $1) }
        }
    }
}

extension Confirmer {
    /// Nil for a model without confirming networks.
    convenience init?(_ model: Model) {
        guard let networks = model.confirmation else { return nil }
        self.init(networks, of: model)
    }
}
