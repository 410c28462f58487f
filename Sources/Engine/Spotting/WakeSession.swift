public import Core

/// Words that count only for some seconds after a wake word: "computer … on".
public struct WakeSession: Sendable, Equatable {
    /// Name of the wake word, which is the session's name too.
    public let name: String
    /// Label index of the wake word.
    public let wake: Int
    /// Label indices of the words that count while the session is on.
    public let words: [Int]
    /// Threshold of each of `words`, 0…1; nil for a word that never fires.
    public let thresholds: [Float?]
    /// Seconds after the decision for the wake word in which a word has to begin.
    public let seconds: Double
    /// Whether the first of its words ends the session. If false, each word starts the seconds anew.
    public let endsWithWord: Bool
    /// The mode of its words while the session is on. The mode of all other words stays as it is.
    public let mode: DetectionMode

    public init(
        name: String,
        wake: Int,
        words: [Int],
        thresholds: [Float?],
        seconds: Double,
        endsWithWord: Bool,
        mode: DetectionMode
    ) {
        self.name = name
        self.wake = wake
        self.words = words
        self.thresholds = thresholds
        self.seconds = seconds
        self.endsWithWord = endsWithWord
        self.mode = mode
    }
}

/// Decides which session is on: a state machine on stream time, without clock or side effects. At most one is on.
///
/// - A wake word starts its session, and ends another one that is on. Said again, it starts the seconds anew.
/// - One of the session's words ends it, or starts the seconds anew; see ``WakeSession/endsWithWord``.
/// - After its seconds the session times out. A word that began in time still counts: while sound goes on that began before the
///   deadline, and ``decisionTime`` after it, the session stays on, for ``longestWord`` at most.
public struct WakeSessionMachine: Sendable {
    /// What happened to the session of this index.
    public enum Change: Sendable, Equatable {
        case started(Int)
        /// One of its words was detected, another session began, or audio is missing.
        case ended(Int)
        case timedOut(Int)
    }

    /// Longest time from the end of a word to its decision, in seconds.
    static let decisionTime = 0.5
    /// Longest time after the deadline in which a word that began before it is waited for, in seconds.
    static let longestWord = 1.5

    public let sessions: [WakeSession]
    /// Index of the session that is on; nil for none.
    public private(set) var current: Int?
    /// Stream time until which a word of the session may begin, in seconds.
    public private(set) var deadline = 0.0

    public init(_ sessions: [WakeSession]) { self.sessions = sessions }

    /// Moves on to the end of a hop. Allocates nothing.
    ///
    /// - Parameters:
    ///   - time: the end of the hop, in seconds of stream time.
    ///   - activity: speech or sound up to that time.
    /// - Returns: the session that timed out; nil if none did.
    public mutating func advance(to time: Double, activity: ActivityHistory) -> Change? {
        guard let current, time > deadline + 1e-6, !isWordOpen(time, activity) else { return nil }
        self.current = nil
        return .timedOut(current)
    }

    /// Whether a word that began before the deadline may still be decided.
    private func isWordOpen(_ time: Double, _ activity: ActivityHistory) -> Bool {
        guard time <= deadline + Self.longestWord, let sound = activity.lastSegment(within: 3) else { return false }
        return time - sound.start <= deadline && sound.end <= Self.decisionTime
    }

    /// The session that is on, if a label is one of its words; else nil.
    public func session(of label: Int) -> Int? {
        guard let current else { return nil }
        // A loop by index: generic algorithms may allocate where they are not specialised.
        for index in sessions[current].words.indices where sessions[current].words[index] == label { return current }
        return nil
    }

    /// Whether a word counts: it belongs to no session, or to the one that is on and began before its deadline.
    public func admits(_ word: Detection) -> Bool {
        guard session(of: word.index) != nil else { return true }
        return word.start <= deadline
    }

    /// Adds a word that counts. Allocates nothing.
    ///
    /// - Parameter report: called for each change: the end of one session before the start of another.
    public mutating func add(_ word: Detection, report: (Change) -> Void) {
        if let current = session(of: word.index) {
            if sessions[current].endsWithWord {
                self.current = nil
                report(.ended(current))
            } else {
                deadline = word.time + sessions[current].seconds
            }
        }
        var found: Int?
        for index in sessions.indices where found == nil && sessions[index].wake == word.index { found = index }
        guard let woken = found else { return }
        if let current, current != woken { report(.ended(current)) }
        if current != woken { report(.started(woken)) }
        current = woken
        deadline = word.time + sessions[woken].seconds
    }

    /// Ends the session that is on, for example after a gap in the audio: its seconds may be over long ago.
    ///
    /// - Returns: the session that ended; nil if none was on.
    public mutating func end() -> Change? {
        guard let current else { return nil }
        self.current = nil
        return .ended(current)
    }

    /// Goes on with other sessions. The session that is on stays on if there is one of the same name.
    ///
    /// - Returns: the end of a session that is not among the new ones; its index is the one among the old ones.
    public mutating func replace(by sessions: [WakeSession]) -> Change? {
        var new = WakeSessionMachine(sessions)
        new.current = current.flatMap { old in sessions.firstIndex { $0.name == self.sessions[old].name } }
        new.deadline = deadline
        let lost = new.current == nil ? end() : nil
        self = new
        return lost
    }
}

/// The threshold and the mode of each label in one state of the sessions: none is on, or a given one.
struct SessionRules: Sendable {
    let thresholds: Thresholds
    /// `[labels]`
    let modes: [DetectionMode]
    /// See ``Gate/alone``.
    let alone: [Gate.AloneLevels?]

    /// - Parameters:
    ///   - thresholds: of all labels, as if there were no sessions.
    ///   - mode: of words that belong to no session.
    ///   - sessions: all sessions; their words never fire outside of them.
    ///   - current: the session that is on; nil for none.
    ///   - taught: the labels that only taught words have.
    init(
        _ thresholds: Thresholds,
        mode: DetectionMode,
        sessions: [WakeSession],
        current: WakeSession?,
        taught: [Int] = []
    ) {
        var values = thresholds.values
        var modes = [DetectionMode](repeating: mode, count: values.count)
        for session in sessions {
            for label in session.words where values.indices.contains(label) { values[label] = nil }
        }
        if let current {
            for (label, threshold) in zip(current.words, current.thresholds) where values.indices.contains(label) {
                values[label] = threshold
                modes[label] = current.mode
            }
        }
        self.thresholds = thresholds.replacing(values)
        self.modes = modes
        var alone = [Gate.AloneLevels?](repeating: nil, count: taught.isEmpty ? 0 : values.count)
        for label in taught where values.indices.contains(label) {
            let least = modes[label] == .command ? values[label] : self.thresholds.alone[label]
            alone[label] = least.map { Gate.AloneLevels(least: $0, immediate: TaughtWord.immediateThreshold($0)) }
        }
        self.alone = alone
    }
}
