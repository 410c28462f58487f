import Core
import Inference

/// Scores what a loudspeaker plays. While nothing is played, nothing is computed. After `init`, nothing allocates.
final class PlayedWords {
    /// Mean square below which nothing is played: −70 dBFS.
    private static let silence: Float = 1e-7
    /// Hops without sound after which a word is over: the window, and its smoothing.
    private static let rest = 15

    private var scorer: HopScorer
    private var window: [Float]
    private let hopSamples: Int
    /// Hops since the last one with sound.
    private var quiet = PlayedWords.rest
    private var isKnown = false

    init(_ vocabulary: Vocabulary) {
        scorer = HopScorer(vocabulary)
        window = [Float](repeating: 0, count: vocabulary.model.windowSamples)
        hopSamples = vocabulary.model.hopSamples
    }

    var newest: PlayedHop {
        guard isKnown else { return .unknown }
        guard quiet < Self.rest else { return .silence }
        let scores = scorer.scores
        return .scores(scores.posteriors, scores.words)
    }

    /// Adds what was played during a hop.
    func add(_ block: Span<Float>) {
        isKnown = block.count == hopSamples
        guard isKnown else { return }
        var energy: Float = 0
        for index in block.indices { energy += block[index] * block[index] }
        quiet = energy >= Self.silence * Float(block.count) ? 0 : quiet + 1
        guard quiet < Self.rest else { return rest() }
        let kept = window.count - hopSamples
        for index in 0..<kept { window[index] = window[hopSamples + index] }
        for index in block.indices { window[kept + index] = block[index] }
        let newest = window
        scorer.score(window: newest.span)
    }

    /// Begins anew, once, where nothing is played any more.
    private func rest() {
        if quiet == Self.rest { flush() }
        quiet = Self.rest + 1
    }

    /// Forgets what was played.
    func flush() {
        for index in window.indices { window[index] = 0 }
        scorer.flush()
        quiet = Self.rest + 1
    }
}

/// What the loudspeaker said, beside the words of the microphone: words whose scores in what is played are high, whether they would fire
/// or not.
///
/// A word counts from half of the score that the microphone's needs, so that the clean word is found at least as surely as its echo.
struct PlayedTimes {
    /// Share of a threshold that counts.
    private static let share: Float = 0.5
    /// How long before a word of the microphone it may have been said, in seconds: the delay that is not found yet.
    private static let lead = 0.5

    /// When each word was heard last in what is played, in seconds, `[labels]`; empty without a reference.
    private var times: [Double]
    /// The start of the newest word of the microphone that the loudspeaker said.
    private var newest = -Double.infinity

    /// Scores from which words count, `[labels]`; infinite for the special labels.
    private var least: [Float] = []
    private var smoother: Smoother?
    /// The newest scores of the words that go through the gate, and of those that fire by themselves, `[labels]`.
    private var scores: [Float] = []
    private var risen: [Float] = []
    private var risingLabels: [Int] = []

    /// - Parameter labels: 0 without a reference.
    init(labels: Int = 0) { times = [Double](repeating: -.infinity, count: labels) }

    /// - Parameter settings: of the detector that hears the microphone.
    init(_ settings: DetectorSettings) {
        guard settings.marksOwnSpeech else {
            self.init()
            return
        }
        let vocabulary = settings.vocabulary
        self.init(labels: vocabulary.labels.count)
        least = Self.least(settings)
        smoother = Smoother(vocabulary.fusion, settings.gate)
        scores = [Float](repeating: 0, count: least.count)
        risingLabels = vocabulary.risingLabels
        risen = [Float](repeating: 0, count: risingLabels.count)
    }

    private static func least(_ settings: DetectorSettings) -> [Float] {
        var least = settings.vocabulary.thresholds(mode: .spot).values.map { $0.map { $0 * share } ?? .infinity }
        func lower(_ label: Int, to value: Float?) {
            guard let value, least.indices.contains(label) else { return }
            least[label] = min(least[label], value)
        }
        for (label, threshold) in settings.thresholds.values.enumerated() {
            lower(label, to: threshold.map { $0 * share })
        }
        for session in settings.sessions {
            for (label, threshold) in zip(session.words, session.thresholds) {
                lower(label, to: threshold.map { $0 * share })
            }
        }
        // A word that networks confirm fires after a lower score.
        for mode in [DetectionMode.command, .spot] {
            for (label, level) in settings.vocabulary.proposals(mode: mode).enumerated() { lower(label, to: level) }
        }
        return least
    }

    /// Notes the words of a hop of what is played.
    mutating func hear(_ hop: PlayedHop, _ fusion: PosteriorFusion, at time: Double) {
        guard smoother != nil else { return }
        switch hop {
        case .unknown: return
        case .silence: flush()
        case .scores(let posteriors, let words):
            smoother?.add(posteriors)
            guard let average = smoother?.average else { return }
            fusion.fuse(average, words.probabilities, into: &scores)
            for step in words.steps where risen.indices.contains(step.word) { risen[step.word] = step.score }
            // One that goes through the gate too has a score there; the others have 0.
            for word in risen.indices { scores[risingLabels[word]] = max(scores[risingLabels[word]], risen[word]) }
            for label in scores.indices where scores[label] >= least[label] { note(label, at: time) }
        }
    }

    /// Begins anew, where nothing is played any more; what was said stays.
    mutating func flush() { smoother?.flush() }

    /// Notes that a word is heard in what is played.
    mutating func note(_ label: Int, at time: Double) { if times.indices.contains(label) { times[label] = time } }

    /// The same word of the microphone, marked if the loudspeaker said it.
    mutating func marking(_ word: Detection) -> Detection {
        guard times.indices.contains(word.index), times[word.index] >= word.start - Self.lead else { return word }
        var word = word
        word.isOwnSpeech = true
        newest = word.start
        return word
    }

    /// Whether a part of a phrase that began at this time was said by the loudspeaker.
    func hasPart(since start: Double) -> Bool { newest >= start - 0.01 }
}
