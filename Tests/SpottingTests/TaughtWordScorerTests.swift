import Foundation
import Testing

@testable import Spotting

/// Probabilities of taught words, on hand-made vectors.
struct TaughtWordScorerTests {
    private static func vector(_ degrees: Float, _ size: Float = 1) -> [Float] {
        let angle = Double(degrees) * .pi / 180
        return [size * Float(cos(angle)), size * Float(sin(angle)), 0]
    }

    private static func word(_ templates: [[Float]], spacing: Int = 0) throws -> TaughtWord {
        try #require(
            TaughtWord(name: "w", threshold: 0.8, templates: templates, templateSpacing: spacing, boundary: 0.7)
        )
    }

    @Test(arguments: [(0, 1.0), (30, 0.8660), (45, 0.7071), (60, 0.5), (90, 0), (180, -1)] as [(Float, Float)])
    func `similarity is the cosine, whatever the lengths of the vectors`(degrees: Float, cosine: Float) throws {
        let scorer = TaughtWordScorer([try Self.word([Self.vector(0, 7)])], dimensions: 3)
        func expected(_ similarity: Float) -> Float {
            1 / (1 + expf(TaughtWord.slope * (0.7 - similarity)))
        }
        // The probability follows from the mean similarity of two hops.
        scorer.add(Self.vector(degrees, 0.01))
        #expect(abs(scorer.probabilities[0] - expected(cosine / 2)) < 1e-3)
        scorer.add(Self.vector(degrees, 5))
        #expect(abs(scorer.probabilities[0] - expected(cosine)) < 1e-3)
    }

    @Test func `what is unlike a take on the way to its end is less similar`() throws {
        // Two hops of 0°, two of 90°: the template is the end.
        let take = [0, 0, 90, 90].map { Self.vector($0) }
        let word = try #require(
            TaughtWord(
                name: "w",
                threshold: 0.8,
                templates: [Self.vector(90)],
                templateSpacing: 0,
                boundary: 0.7,
                sequences: [take, take]
            )
        )
        func found(_ degrees: [Float]) -> Float {
            let scorer = TaughtWordScorer([word], dimensions: 3)
            for angle in degrees { scorer.add(Self.vector(angle)) }
            return 0.7 + TaughtWord.margin(probability: scorer.probabilities[0])
        }
        // Mean distance 0 for the take; 0.5 for another beginning: 0.25 · (0.4 − distance) is added.
        #expect(abs(found([180, 0, 0, 90, 90, 90]) - 1.1) < 1e-3)
        #expect(abs(found([180, 180, 180, 180, 90, 90, 90]) - (1 + 0.25 * 0.4)) > 0.05)
        #expect(found([180, 180, 180, 180, 90, 90, 90]) < found([180, 0, 0, 90, 90, 90]) - 0.05)
        // Sequences of another embedding are left out, the longest and the most are cut.
        func sequences(_ sequences: [[[Float]]]) throws -> [Int] {
            try #require(
                TaughtWord(
                    name: "w",
                    threshold: 0.8,
                    templates: [[1, 0]],
                    templateSpacing: 0,
                    boundary: 0.7,
                    sequences: sequences
                )
            ).sequences.map(\.count)
        }
        #expect(try sequences([[[1]], [], [[1, 0], [0, 1]]]) == [2])
        #expect(
            try sequences(Array(repeating: Array(repeating: [1, 0], count: 30), count: 20))
                == Array(repeating: 14, count: 8)
        )
    }

    /// A phrase with a beginning and an end, so many degrees from it.
    private static func phrase(beginning: Float, end: Float) throws -> TaughtWord {
        try #require(
            TaughtWord(
                name: "w",
                threshold: 0.8,
                templates: [vector(0)],
                templateSpacing: 0,
                boundary: 0.7,
                parts: [[vector(beginning)], [vector(end)]]
            )
        )
    }

    @Test(arguments: [(0, 0.5), (30, 0), (40, -0.1736), (120, .infinity)] as [(Float, Float)])
    func `a phrase that is looked at keeps its similarity and says how far it is above its parts`(
        degrees: Float,
        margin: Float
    ) throws {
        for isBeginning in [true, false] {
            let word = try Self.phrase(beginning: isBeginning ? 60 : 180, end: isBeginning ? 180 : 60)
            let scorers = [false, true].map { TaughtWordScorer([word], dimensions: 3, isLookedAt: [$0]) }
            for index in scorers.indices {
                for _ in 0..<2 { scorers[index].add(Self.vector(degrees)) }
                let found = scorers[index].partMargins[0]
                let (near, far) = isBeginning ? (found.beginning, found.end) : (found.end, found.beginning)
                #expect(margin.isInfinite ? found == .infinity : abs(near - margin) < 1e-3 && far > near, "\(found)")
            }
            let said = cosf(degrees * .pi / 180)
            func similarity(_ scorer: TaughtWordScorer) -> Float {
                0.7 + TaughtWord.margin(probability: scorer.probabilities[0])
            }
            guard margin.isFinite else { continue }
            #expect(abs(similarity(scorers[1]) - said) < 1e-3)
            #expect(abs(similarity(scorers[0]) - min(said, 1 + 2 * margin)) < 1e-3)
        }
        let word = try Self.phrase(beginning: 60, end: 180)
        let one = TaughtWordScorer([word], dimensions: 3, isLookedAt: [true])
        one.add(Self.vector(120))
        one.add(Self.vector(degrees))
        let found = one.partMargins[0].beginning
        #expect(margin.isInfinite || abs(found - margin) < 1e-3, "the hop that is far away says nothing")
        let odd = TaughtWord(
            name: "w",
            threshold: 0.8,
            templates: [Self.vector(0)],
            templateSpacing: 0,
            boundary: 0.7,
            parts: [[Self.vector(60)], [[1]]]
        )
        #expect(odd?.parts.isEmpty == true, "an end must not be taken for a beginning")
    }

    @Test func `a phrase counts beside its parts as where its score is best`() {
        var margin = CandidateMargin()
        #expect(margin.firstHop == nil && margin.partMargin == .infinity)
        // Score, hop at which the word became the likeliest, margin at that hop; and what counts then.
        for (score, firstHop, now, counts) in [
            (0.3, 5, -0.2, -0.2), (0.6, 5, -0.1, -0.1), (0.5, 5, 0.2, -0.1), (0.6, 5, 0.3, -0.1), (0.7, 5, 0.1, 0.1),
            (0.2, 9, 0.4, 0.4),
        ] as [(Float, Int, Float, Float)] {
            margin.note(PartMargin(beginning: now, end: 1), score: score, firstHop: firstHop)
            #expect(margin.partMargin == PartMargin(beginning: counts, end: 1) && margin.firstHop == firstHop)
        }
    }

    @Test func `a phrase needs its beginning before its end, give or take one hop`() throws {
        let phrase = try Self.word([Self.vector(90), Self.vector(0)], spacing: 5)
        func likely(gap: Int, swapped: Bool = false) -> Float {
            let scorer = TaughtWordScorer([phrase], dimensions: 3)
            // Each part lasts for two hops.
            for _ in 0..<2 { scorer.add(Self.vector(swapped ? 90 : 0)) }
            for _ in 2..<max(2, gap) { scorer.add([0, 0, 1]) }
            for _ in 0..<2 { scorer.add(Self.vector(swapped ? 0 : 90)) }
            return scorer.probabilities[0]
        }
        for gap in 4...6 { #expect(likely(gap: gap) > 0.95) }
        for gap in [8, 9] { #expect(likely(gap: gap) < 0.15) }
        #expect(likely(gap: 5, swapped: true) < 0.15)
    }

    @Test(arguments: [(4, 1), (3, 0.7), (5, 0.7), (8, 0.7)] as [(Int, Float)])
    func `a word's beginning weighs 0.3, and is four hops before its end`(gap: Int, similarity: Float) throws {
        let word = try Self.word([Self.vector(90), [0, 0, 1]], spacing: TemplateAlignment.spacingOfWord)
        let scorer = TaughtWordScorer([word], dimensions: 3)
        // Both last for two hops, since the probability is that of the mean of two.
        var hops = [[Float]](repeating: Self.vector(0), count: 12)
        for hop in 10...11 {
            hops[hop] = Self.vector(90)
            hops[hop - gap] = hops[hop - gap] == Self.vector(90) ? hops[hop - gap] : [0, 0, 1]
        }
        for hop in hops { scorer.add(hop) }
        let found = 0.7 + TaughtWord.margin(probability: scorer.probabilities[0])
        let expected = gap == 3 || gap == 5 ? similarity + 0.15 : similarity
        #expect(abs(found - expected) < 1e-3)
    }

    @Test func `the weights of templates sum to one`() {
        for (count, spacing) in [(1, 0), (2, 4), (3, 4), (2, 5), (4, 3), (3, 6)] {
            let alignment = TemplateAlignment(count: count, spacing: spacing)
            #expect(abs(alignment.mean { _ in 1 } - 1) < 1e-6)
            #expect(abs(alignment.similarity { _, _ in 1 } - 1) < 1e-6)
        }
        #expect(TemplateAlignment(count: 0, spacing: 4).similarity { _, _ in 1 } == 0)
    }

    @Test func `the probabilities computed ahead are those of the next hop, and nothing else changes`() throws {
        let words = [try Self.word([Self.vector(90), Self.vector(0)], spacing: 2), try Self.word([Self.vector(40)])]
        let scorer = TaughtWordScorer(words, dimensions: 3)
        var ahead = WordScores(gated: 2)
        for hop in 0..<60 {
            let next = Self.vector(Float(hop * 37 % 180))
            let before = scorer.probabilities
            scorer.lookAhead(embedding: next, to: &ahead)
            #expect(scorer.probabilities == before)
            scorer.add(next)
            #expect(scorer.probabilities == ahead.probabilities && scorer.partMargins == ahead.partMargins)
        }
        scorer.flush()
        #expect(scorer.probabilities == [0, 0])
        scorer.add(Self.vector(90))
        #expect(scorer.probabilities[0] < 0.04, "embeddings from before are forgotten")
    }

    @Test func `vectors that are zero or not finite have no similarity`() throws {
        let scorer = TaughtWordScorer([try Self.word([Self.vector(0)])], dimensions: 3)
        for broken in [[Float.nan, 0, 0], [.infinity, 0, 0], [0, 0, 0], [1e30, 1e30, 0]] {
            scorer.add(broken)
            #expect(scorer.probabilities[0] < 1e-6)
        }
        for _ in 0..<2 { scorer.add(Self.vector(0)) }
        #expect(scorer.probabilities[0] > 0.95)
    }

    @Test func `words of another model are never detected`() throws {
        let scorer = TaughtWordScorer([try Self.word([Self.vector(0)])], dimensions: 2)
        scorer.add([1, 0])
        #expect(scorer.probabilities == [0])
    }

    @Test func `templates that reach back too far are refused`() {
        let templates = [[Float]](repeating: [1], count: 2)
        #expect(TaughtWord(name: "w", threshold: 0.8, templates: templates, templateSpacing: 14, boundary: 0) != nil)
        #expect(TaughtWord(name: "w", threshold: 0.8, templates: templates, templateSpacing: 15, boundary: 0) == nil)
        #expect(TaughtWord(name: "w", threshold: 0.8, templates: [], templateSpacing: 0, boundary: 0) == nil)
        #expect(
            TaughtWord(name: "w", threshold: 0.8, templates: [[1], [1, 2]], templateSpacing: 1, boundary: 0) == nil
        )
    }
}
