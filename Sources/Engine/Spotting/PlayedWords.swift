private import Core
private import Inference

/// The words that a loudspeaker says, by what is played: those whose scores in it are high, whether they would fire or not.
///
/// A word counts from half of the score that the microphone's needs, so that the clean word is found at least as surely as its echo. While nothing is
/// played, nothing is computed. After `init`, nothing allocates.
final class PlayedWords {
    /// Mean square below which nothing is played: −70 dBFS.
    private static let silence: Float = 1e-7
    /// Share of a threshold that counts.
    private static let share: Float = 0.5
    /// Hops without sound after which a word is over: the window, and its smoothing.
    private static let rest = 15

    private var scorer: HopScorer
    private var handler: PosteriorHandler
    private let wakeWords: WakeWordStream?
    /// Scores from which words count, `[labels]`; infinite for the special labels.
    private let least: [Float]
    private var scores: [Float]
    private var window: [Float]
    private let hopSamples: Int
    /// Hops since the last one with sound.
    private var quiet = PlayedWords.rest

    /// - Parameter settings: of the detector that hears the microphone.
    init(_ settings: DetectorSettings) {
        let vocabulary = settings.vocabulary
        var silent = settings
        silent.thresholds = settings.thresholds.replacing(settings.thresholds.values.map { _ in nil })
        silent.gate.nearMissMargin = nil
        (silent.phrases, silent.sessions) = ([], [])
        scorer = HopScorer(vocabulary)
        handler = PosteriorHandler(silent)
        wakeWords = WakeWordStream(vocabulary.wakeWords)
        least = Self.least(settings)
        scores = [Float](repeating: 0, count: vocabulary.labels.count)
        window = [Float](repeating: 0, count: vocabulary.model.windowSamples)
        hopSamples = vocabulary.model.hopSamples
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

    /// Adds what was played during a hop.
    ///
    /// - Parameter report: called for each label whose word is being said.
    func add(_ block: Span<Float>, report: (Int) -> Void) {
        guard block.count == hopSamples else { return }
        var energy: Float = 0
        for index in block.indices { energy += block[index] * block[index] }
        quiet = energy >= Self.silence * Float(block.count) ? 0 : quiet + 1
        guard quiet < Self.rest else { return rest() }
        let kept = window.count - hopSamples
        for index in 0..<kept { window[index] = window[hopSamples + index] }
        for index in block.indices { window[kept + index] = block[index] }
        scorer.score(window: window.span)
        wakeWords?.add(hop: block) { word, score, before in
            handler.add(wakeWord: word, score: score, before: before) { _ in }
        }
        handler.process(scorer.scores, activity: scorer.activity) { _ in }
        let newest = handler.scores
        for label in scores.indices { scores[label] = newest[label] }
        handler.setWakeWordScores(in: &scores)
        for label in scores.indices where scores[label] >= least[label] { report(label) }
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
        handler.flush()
        wakeWords?.flush()
        quiet = Self.rest + 1
    }
}

/// What the loudspeaker said, beside the words of the microphone.
struct PlayedTimes {
    /// How long before a word of the microphone it may have been said, in seconds: the delay that is not found yet.
    private static let lead = 0.5

    /// When each word was heard last in what is played, in seconds, `[labels]`; empty without a reference.
    private var times: [Double]
    /// The start of the newest word of the microphone that the loudspeaker said.
    private var newest = -Double.infinity

    /// - Parameter labels: 0 without a reference.
    init(labels: Int = 0) { times = [Double](repeating: -.infinity, count: labels) }

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
