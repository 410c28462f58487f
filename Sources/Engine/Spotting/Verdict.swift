public import Inference

/// What a second look and the first one together answer to a proposal.
public struct Verdict: Sendable, Equatable, BitwiseCopyable {
    /// The likeliest word, by index among the labels.
    public var label: Int
    /// Its probability, of both looks.
    public var confidence: Float
    /// Its probability of the second look alone.
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
