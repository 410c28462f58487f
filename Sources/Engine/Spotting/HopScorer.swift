private import Core
public import Inference

/// Scores of one hop before any decision.
public struct HopScores: Sendable, Equatable {
    /// Posteriors of the model's labels, `[labels]`.
    public var posteriors: [Float]
    /// Scores of the other words.
    public var words: WordScores
    /// What is known of what a loudspeaker plays.
    public var played: PlayedHop

    public init(posteriors: [Float], words: WordScores = WordScores(), played: PlayedHop = .unknown) {
        (self.posteriors, self.words, self.played) = (posteriors, words, played)
    }
}

/// Computes the scores and the activity of each hop from audio windows: the first half of the ``Detector``.
///
/// Only `init` and `update` allocate.
public struct HopScorer: ~Copyable {
    /// The least posterior of some word with which the next hop is computed ahead. A decision needs the mean of some hops: with
    /// less than this now, the next hop alone cannot bring it to a threshold in use.
    private static let leastForLookahead: Float = 0.02

    private var vocabulary: Vocabulary
    /// Indices of the model's labels that may fire.
    private var words: [Int]
    private var session: InferenceStream
    private var scorers: WordScorers
    /// Nil where no reference is heard.
    private var played: PlayedWords?
    /// Range of the time since the last sound, in seconds, in which `lookahead` is computed; nil for never.
    var lookaheadQuiet: ClosedRange<Double>?
    /// The session has not processed the audio before the next hop.
    private var isNew = false
    private var hasLookahead = false

    /// - Parameters:
    ///   - lookaheadQuiet: range of the time since the last sound, in seconds, in which `lookahead` is computed; nil for never.
    ///   - hearsPlayed: whether what a loudspeaker plays is scored too.
    public init(_ vocabulary: Vocabulary, lookaheadQuiet: ClosedRange<Double>? = nil, hearsPlayed: Bool = false) {
        let model = vocabulary.model
        self.vocabulary = vocabulary
        words = Self.words(of: model)
        session = InferenceStream(model, embeds: vocabulary.embeds)
        scorers = WordScorers(vocabulary)
        self.lookaheadQuiet = lookaheadQuiet
        played = hearsPlayed ? PlayedWords(vocabulary) : nil
    }

    /// Switches to other words or another model from the next hop on. A new model computes that hop from the whole window.
    ///
    /// - Parameter hearsPlayed: as for `init`; what was played in the last second is forgotten.
    mutating func update(_ vocabulary: Vocabulary, hearsPlayed: Bool) {
        let old = self.vocabulary
        played = hearsPlayed ? PlayedWords(vocabulary) : nil
        guard vocabulary !== old else { return }
        self.vocabulary = vocabulary
        let model = vocabulary.model
        scorers.update(vocabulary)
        guard model !== old.model || vocabulary.embeds != old.embeds else { return }
        words = Self.words(of: model)
        session = InferenceStream(model, embeds: vocabulary.embeds)
        isNew = true
    }

    /// Scores of the newest hop.
    public var scores: HopScores {
        HopScores(posteriors: session.posteriors, words: scorers.scores, played: played?.newest ?? .unknown)
    }

    /// Scores that the next hop will have if it stays quiet; nil outside `lookaheadQuiet`.
    public var lookahead: HopScores? {
        hasLookahead ? HopScores(posteriors: session.lookaheadPosteriors, words: scorers.ahead) : nil
    }

    /// The embedding of the newest hop, `[dimensions]`; empty where no kind of words needs it.
    package var embedding: [Float] { vocabulary.embeds ? session.embedding : [] }

    /// Speech or sound activity after the newest hop.
    public var activity: ActivityHistory { scorers.activity }

    /// Processes one hop.
    ///
    /// - Parameters:
    ///   - window: the newest second, 16000 samples in [−1, 1]; its last hop is new since the previous call.
    ///   - block: what a loudspeaker played during the hop; empty if nothing is known of it.
    public mutating func score(window: Span<Float>, played block: Span<Float> = Span()) {
        played?.add(block)
        if isNew { session.scoreWhole(window: window) } else { session.score(window: window) }
        isNew = false
        let hop = window.extracting(last: session.model.hopSamples)
        scorers.add(hop: hop, logits: session.activity, embedding: embedding)
        lookAhead(window)
    }

    /// Whether the next hop may decide a word.
    private func mayDecide() -> Bool {
        let posteriors = session.posteriors
        for index in words.indices {
            if posteriors[words[index]] >= Self.leastForLookahead { return true }
        }
        let probabilities = scorers.scores.probabilities
        for index in probabilities.indices {
            if probabilities[index] >= Self.leastForLookahead { return true }
        }
        return false
    }

    private static func words(of model: Model) -> [Int] {
        model.labels.indices.filter { !Labels.isSpecial(model.labels[$0]) }
    }

    /// Scores the window one hop later. Its new hop is the quiet since the last sound, repeated backwards and forwards.
    private mutating func lookAhead(_ window: Span<Float>) {
        let quiet = activity.quietSeconds
        hasLookahead = lookaheadQuiet?.contains(quiet) ?? false
        if hasLookahead { hasLookahead = mayDecide() }
        guard hasLookahead else { return }
        let model = session.model
        let hop = model.hopSamples
        let kept = window.count - hop
        let length = max(1, min(hop, kept, Int(quiet * Double(model.sampleRate))))
        session.lookAhead { next in
            for index in 0..<kept { next[index] = window[hop + index] }
            // Mirrored at the joint: a jump in the signal would be a click, and a word may begin with one.
            for index in 0..<hop {
                let place = index % (2 * length)
                next[kept + index] = place < length ? next[kept - 1 - place] : next[kept + place - 2 * length]
            }
        }
        scorers.lookAhead(embedding: vocabulary.embeds ? session.lookaheadEmbedding : [])
    }

    /// Resets the stream, for example after a gap in the audio.
    public mutating func flush() {
        session.reset()
        scorers.flush()
        hasLookahead = false
        played?.flush()
    }

    /// Seconds from one hop to the next.
    public static func hopSeconds(of model: Model) -> Double { Double(model.hopSamples) / Double(model.sampleRate) }
}
