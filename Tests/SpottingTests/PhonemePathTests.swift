import Phonemes
import Testing

@testable import Spotting

/// The best path of a word through what was heard.
struct PhonemePathTests {
    /// Frames, each the symbol that is heard there without doubt; 0 is the blank, others lose 4 nats.
    private static func heard(_ frames: [Int]) throws -> HeardSounds {
        let losses = frames.flatMap { said in (0..<5).map { $0 == said ? Float(0) : -4 } }
        return try #require(HeardSounds(losses: losses, symbols: 5, blank: 0))
    }

    @Test(
        arguments: [
            ([1, 2, 3], [0, 1, 0, 2, 3, 0], [0, 0, 0], [1, 3, 4]),
            ([1, 2, 3], [1, 0, 4, 0, 3], [0, -4, 0], [0, 2, 4]),
            ([1], [0, 0, 1, 1, 0], [0], [2]), ([1, 2], [2, 1, 0, 2, 1], [0, 0], [1, 3]),
        ] as [([Int], [Int], [Float], [Int])]
    )
    func `each sound is where it is heard, and loses where it is not`(
        word: [Int],
        frames: [Int],
        losses: [Float],
        starts: [Int]
    ) throws {
        let path = try #require(PhonemePath(Pronunciation(word), in: try Self.heard(frames)))
        #expect(path.steps.map(\.loss) == losses && path.steps.map(\.frames.lowerBound) == starts)
        #expect(path.score == losses.reduce(0, +) / Float(word.count) && path.steps.map(\.sound) == word)
    }

    @Test(arguments: [PathCosts(), PathCosts(frame: 0.3)])
    func `its score is that of the alignment`(costs: PathCosts) throws {
        var state: UInt32 = 1
        func random() -> Float {
            state = state &* 1_664_525 &+ 1_013_904_223
            return -6 * Float(state >> 8) / Float(1 << 24)
        }
        for word in [[1], [1, 2], [3, 1, 4, 2], [4, 3, 2, 1, 2, 3]] {
            let losses = (0..<40 * 5).map { _ in random() }
            let heard = try #require(HeardSounds(losses: losses, symbols: 5, blank: 0))
            var alignment = PhonemeAlignment(Pronunciation(word), blank: 0, costs)
            let scores = (0..<40).map { frame in
                losses[frame * 5..<frame * 5 + 5].withUnsafeBufferPointer { row in
                    row.baseAddress.map { alignment.add($0) } ?? 0
                }
            }
            let path = try #require(PhonemePath(Pronunciation(word), in: heard, costs))
            #expect(abs(path.score - (scores.max() ?? 0)) < 1e-4)
            #expect(zip(path.steps, path.steps.dropFirst()).allSatisfy { $0.frames.upperBound == $1.frames.lowerBound })
        }
    }

    @Test func `what does not fit has no path`() throws {
        let heard = try Self.heard([1, 2])
        #expect(PhonemePath(Pronunciation([1, 2, 3]), in: heard) == nil, "more sounds than frames")
        #expect(PhonemePath(Pronunciation([7]), in: heard) == nil && PhonemePath(Pronunciation([]), in: heard) == nil)
        #expect(HeardSounds(losses: [0, 0, 0], symbols: 2, blank: 0) == nil)
        #expect(HeardSounds(losses: [0, 0], symbols: 2, blank: 2) == nil)
        #expect(heard.runs.map(\.symbol) == [1, 2] && heard.runs.map(\.frames) == [0..<1, 1..<2])
    }
}
