import Core
import Inference
import WakeWords

/// The words that the user taught.
struct TaughtWordKind: WordKind {
    let words: [TaughtWord]
    private let model: Model
    /// For the second look; nil where words fire by their templates alone.
    private let speech: SpeechEmbedding?
    /// Whether there is a second look at each word. There is none at a word of the model that was taught in the user's own voice: its
    /// score is not that of its templates.
    let isLookedAt: [Bool]
    private let templates: TaughtTemplates

    init(_ words: [TaughtWord], _ model: Model, _ speech: SpeechEmbedding?) {
        self.words = words
        self.model = model
        self.speech = speech
        let known = Set(Labels(model.labels).words)
        isLookedAt = words.map { speech != nil && $0.speech != nil && !known.contains($0.name) }
        templates = TaughtTemplates(words, dimensions: model.embeddingCount, isLookedAt: isLookedAt)
    }

    var names: [String] { words.map(\.name) }
    var needsEmbedding: Bool { true }
    func makeScorer() -> any WordScorer { TaughtWordScorer(templates) }
    func goesOn(from former: any WordKind) -> Bool {
        guard let former = former as? TaughtWordKind else { return false }
        return words == former.words && isLookedAt == former.isLookedAt && model === former.model
    }

    func makeLook(labels: [Int]) -> (any WordLook)? {
        guard let speech else { return nil }
        let lookedAt = words.indices.filter { isLookedAt[$0] }
        return TaughtWordLook(lookedAt.map { (labels[$0], words[$0]) }, speech)
    }
    /// One at the longest phrase reads 3.2.
    var secondsOfLook: Double { isLookedAt.contains(true) ? 4 : 0 }
    func proposal(of word: Int) -> Float? { isLookedAt[word] ? words[word].speech?.proposal : nil }

    func threshold(of word: Int) -> Float { words[word].threshold }
    func threshold(of word: Int, _ sensitivity: Sensitivity, _ mode: DetectionMode) -> Float? {
        words[word].sensitivities[sensitivity, mode]
    }
    func noThreshold(of word: Int, _ sensitivity: Sensitivity) -> String {
        "the taught word '\(printable(words[word].name))' has no estimate for the sensitivity \(sensitivity.rawValue), because "
            + "the model has no talk to compare it with; choose a threshold such as 0.8"
    }
    func extraSeconds(of word: Int) -> Double {
        let alignment = words[word].alignment
        return alignment.isPhrase ? Double(alignment.reach) * HopScorer.hopSeconds(of: model) : 0
    }
}
