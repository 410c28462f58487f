import Core
import WakeWords

/// Wake words with models of their own: each fires by itself, at its own times.
struct WakeWordKind: WordKind {
    let words: [WakeWord]

    var names: [String] { words.map(\.name) }
    var rule: FiringRule { .rising }
    func makeScorer() -> any WordScorer { WakeWordScorer(words) }
    func goesOn(from former: any WordKind) -> Bool {
        guard let former = former as? WakeWordKind else { return false }
        return words.count == former.words.count && zip(words, former.words).allSatisfy { $0 === $1 }
    }

    func threshold(of word: Int) -> Float { words[word].threshold }
    func noThreshold(of word: Int, _ sensitivity: Sensitivity) -> String {
        "the wake word '\(printable(names[word]))' has one threshold, that of its manifest, and none for the sensitivity "
            + "\(sensitivity.rawValue); choose a threshold such as \(threshold(of: word))"
    }
}

/// The wake words of one stream: their front end, networks and windows of probabilities.
private final class WakeWordScorer: WordScorer {
    private var detector: WakeWordDetector
    private var samples = 0

    init(_ words: [WakeWord]) { detector = WakeWordDetector(words) }

    func add(hop: Span<Float>, embedding: [Float], to scores: inout WordScores) {
        samples += hop.count
        let end = samples
        detector.add(hop) { word, score, samples in
            scores.add(step: word, score, before: Double(end - samples) / 16000)
        }
    }

    func flush() { detector.flush() }
}
