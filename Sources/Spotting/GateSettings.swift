/// What makes the gate fire; every duration is in seconds.
public struct GateSettings: Sendable, Equatable {
    /// Which words may fire.
    public enum Mode: String, Sendable, CaseIterable {
        /// Words wherever they are said, inside talk too.
        case spot
        /// Words said alone: after a pause and before one, which `Trigger.end` waits for longer.
        case command
    }

    /// When a word fires.
    public enum Trigger: String, Sendable, CaseIterable {
        /// As soon as it is sure enough for `stability` hops.
        case early
        /// When it is over, with the best confidence it had.
        case end
    }

    public var mode = Mode.spot
    public var trigger = Trigger.early

    /// Posterior vectors averaged, and the exponent of their weights.
    public var smoothing = 3
    public var smoothingExponent: Float = 0.3

    /// Speech starts when P(not silence) exceeds P(silence) by this.
    public var startMargin: Float = 0.2
    /// Speech ends when P(silence) exceeds P(not silence) by this; larger than `startMargin`, so that it holds.
    public var endMargin: Float = 0.4

    /// Hops in a row a word must win.
    public var stability = 2
    /// A word that fired stays silent at least this long, and until its score has fallen.
    public var refractory = 0.7

    /// How long a word that fired can still be in the window in parts: until then another word fires only while
    /// something is being said.
    public var echo = 1.2
    /// How long after the last sound something still counts as being said.
    public var freshness = 0.3

    /// `command`: time without speech, or sound above the background, before the word.
    public var quietBefore = 0.4
    /// `command` with `early`: quiet after the word, enough to tell it from the beginning of a sentence.
    public var breath = 0.075
    /// `command` with `early`: how long after the last sound a word may be decided one hop ahead, by what the window will
    /// hold then if it stays quiet; 0 never.
    public var foresight = 0.5
    /// `command` with `end`: quiet after the word.
    public var quietAfter = 0.3
    /// `command`: the longest time from the utterance's first sign to the decision for a word said alone.
    public var longestUtterance = 1.6

    public init() {}

    /// Time since the last sound in which the next hop is foreseen; nil where it never is.
    public var foreseenQuiet: ClosedRange<Double>? {
        guard mode == .command, trigger == .early, foresight >= breath else { return nil }
        return breath...foresight
    }
}

/// The confidence each label needs to fire; `silence` and `unknown` have none and never fire.
public struct Thresholds: Sendable, Equatable {
    /// One value a label, in the model's order; `nil` never fires.
    public private(set) var values: [Float?]
    private let labels: [String]

    /// - Parameters:
    ///   - labels: the model's labels; those that begin with an underscore never fire.
    ///   - defaults: the model's thresholds, one a label; where they end too early, 0.8.
    public init(labels: [String], defaults: [Float]) {
        self.labels = labels
        values = labels.indices.map { index in
            if labels[index].hasPrefix("_") { return nil }
            return defaults.indices.contains(index) ? defaults[index] : 0.8
        }
    }

    /// The words that can fire.
    public var words: [String] { zip(labels, values).compactMap { $1 == nil ? nil : $0 } }

    /// Gives every word the same threshold.
    public mutating func setAll(_ threshold: Float) {
        values = values.map { $0 == nil ? nil : threshold }
    }

    /// Gives one word its threshold.
    public mutating func set(_ word: String, to threshold: Float) throws(SpottingError) {
        guard let index = labels.firstIndex(of: word), values[index] != nil else {
            throw .unknownWord(word, known: words)
        }
        values[index] = threshold
    }

    /// Lets a word never fire.
    public mutating func disable(_ word: String) throws(SpottingError) {
        guard let index = labels.firstIndex(of: word), !word.hasPrefix("_") else {
            throw .unknownWord(word, known: words)
        }
        values[index] = nil
    }
}
