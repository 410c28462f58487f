public import Core

/// Settings of the ``Gate``: which words fire, and when. All durations are in seconds.
public struct GateSettings: Sendable, Equatable {
    /// When a word fires.
    public enum Trigger: String, Sendable, CaseIterable {
        /// As soon as it qualifies.
        case early
        /// When it is over, with the highest confidence that it reached.
        case end
    }

    /// Which words may fire.
    public var mode = DetectionMode.spot
    /// When a word fires.
    public var trigger = Trigger.early

    /// Number of posterior vectors that the ``Smoother`` averages, and the exponent of their weights.
    public var smoothing = 3
    public var smoothingExponent: Float = 0.3

    /// Speech starts when P(not silence) exceeds P(silence) by this.
    public var startMargin: Float = 0.2
    /// Speech ends when P(silence) exceeds P(not silence) by this; larger than `startMargin`, for hysteresis.
    public var endMargin: Float = 0.4

    /// Hops in a row that a word must win.
    public var stability = 2
    /// Shortest time between two detections of a word; in between, its score must also fall below its threshold.
    public var refractory = 0.7

    /// How long the residue of a detected word may stay in the window and resemble another word. Within this time,
    /// another word fires only if it began at most `hangover` after the last sound.
    public var residueWindow = 1.2
    /// How long after the last sound speech is assumed to go on; see `residueWindow`.
    public var hangover = 0.3
    /// How long after the end of a detected word there must be sound for another word; see `residueWindow`. Less is the rest of the
    /// same word, whose two likeliest labels may change places.
    public var newSound = 0.15

    /// `command`: least quiet before the word: no speech, or no sound above the noise floor.
    public var quietBefore = 0.4
    /// `command` with `early`: least quiet after the word, enough to tell it from the beginning of a sentence.
    public var trailingSilence = 0.075
    /// `command` with `early`: how long after the last sound a word may be decided one hop ahead, by the scores that the next
    /// hop will have if it stays quiet; 0 for never.
    public var lookahead = 0.5
    /// `command`: least quiet after the word with `end`, and after a taught word whose score is hardly above its threshold.
    public var quietAfter = 0.3
    /// `early`: longest time from the best hop of a word that is said alone to the end of the sound. More is another word.
    public var longestRest = 0.35
    /// `command`: longest time from the start of the utterance to the decision.
    public var longestUtterance = 1.6

    /// How often there is a second look at a word that was refused, with the audio that follows, until another one is the likeliest.
    public var longestConfirmation = 8

    /// How far under its threshold the highest score of a word may stay to be reported as a near miss; nil reports none.
    public var nearMissMargin: Float?

    public init() {}

    /// Range of the time since the last sound in which the next hop is computed ahead; nil for never.
    ///
    /// - Parameter sessions: their words have a mode of their own.
    func lookaheadQuiet(with sessions: [WakeSession] = []) -> ClosedRange<Double>? {
        guard mode == .command || sessions.contains(where: { $0.mode == .command }), trigger == .early,
            lookahead >= trailingSilence
        else { return nil }
        return trailingSilence...lookahead
    }
}

/// The confidence that each label needs to fire, 0…1. Special labels have none and never fire.
public struct Thresholds: Sendable, Equatable {
    /// `[labels]`, in the order of the labels; nil for a label that never fires.
    public private(set) var values: [Float?]
    /// Mode `spot`: the confidence that a taught word needs where it is said alone, lower than its threshold; nil for any other label.
    private(set) var alone: [Float?]
    private let labels: [String]

    /// - Parameters:
    ///   - values: threshold of each label, `[labels]`; nil for a label that never fires.
    ///   - alone: of each label where it is said alone, `[labels]`; nil, or missing, for its threshold.
    init(labels: [String], values: [Float?], alone: [Float?] = []) {
        self.labels = labels
        self.values = values
        self.alone = values.indices.map { label in
            guard alone.indices.contains(label), let lower = alone[label], let value = values[label] else { return nil }
            return lower < value ? lower : nil
        }
    }

    /// The same labels with other thresholds, which hold for words said alone too where they differ.
    func replacing(_ values: [Float?]) -> Thresholds {
        Thresholds(
            labels: labels,
            values: values,
            alone: zip(alone, zip(values, self.values)).map { $1.0 == $1.1 ? $0 : nil }
        )
    }

    /// The words that can fire.
    public var words: [String] { zip(labels, values).compactMap { $1 == nil ? nil : $0 } }

    /// Sets the threshold of every word that can fire.
    public mutating func setAll(_ threshold: Float) {
        values = values.map { $0 == nil ? nil : threshold }
        alone = values.map { _ in nil }
    }

    /// Sets the threshold of one word.
    ///
    /// - Throws: ``SpottingError/unknownWord(_:known:)``, also for a word that was disabled.
    public mutating func set(_ word: String, to threshold: Float) throws(SpottingError) {
        guard let index = labels.firstIndex(of: word), values[index] != nil else {
            throw .unknownWord(word, known: words)
        }
        values[index] = threshold
        alone[index] = nil
    }
}
