import Foundation
import Spotting

/// The example of docs/extending.md: a kind of words that are tones. One is said while half of the sound is at its frequency.
struct ToneKind: WordKind {
    let tones: [(name: String, hertz: Double)]
    var rule = FiringRule.rising
    /// Whether a look refuses faint tones.
    var isLookedAt = false

    var names: [String] { tones.map(\.name) }
    func makeScorer() -> any WordScorer { ToneScorer(self) }
    func goesOn(from former: any WordKind) -> Bool {
        guard let former = former as? ToneKind, former.rule == rule else { return false }
        return former.tones.map(\.hertz) == tones.map(\.hertz)
    }
    func threshold(of word: Int) -> Float { 0.5 }

    func makeLook(labels: [Int]) -> (any WordLook)? { isLookedAt ? ToneLook(labels) : nil }
    var secondsOfLook: Double { isLookedAt ? 1 : 0 }
    func proposal(of word: Int) -> Float? { isLookedAt ? 0.3 : nil }
}

/// The share of each tone in the power of a hop, by Goertzel's algorithm.
private final class ToneScorer: WordScorer {
    private let rule: FiringRule
    private let coefficients: [Float]

    init(_ kind: ToneKind) {
        rule = kind.rule
        coefficients = kind.tones.map { Float(2 * cos(2 * Double.pi * $0.hertz / 16_000)) }
    }

    func add(hop: Span<Float>, embedding: [Float], to scores: inout WordScores) {
        var power: Float = 1e-6
        for index in hop.indices { power += hop[index] * hop[index] }
        for (word, coefficient) in coefficients.enumerated() {
            var (newest, before): (Float, Float) = (0, 0)
            for index in hop.indices { (newest, before) = (hop[index] + coefficient * newest - before, newest) }
            let found = newest * newest + before * before - coefficient * newest * before
            let share = found / (power * Float(hop.count) / 2)
            switch rule {
            case .gate: scores.set(word, share)
            case .rising: scores.add(step: word, share, before: 0)
            }
        }
    }

    func flush() {}
}

/// Confirms loud tones.
private final class ToneLook: WordLook {
    private let labels: [Int]
    private let samples = UnsafeMutableBufferPointer<Float>.allocate(capacity: 8000)

    init(_ labels: [Int]) { self.labels = labels }
    deinit { samples.deallocate() }

    func look(
        _ word: ProposedWord,
        after earlier: Verdict?,
        _ posteriors: [Float],
        read: (_ first: Int, UnsafeMutableBufferPointer<Float>) -> Void
    ) -> Verdict? {
        guard labels.contains(word.label) else { return nil }
        read(word.end - samples.count, samples)
        let isLoud = samples.contains { abs($0) > 0.1 }
        return Verdict(label: word.label, confidence: isLoud ? word.score : 0, confirmed: isLoud ? 1 : 0)
    }
}
