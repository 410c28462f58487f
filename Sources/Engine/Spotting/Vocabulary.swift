public import Core
public import Inference
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
    /// Wake words that are named and could not be loaded.
    public let missing: [MissingWakeWord]
    /// For the second look at taught words; without it they fire by their templates alone.
    let speech: SpeechEmbedding?
    /// The label of each wake word, `[wakeWords]`.
    let wakeWordLabels: [Int]
    /// The model's words, then the user's own, then wake words, then `_unknown_` and `_silence_`, which never fire.
    public let labels: [String]
    let fusion: PosteriorFusion
    /// Whether there is a second look at each taught word, `[taught]`.
    let isLookedAt: [Bool]
    /// Seconds by which an utterance of each label may exceed the limit for a word, `[labels]`: above 0 for phrases
    /// that the user taught.
    let extraDurations: [Double]
    /// What looks at the proposals of all streams.
    private let confirmers = Pool<Confirmers>()

    public init(
        _ model: Model,
        taught: [TaughtWord] = [],
        wakeWords: [WakeWord] = [],
        missing: [MissingWakeWord] = [],
        speech: SpeechEmbedding? = nil
    ) {
        self.speech = speech
        self.model = model
        self.taught = taught
        self.wakeWords = wakeWords
        self.missing = missing
        var labels = Labels(model.labels).words
        var indices = Dictionary(zip(labels, labels.indices)) { first, _ in first }
        func label(of name: String) -> Int {
            if let label = indices[name] { return label }
            indices[name] = labels.count
            labels.append(name)
            return labels.count - 1
        }
        let wordLabels = taught.map { label(of: $0.name) }
        wakeWordLabels = wakeWords.map { label(of: $0.name) }
        self.labels = labels + Labels.special
        fusion = PosteriorFusion(modelLabels: model.labels.count, labels: labels.count + 2, wordLabels: wordLabels)
        let own = Set(fusion.ownLabels)
        isLookedAt = zip(taught, wordLabels).map { speech != nil && $0.speech != nil && own.contains($1) }
        var extraDurations = [Double](repeating: 0, count: self.labels.count)
        for (word, label) in zip(taught, wordLabels) {
            guard word.alignment.isPhrase else { continue }
            let reach = Double(word.alignment.reach) * HopScorer.hopSeconds(of: model)
            extraDurations[label] = max(extraDurations[label], reach)
        }
        self.extraDurations = extraDurations
    }

    /// The words of the model, which are the first labels.
    public var modelWords: [String] { Labels(model.labels).words }
    /// Index of `_silence_` among the labels.
    public var silenceIndex: Int { Labels(labels).silenceIndex }

    /// The taught words at which there is a second look, by label. A word of the model that was taught in the user's own voice is none of
    /// them: its score is not that of its templates.
    var lookedAt: [(label: Int, word: TaughtWord)] {
        taught.indices.filter { isLookedAt[$0] }.map { (fusion.wordLabels[$0], taught[$0]) }
    }

    /// Whether there is a second look at some words.
    public var hasSecondLooks: Bool { model.confirmation != nil || !lookedAt.isEmpty }

    /// Provides for calls of ``withConfirmers(_:)`` by one more thread, so that they do not allocate.
    func reserveConfirmers() { if hasSecondLooks { confirmers.reserve { Confirmers(self) } } }

    /// Calls the body with what looks at proposals, which no other call has meanwhile.
    func withConfirmers<Result>(_ body: (Confirmers) -> Result) -> Result {
        confirmers.with(make: { Confirmers(self) }, body)
    }

    /// Whether the taught words are scored as those of another vocabulary.
    func hasTaughtWords(of other: Vocabulary) -> Bool {
        taught == other.taught && isLookedAt == other.isLookedAt && model === other.model
    }

    /// Of each label the least score that is proposed to a second look, `[labels]`; nil for a label without one, also for a word of the
    /// model that was taught in the user's own voice, which its networks never heard. Empty where nothing is looked at.
    public func proposals(mode: DetectionMode) -> [Float?] {
        let lookedAt = lookedAt
        guard model.confirmation != nil || !lookedAt.isEmpty else { return [] }
        let names = Set(taught.map(\.name))
        var levels = [Float?](repeating: nil, count: labels.count)
        if let networks = model.confirmation {
            for word in networks.words where !names.contains(labels[word]) { levels[word] = networks.proposals[mode] }
        }
        for (label, word) in lookedAt { levels[label] = word.speech?.proposal }
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
