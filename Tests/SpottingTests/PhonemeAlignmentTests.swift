import Phonemes
import Testing

@testable import Spotting

struct PhonemeAlignmentTests {
    /// Symbols 0 to 3, and 4 for the blank. What is heard at a frame loses nothing, another symbol 2.
    private static func score(_ word: [Int], heard: [Int]) -> Float {
        var alignment = PhonemeAlignment(Pronunciation(word), blank: 4)
        return heard.reduce(-.infinity) { best, symbol in
            max(best, alignment.add((0..<5).map { $0 == symbol ? 0 : -2 }))
        }
    }

    private static let paths: [(word: [Int], heard: [Int], score: Float)] = [
        ([0, 1, 2], [4, 0, 1, 2, 4], 0), ([0, 1, 2], [4, 0, 4, 4, 1, 4, 2, 4], 0),
        ([0, 1, 2], [3, 0, 0, 1, 1, 2, 2, 3], 0),
        // A sound is missing, or another one is in its place: one frame of three sounds loses 2.
        ([0, 1, 2], [4, 0, 4, 2, 4], -2.0 / 3), ([0, 1, 2], [4, 0, 3, 2, 4], -2.0 / 3),
        // Something is between: the path begins there.
        ([0, 1, 2], [0, 3, 1, 2], -2.0 / 3), ([0, 1, 2], [0, 3, 3, 1, 2], -2.0 / 3),
        // The same sound twice is one.
        ([0, 0], [4, 0, 4], 0), ([1, 0, 0, 2], [1, 0, 2], 0),
        // Nothing of it.
        ([0, 1], [4, 4, 4], -2), ([0, 1], [4], -Float.infinity),
    ]

    @Test(arguments: paths.indices) func `the best path loses what is in its way`(index: Int) {
        let (word, heard, expected) = Self.paths[index]
        let score = Self.score(word, heard: heard)
        #expect(score == expected || abs(score - expected) < 1e-6)
    }

    /// Frames without a sound before the word, whether a sound is before them, and the score where a word within talk loses 3.
    private static let pauses: [(quiet: Int, afterTalk: Bool, score: Float)] = [
        (0, false, -1), (14, false, -1), (15, false, 0), (40, false, 0), (14, true, -1), (15, true, 0),
    ]

    @Test(arguments: pauses.indices) func `a word within talk loses`(index: Int) {
        let (quiet, afterTalk, expected) = Self.pauses[index]
        var alignment = PhonemeAlignment(Pronunciation([0, 1, 2]), blank: 4, PathCosts(withinTalk: 3))
        let heard = (afterTalk ? [3] : []) + [Int](repeating: 4, count: quiet) + [0, 4, 1, 2]
        let score = heard.reduce(-Float.infinity) { best, symbol in
            max(best, alignment.add((0..<5).map { $0 == symbol ? 0 : -2 }))
        }
        #expect(abs(score - expected) < 1e-6)
    }

    /// Blanks between three sounds, and the score where each frame after the first loses 0.3.
    @Test(arguments: [(0, 0, -0.2), (3, 0, -0.5), (2, 4, -0.8), (40, 0, -1.2)] as [(Int, Int, Float)])
    func `a word that lasts loses`(first: Int, second: Int, expected: Float) {
        var alignment = PhonemeAlignment(Pronunciation([0, 1, 2]), blank: 4, PathCosts(frame: 0.3))
        let quiet = { (count: Int) in [Int](repeating: 4, count: count) }
        let best = ([0] + quiet(first) + [1] + quiet(second) + [2] + quiet(9)).reduce(-Float.infinity) { best, symbol in
            max(best, alignment.add((0..<5).map { $0 == symbol ? 0 : -3 }))
        }
        // It may rather lose 3 for a sound that is not where it should be.
        #expect(abs(best - expected) < 1e-5, "\(best)")
    }

    @Test func `it begins again`() {
        var alignment = PhonemeAlignment(Pronunciation([0, 1]), blank: 4)
        func add(_ symbol: Int) -> Float { alignment.add((0..<5).map { $0 == symbol ? 0 : -2 }) }
        _ = add(0)
        #expect(add(1) == 0)
        _ = add(0)
        alignment.reset()
        #expect(add(1) == -.infinity)
        #expect(add(1) == -1)
    }

    @Test func `a word is nearer to itself than to others`() {
        func score(_ word: [Int], said: [Int]) -> Float {
            PhonemeAlignment.score(Pronunciation(word), said: Pronunciation(said), blank: 4, symbols: 5)
        }
        #expect(score([0, 1, 2], said: [0, 1, 2]) == 0)
        #expect(score([0, 1, 2], said: [3, 0, 1, 2, 3]) == 0)
        #expect(score([0, 1, 2], said: [0, 3, 2]) == -2)
        #expect(score([0, 1, 2], said: [9, -1]) == -.infinity)
    }
}
