import Testing

@testable import Spotting

/// The second looks at a taught word in a clip: which hops propose it, and how the word stands beside its parts there.
struct ClipWordScorerTests {
    @Test func `all hops of a run have the margin of its likeliest hop`() {
        let hops: [ClipWordScorer.Hop] = [
            (1600, 0.1, -0.9), (3200, 0.4, 0.3), (4800, 0.9, -0.2), (6400, 0.6, 0.4),
            (8000, 0.2, 0.8), (9600, 0.5, 0.1), (11200, 0.3, 0.7),
        ].map { ($0, $1, PartMargin(beginning: $2, end: 0.5)) }
        let proposed = ClipWordScorer.proposed(hops, from: 0.3)
        #expect(proposed.map(\.end) == [3200, 4800, 6400, 9600, 11200])
        #expect(proposed.map(\.probability) == [0.4, 0.9, 0.6, 0.5, 0.3])
        #expect(proposed.map(\.partMargin.beginning) == [-0.2, -0.2, -0.2, 0.1, 0.1])
        #expect(ClipWordScorer.proposed(hops, from: 0.95).isEmpty)
        #expect(ClipWordScorer.proposed([], from: 0).isEmpty)
    }
}
