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

/// Looks at proposals of the gate: confirms the word, corrects it, or rejects it. Streams share it, one at a time. It allocates nothing.
public protocol WordLook: AnyObject {
    /// - Parameters:
    ///   - earlier: what the looks before answered; nil if none of them knows the word.
    ///   - posteriors: of the streaming network, `[model's labels]`.
    ///   - read: writes so many samples, from a sample on, to memory; those that the stream does not have are 0.
    /// - Returns: nil where there is nothing to say of the word.
    func look(
        _ word: ProposedWord,
        after earlier: Verdict?,
        _ posteriors: [Float],
        read: (_ first: Int, UnsafeMutableBufferPointer<Float>) -> Void
    ) -> Verdict?
}

/// The looks of all kinds of words, in turn, and at last the confirming networks of the model.
// Sendable is unchecked because of its scratch memory: one thread at a time has it.
public final class WordLooks: @unchecked Sendable {
    private let looks: [any WordLook]

    /// - Parameter ofModel: whether the model's networks confirm what no kind has looked at.
    public init(_ vocabulary: Vocabulary, ofModel: Bool = true) {
        var looks = zip(vocabulary.kinds, vocabulary.labelsOfKinds).compactMap { $0.makeLook(labels: $1) }
        if ofModel, let networks = NetworkLook(vocabulary.model) { looks.append(networks) }
        self.looks = looks
    }

    /// The answer of all looks; the parameters are those of ``WordLook``.
    public func look(
        _ word: ProposedWord,
        _ posteriors: [Float],
        read: (_ first: Int, UnsafeMutableBufferPointer<Float>) -> Void
    ) -> Verdict {
        var verdict: Verdict?
        for index in looks.indices {
            verdict = looks[index].look(word, after: verdict, posteriors, read: read) ?? verdict
        }
        return verdict ?? Verdict(label: word.label, confidence: 0, confirmed: 0)
    }
}

/// The confirming networks of a model.
private final class NetworkLook: WordLook {
    private let confirmer: Confirmer

    /// - Returns: nil for a model without them.
    init?(_ model: Model) {
        guard let networks = model.confirmation else { return nil }
        confirmer = Confirmer(networks, of: model)
    }

    func look(
        _ word: ProposedWord,
        after earlier: Verdict?,
        _ posteriors: [Float],
        read: (_ first: Int, UnsafeMutableBufferPointer<Float>) -> Void
    ) -> Verdict? {
        guard earlier == nil else { return nil }
        let penalty = confirmer.networks.duration.nats(after: word.hops)
        confirmer.look(posteriors, middle: word.middle, penalty: penalty, read: read)
        return Verdict(confirmer)
    }
}

/// Looks at the proposals of one stream.
public protocol ProposalLook: AnyObject {
    /// Adds a hop of audio.
    func add(hop: Span<Float>)
    /// Forgets the audio, after a gap; the time goes on.
    func flush()
    /// - Parameter posteriors: of the streaming network, `[model's labels]`.
    func look(_ word: ProposedWord, _ posteriors: [Float]) -> Verdict
    /// What goes on in its place with another vocabulary.
    ///
    /// - Parameter hops: hops of the stream until now.
    func adapted(to vocabulary: Vocabulary, after hops: Int) -> any ProposalLook
}

extension ProposalLook {
    public func add(hop: Span<Float>) {}
    public func flush() {}
    public func adapted(to vocabulary: Vocabulary, after hops: Int) -> any ProposalLook { self }
}

/// The newest audio of one stream, and looks at it, by what streams of a vocabulary share.
///
/// Audio is kept for a vocabulary without second looks too: one with them may follow within the stream.
final class StreamLooks: ProposalLook {
    private let vocabulary: Vocabulary
    private let audio: RecentAudio

    /// - Parameters:
    ///   - hops: hops of the stream until now.
    ///   - former: of the same stream, whose audio goes on; nil where it begins.
    init(_ vocabulary: Vocabulary, hops: Int = 0, replacing former: StreamLooks? = nil) {
        self.vocabulary = vocabulary
        let model = vocabulary.model
        let new = RecentAudio(
            hopSamples: model.hopSamples,
            sampleRate: model.sampleRate,
            reach: model.confirmation?.reachSamples ?? 0,
            seconds: vocabulary.kinds.map(\.secondsOfLook).max() ?? 0,
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

    func adapted(to vocabulary: Vocabulary, after hops: Int) -> any ProposalLook {
        StreamLooks(vocabulary, hops: hops, replacing: self)
    }

    func add(hop: Span<Float>) { audio.add(hop: hop) }

    func flush() { audio.flush() }

    func look(_ word: ProposedWord, _ posteriors: [Float]) -> Verdict {
        let audio = audio
        return vocabulary.withLooks { looks in
            looks.look(word, posteriors) { audio.read(from: $0, into: $1) }
        }
    }
}
