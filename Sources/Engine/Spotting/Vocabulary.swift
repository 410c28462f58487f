public import Core
public import Inference
public import Phonemes
private import System
public import WakeWords

/// The labels that a detector tells apart: the words of a model, those that the user taught, wake words with models of their own, and the
/// special labels.
public final class Vocabulary: Sendable {
    public let model: Model
    /// The words that the user taught.
    public let taught: [TaughtWord]
    /// Wake words with models of their own, which run beside the model.
    public let wakeWords: [WakeWord]
    /// Words by how their names sound; those with takes too are among the taught ones as well.
    public let typed: [TypedWord]
    /// What the sounds of words are found or confirmed in; nil where no word needs it.
    public let hearing: SoundHearing?
    /// The words that are found or confirmed by their sounds.
    public let spoken: [WordSounds]
    /// Wake words that are named and could not be loaded.
    public let missing: [MissingWakeWord]
    /// All kinds of words beside the model's that have some, in the order of labels.
    let kinds: [any WordKind]
    /// The label of each word, `[kinds]`.
    let labelsOfKinds: [[Int]]
    /// Where the words of each kind begin among those of its rule, `[kinds]`.
    let places: [Int]
    /// Labels of the words that fire by themselves where their score rises.
    public let risingLabels: [Int]
    /// Whether some kind needs the model's embedding.
    let embeds: Bool
    /// The model's words, then the user's own, then wake words, then typed words, then `_unknown_` and `_silence_`, which never fire.
    public let labels: [String]
    let fusion: PosteriorFusion
    /// Seconds by which an utterance of each label may exceed the limit for a word, `[labels]`: above 0 for phrases
    /// that the user taught.
    let extraDurations: [Double]
    /// What looks at the proposals of all streams.
    private let looks = Pool<WordLooks>()

    /// - Parameters:
    ///   - typed: need `hearing`. One that is taught too has its probabilities on the scale of the takes' thresholds.
    ///   - pronunciations: of wake words that are looked at by their sounds, by name; they need `hearing`.
    ///   - speech: for the second look at taught words; without it they fire by their templates alone.
    ///   - more: further kinds of words.
    public init(
        _ model: Model,
        taught: [TaughtWord] = [],
        wakeWords: [WakeWord] = [],
        typed: [TypedWord] = [],
        hearing: SoundHearing? = nil,
        pronunciations: [String: [Pronunciation]] = [:],
        missing: [MissingWakeWord] = [],
        speech: SpeechEmbedding? = nil,
        more: [any WordKind] = []
    ) {
        self.model = model
        self.taught = taught
        self.wakeWords = wakeWords
        self.missing = missing
        let ofSounds = TypedWordKind(typed, hearing)
        self.typed = ofSounds.words
        let ofWakeWords = WakeWordKind(wakeWords, pronunciations, hearing)
        spoken = ofWakeWords.spoken + ofSounds.spoken
        self.hearing = spoken.isEmpty ? nil : hearing
        let all: [any WordKind] =
            [TaughtWordKind(taught, model, speech), ofWakeWords, ofSounds] + more
        kinds = all.filter { !$0.names.isEmpty }
        embeds = kinds.contains { $0.needsEmbedding }
        var labels = Labels(model.labels).words
        var indices = Dictionary(zip(labels, labels.indices)) { first, _ in first }
        func label(of name: String) -> Int {
            if let label = indices[name] { return label }
            indices[name] = labels.count
            labels.append(name)
            return labels.count - 1
        }
        labelsOfKinds = kinds.map { $0.names.map(label) }
        self.labels = labels + Labels.special
        var (gated, rising): ([Int], [Int]) = ([], [])
        var places: [Int] = []
        var extraDurations = [Double](repeating: 0, count: self.labels.count)
        for (kind, labels) in zip(kinds, labelsOfKinds) {
            switch kind.rule {
            case .gate:
                places.append(gated.count)
                gated += labels
            case .rising:
                places.append(rising.count)
                rising += labels
            }
            for (word, label) in labels.enumerated() {
                extraDurations[label] = max(extraDurations[label], kind.extraSeconds(of: word))
            }
        }
        (self.places, risingLabels, self.extraDurations) = (places, rising, extraDurations)
        fusion = PosteriorFusion(modelLabels: model.labels.count, labels: labels.count + 2, wordLabels: gated)
    }

    /// The words of the model, which are the first labels.
    public var modelWords: [String] { Labels(model.labels).words }
    /// Index of `_silence_` among the labels.
    public var silenceIndex: Int { Labels(labels).silenceIndex }

    /// The words at which a kind has second looks: of each the label, and the least score that is proposed.
    private var lookedAt: [(label: Int, proposal: Float)] {
        zip(kinds, labelsOfKinds).flatMap { kind, labels in
            labels.enumerated().compactMap { word, label in kind.proposal(of: word).map { (label, $0) } }
        }
    }

    /// Whether there is a second look at some words.
    public var hasSecondLooks: Bool { model.confirmation != nil || !lookedAt.isEmpty }

    /// Provides for calls of ``withLooks(_:)`` by one more thread, so that they do not allocate.
    func reserveLooks() { if hasSecondLooks { looks.reserve { WordLooks(self) } } }

    /// Calls the body with what looks at proposals, which no other call has meanwhile.
    package func withLooks<Result>(_ body: (WordLooks) -> Result) -> Result {
        looks.with(make: { WordLooks(self) }, body)
    }

    /// The kind that decides the threshold of a label, and the word's place in it; nil for a word of the model, also for one that was
    /// taught in the user's own voice. A word of two kinds has the thresholds of its takes.
    func owner(of label: Int) -> (kind: any WordKind, word: Int)? {
        (label >= modelWords.count ? owner(of: label, by: .gate) : nil) ?? owner(of: label, by: .rising)
    }

    private func owner(of label: Int, by rule: FiringRule) -> (kind: any WordKind, word: Int)? {
        for (kind, labels) in zip(kinds, labelsOfKinds) where kind.rule == rule {
            if let word = labels.firstIndex(of: label) { return (kind, word) }
        }
        return nil
    }

    /// Of each label the least score that is proposed to a second look, `[labels]`; nil for a label without one, also for a word of the
    /// model that was taught in the user's own voice, which its networks never heard. Empty where nothing is looked at.
    public func proposals(mode: DetectionMode) -> [Float?] {
        let lookedAt = lookedAt
        guard model.confirmation != nil || !lookedAt.isEmpty else { return [] }
        var levels = [Float?](repeating: nil, count: labels.count)
        if let networks = model.confirmation {
            for word in networks.words where !fusion.wordLabels.contains(word) {
                levels[word] = networks.proposals[mode]
            }
        }
        for (label, proposal) in lookedAt { levels[label] = proposal }
        return levels
    }

    /// Fuses posteriors of the model with probabilities of the taught words. Allocates.
    ///
    /// - Parameters:
    ///   - posteriors: `[model's labels]`.
    ///   - probabilities: `[taught]`.
    /// - Returns: `[labels]`.
    public func fused(_ posteriors: [Float], _ probabilities: [Float]) -> [Float] {
        var fused = [Float](repeating: 0, count: labels.count)
        fusion.fuse(posteriors, probabilities, into: &fused)
        return fused
    }
}

/// Fuses the model's posteriors with the probabilities of the taught words into one score for each label.
///
/// A taught word either has its own label or shares the label of a model's word that the user taught in their voice.
/// With p the model's posteriors, q the probabilities of the taught words, M the highest q of the words with their
/// own label (0 if there are none), and o(q) = (q / (1 − q))^2.5:
///
/// - taught word i with its own label: M · o(qᵢ) / o(M). The likeliest keeps its probability, however many other words are
///   nearly as likely: two words that sound alike do not take each other's score, and the better one fires;
/// - word of the model: p · min(1, 2 − 2 M), so that only a taught word with q > 0.5 lowers it;
/// - silence: p · (1 − M);
/// - unknown: p · (1 − M)^8, small well before M is large, so that a taught word can win with a low threshold.
///
/// Then each taught word that shares a model's label moves the share o / (1 + o) of unknown and silence to that label. It
/// takes nothing from other words. The sum of all scores may exceed 1.
struct PosteriorFusion: Sendable, Equatable {
    /// Number of the model's labels; the last two are unknown and silence.
    let modelLabels: Int
    /// Number of the ``Vocabulary``'s labels.
    let labels: Int
    /// Label of each taught word; below `modelLabels − 2` for one that shares the label of a model's word.
    let wordLabels: [Int]

    /// The labels that only taught words have.
    var ownLabels: [Int] { wordLabels.filter { $0 >= modelLabels - 2 } }

    /// Allocates nothing.
    ///
    /// - Parameters:
    ///   - posteriors: `[modelLabels]`.
    ///   - probabilities: `[wordLabels]`.
    ///   - fused: receives the scores, `[labels]`.
    func fuse(_ posteriors: [Float], _ probabilities: [Float], into fused: inout [Float]) {
        let words = modelLabels - 2
        var highest: Float = 0
        for index in probabilities.indices where wordLabels[index] >= words {
            highest = max(highest, probabilities[index])
        }
        let best = Self.sharpOdds(highest)
        let (unknown, silence) = (labels - 2, labels - 1)
        let kept = min(1, 2 - 2 * highest)
        for index in fused.indices { fused[index] = 0 }
        for index in 0..<words { fused[index] = posteriors[index] * kept }
        // (1 − M)^8
        var remainder = 1 - highest
        for _ in 0..<3 { remainder *= remainder }
        fused[unknown] = posteriors[words] * remainder
        fused[silence] = posteriors[words + 1] * (1 - highest)
        for index in probabilities.indices where probabilities[index] > 0 {
            let label = wordLabels[index]
            let odds = Self.sharpOdds(probabilities[index])
            if label >= words {
                fused[label] += best > 0 ? highest * odds / best : 0
            } else {
                fused[label] += (fused[unknown] + fused[silence]) * odds / (1 + odds)
                fused[unknown] /= 1 + odds
                fused[silence] /= 1 + odds
            }
        }
    }

    /// Odds to the power of 2.5, so that nearly all goes to the likeliest of several words.
    private static func sharpOdds(_ probability: Float) -> Float {
        let odds = probability / max(1 - probability, 1e-6)
        return odds * odds * odds.squareRoot()
    }
}
