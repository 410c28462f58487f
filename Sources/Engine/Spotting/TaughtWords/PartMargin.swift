/// By how much a taught phrase is more similar than the parts of it that are nearest; infinite where none is near.
public struct PartMargin: Sendable, Equatable, Hashable, BitwiseCopyable {
    /// Beside its beginnings: the phrase without its last words.
    public var beginning: Float
    /// Beside its ends: the phrase without its first words.
    public var end: Float

    public static let infinity = PartMargin(beginning: .infinity, end: .infinity)

    public init(beginning: Float, end: Float) { (self.beginning, self.end) = (beginning, end) }

    var least: Float { min(beginning, end) }

    /// The mean of two hops, or that of the one at which it is known.
    func mean(with other: PartMargin) -> PartMargin {
        func mean(_ first: Float, _ second: Float) -> Float {
            first.isFinite && second.isFinite ? (first + second) / 2 : min(first, second)
        }
        return PartMargin(beginning: mean(beginning, other.beginning), end: mean(end, other.end))
    }
}

/// How a phrase stands beside its parts at the hop where its score is the best since it became the likeliest word. What follows a part says
/// less: the part leaves the window.
struct CandidateMargin {
    /// Hop at which the word became the likeliest; nil for none.
    private(set) var firstHop: Int?
    private(set) var partMargin = PartMargin.infinity
    private var score: Float = 0

    mutating func note(_ margin: PartMargin, score: Float, firstHop: Int) {
        guard self.firstHop != firstHop || score > self.score else { return }
        (self.firstHop, self.score, partMargin) = (firstHop, score, margin)
    }
}
