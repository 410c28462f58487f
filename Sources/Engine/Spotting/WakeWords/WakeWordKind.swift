import Core
import Phonemes
import WakeWords

/// Wake words with models of their own: each fires by itself, at its own times.
struct WakeWordKind: WordKind {
    let words: [WakeWord]
    /// How each is said, if that is looked for; none for a word that fires without a look.
    private let pronunciations: [[Pronunciation]]
    private let hearing: SoundHearing?

    /// - Parameter pronunciations: of words that are looked at, by name; they need `hearing`.
    init(_ words: [WakeWord], _ pronunciations: [String: [Pronunciation]], _ hearing: SoundHearing?) {
        self.words = words
        self.hearing = hearing
        self.pronunciations = words.map { hearing == nil ? [] : pronunciations[$0.name] ?? [] }
    }

    /// The words that are looked at.
    var spoken: [WordSounds] {
        zip(words, pronunciations).filter { !$1.isEmpty }.map { WordSounds($0.name, $1, least: WakeWordLook.least) }
    }

    var names: [String] { words.map(\.name) }
    var rule: FiringRule { .rising }
    func makeScorer() -> any WordScorer { WakeWordScorer(words) }
    func goesOn(from former: any WordKind) -> Bool {
        guard let former = former as? WakeWordKind else { return false }
        return words.count == former.words.count && zip(words, former.words).allSatisfy { $0 === $1 }
    }

    func makeLook(labels: [Int]) -> (any WordLook)? {
        guard let hearing else { return nil }
        let lookedAt = words.indices.filter { !pronunciations[$0].isEmpty }
        return WakeWordLook(lookedAt.map { (labels[$0], pronunciations[$0]) }, hearing)
    }
    var secondsOfLook: Double { pronunciations.contains { !$0.isEmpty } ? SoundHearing.seconds : 0 }
    func proposal(of word: Int) -> Float? { pronunciations[word].isEmpty ? nil : threshold(of: word) }

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
