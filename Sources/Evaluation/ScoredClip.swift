/// One second of sound, what it is, and what a model said it was.
public struct ScoredClip: Sendable, Equatable {
    /// What reports call it.
    public let name: String
    /// What was said, as its folder names it: tells the words behind `_unknown_` apart.
    public let said: String
    /// The right label.
    public let truth: Int
    /// Probability of each label.
    public let posteriors: [Float]

    /// - Parameter posteriors: one a label, at least one.
    public init(name: String, said: String, truth: Int, posteriors: [Float]) {
        self.name = name
        self.said = said
        self.truth = truth
        self.posteriors = posteriors
    }

    /// The label with the highest posterior, the first of equals.
    public var answer: Int {
        var best = 0
        for label in posteriors.indices where posteriors[label] > posteriors[best] { best = label }
        return best
    }

    /// The posterior of the answer.
    public var confidence: Double { Double(posteriors.max() ?? 0) }

    public var isRight: Bool { answer == truth }

    /// The posterior of one label; 0 for one there is none of.
    public func posterior(_ label: Int) -> Float { posteriors.indices.contains(label) ? posteriors[label] : 0 }
}
