private import Core
public import Inference

/// Scores of one hop before any decision.
public struct HopScores: Sendable, Equatable {
    /// Posteriors of the model's labels, `[labels]`.
    public var posteriors: [Float]
    /// Probabilities of the taught words, `[words]`.
    public var taught: [Float]
    /// How each taught phrase stands beside its parts, `[words]`.
    public var partMargins: [PartMargin]

    public init(posteriors: [Float], taught: [Float] = [], partMargins: [PartMargin] = []) {
        self.posteriors = posteriors
        self.taught = taught
        self.partMargins = partMargins
    }

    init(posteriors: [Float], _ taught: TaughtWordScorer) {
        self.init(posteriors: posteriors, taught: taught.probabilities, partMargins: taught.partMargins)
    }
}

/// Computes the scores and the activity of each hop from audio windows: the first part of the ``Detector``.
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
    private var taught: TaughtWordScorer
    private var taughtAhead: [Float]
    private var partMarginsAhead: [PartMargin]
    private var detector: ActivityDetector
    /// Range of the time since the last sound, in seconds, in which `lookahead` is computed; nil for never.
    var lookaheadQuiet: ClosedRange<Double>?
    /// The session has not processed the audio before the next hop.
    private var isNew = false
    private var hasLookahead = false

    /// - Parameter lookaheadQuiet: range of the time since the last sound, in seconds, in which `lookahead` is
    ///   computed; nil for never.
    public init(_ vocabulary: Vocabulary, lookaheadQuiet: ClosedRange<Double>? = nil) {
        let model = vocabulary.model
        self.vocabulary = vocabulary
        words = Self.words(of: model)
        session = InferenceStream(model, embeds: !vocabulary.taught.isEmpty)
        taught = TaughtWordScorer(vocabulary)
        (taughtAhead, partMarginsAhead) = (taught.probabilities, taught.partMargins)
        self.lookaheadQuiet = lookaheadQuiet
        detector = ActivityDetector(of: model)
    }

    /// Switches to other words or another model from the next hop on. A new model computes that hop from the whole window.
    mutating func update(_ vocabulary: Vocabulary) {
        let old = self.vocabulary
        self.vocabulary = vocabulary
        let model = vocabulary.model
        if !vocabulary.hasTaughtWords(of: old) {
            taught = TaughtWordScorer(vocabulary)
            (taughtAhead, partMarginsAhead) = (taught.probabilities, taught.partMargins)
        }
        guard model !== old.model || vocabulary.taught.isEmpty != old.taught.isEmpty else { return }
        words = Self.words(of: model)
        session = InferenceStream(model, embeds: !vocabulary.taught.isEmpty)
        isNew = true
        detector.update(model)
    }

    /// Scores of the newest hop.
    public var scores: HopScores { HopScores(posteriors: session.posteriors, taught) }

    /// Scores that the next hop will have if it stays quiet; nil outside `lookaheadQuiet`.
    public var lookahead: HopScores? {
        guard hasLookahead else { return nil }
        return HopScores(
            posteriors: session.lookaheadPosteriors,
            taught: taughtAhead,
            partMargins: partMarginsAhead
        )
    }

    /// The embedding of the newest hop, `[dimensions]`; empty without taught words.
    package var embedding: [Float] { vocabulary.taught.isEmpty ? [] : session.embedding }

    /// Speech or sound activity after the newest hop.
    public var activity: ActivityHistory { detector.history }

    /// Processes one hop.
    ///
    /// - Parameter window: the newest second, 16000 samples in [−1, 1]; its last hop is new since the previous call.
    public mutating func score(window: Span<Float>) {
        if isNew { session.scoreWhole(window: window) } else { session.score(window: window) }
        isNew = false
        if !vocabulary.taught.isEmpty { taught.add(session.embedding) }
        detector.add(hop: window.extracting(last: session.model.hopSamples), logits: session.activity)
        lookAhead(window)
    }

    /// Whether the next hop may decide a word.
    private func mayDecide() -> Bool {
        let posteriors = session.posteriors
        for index in words.indices {
            if posteriors[words[index]] >= Self.leastForLookahead { return true }
        }
        for index in taught.probabilities.indices {
            if taught.probabilities[index] >= Self.leastForLookahead { return true }
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
        guard !vocabulary.taught.isEmpty else { return }
        taught.lookAhead(session.lookaheadEmbedding, into: &taughtAhead, &partMarginsAhead)
    }

    /// Resets the stream, for example after a gap in the audio.
    public mutating func flush() {
        session.reset()
        taught.flush()
        hasLookahead = false
        detector.flush()
    }

    /// Seconds from one hop to the next.
    public static func hopSeconds(of model: Model) -> Double { Double(model.hopSamples) / Double(model.sampleRate) }
}
