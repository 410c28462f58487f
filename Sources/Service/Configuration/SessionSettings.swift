public import Core
public import Spotting

extension Configuration {
    /// The settings of one session: words that count only for some seconds after a wake word.
    public struct Session: Equatable, Sendable {
        /// What ends a session, apart from its seconds.
        public enum End: String, Sendable, CaseIterable {
            /// The first of its words.
            case word
            /// Only its seconds, which each of its words starts anew.
            case time
        }

        /// The word that starts the session, which is the session's name in events.
        public var wake = ""
        /// The words that count while the session is on, and only then.
        public var words: [String] = []
        /// Seconds after the wake word in which a word has to begin.
        public var seconds = 5.0
        public var end = End.word
        /// The mode of its words.
        public var mode = DetectionMode.spot
        /// How readily its words fire; `threshold` takes precedence. Nil for the lowest thresholds that the model has.
        public var sensitivity: Sensitivity?
        /// The threshold of its words that have none of their own.
        public var threshold: Float?
        /// The thresholds of single words while the session is on.
        public var thresholds: [String: Float] = [:]
        /// The actions when it starts, and when it ends, however it ends.
        public var onStart: [Action] = []
        public var onEnd: [Action] = []

        public init() {}
    }

    /// The sessions for the detector.
    ///
    /// The threshold of a word in a session is the first of these that is given: one that was set while the service runs, the
    /// session's for this word, the word's own threshold or sensitivity, the session's threshold, the session's sensitivity; else
    /// that of `eager`, or of `balanced` if there is none for `eager`.
    ///
    /// - Parameters:
    ///   - choices: of single words, those that were set while the service runs included; disabled words never fire.
    ///   - overrides: those of them that were set while the service runs.
    /// - Throws: ``SpottingError`` for an unknown word, or a sensitivity without thresholds.
    public func detectorSessions(
        _ vocabulary: Vocabulary,
        choices: ThresholdChoices,
        overrides: [String: ThresholdChoice] = [:]
    ) throws(SpottingError) -> [WakeSession] {
        let known = Labels(vocabulary.labels).words
        func label(_ word: String) throws(SpottingError) -> Int {
            guard let label = known.firstIndex(of: word) else { throw .unknownWord(word, known: known) }
            return label
        }
        return try sessions.map { session throws(SpottingError) in
            let labels = try session.words.map(label)
            let thresholds = try zip(session.words, labels).map { word, label throws(SpottingError) -> Float? in
                guard !choices.disables(word) else { return nil }
                let own = overrides[word] ?? session.thresholds[word].map(ThresholdChoice.confidence)
                let choice = own ?? choices.words[word] ?? session.choice
                return try vocabulary.threshold(label: label, choice, session.mode)
            }
            return WakeSession(
                name: session.wake,
                wake: try label(session.wake),
                words: labels,
                thresholds: thresholds,
                seconds: session.seconds,
                endsWithWord: session.end == .word,
                mode: session.mode
            )
        }
    }

    /// Removes sessions with a wake word that is not among `known`, and unknown words of others.
    ///
    /// The words of a removed session are disabled: without their session they would count at any time.
    mutating func leaveOutSessions(wordsBeside known: [String]) {
        let kept = sessions.filter { known.contains($0.wake) }
        let stay = Set(kept.flatMap(\.words))
        for word in sessions.flatMap(\.words) where !stay.contains(word) && known.contains(word) {
            words[word, default: Word()].enabled = false
        }
        sessions = kept.map { session in
            var session = session
            session.words.removeAll { !known.contains($0) }
            session.thresholds = session.thresholds.filter { known.contains($0.key) }
            return session
        }
    }
}

extension Configuration.Session {
    /// What decides the thresholds of words without a choice of their own; nil for the lowest thresholds that there are.
    fileprivate var choice: ThresholdChoice? { ThresholdChoice(threshold, else: sensitivity) }

    /// Replaces all of its thresholds, those of single words too.
    public mutating func choose(_ choice: ThresholdChoice) {
        (threshold, sensitivity, thresholds) = (choice.confidence, choice.sensitivity, [:])
    }
}

extension Vocabulary {
    /// The threshold of a word in a mode.
    ///
    /// - Parameter choice: nil for the lowest threshold that there is.
    /// - Throws: ``SpottingError/noThresholds``.
    fileprivate func threshold(
        label: Int,
        _ choice: ThresholdChoice?,
        _ mode: DetectionMode
    ) throws(SpottingError) -> Float {
        if let confidence = choice?.confidence { return confidence }
        if choice == nil, let lowest = threshold(label: label, .eager, mode) { return lowest }
        let sensitivity = choice?.sensitivity ?? .balanced
        guard let threshold = threshold(label: label, sensitivity, mode) else {
            throw noThresholds(label: label, sensitivity, mode)
        }
        return threshold
    }
}

// MARK: - Reading

extension SettingKind where Value == Configuration.Session {
    static let session = object(
        Configuration.Session(),
        Section([
            Setting("wake", \.wake, .word),
            Setting("words", \.words, SettingKind<String>.word.list),
            Setting("seconds", \.seconds, .number(0.5...300, "seconds from 0.5 to 300")),
            Setting("end", \.end, .choice),
            Setting("mode", \.mode, .choice),
            Setting("sensitivity", \.sensitivity, SettingKind<Sensitivity>.choice.optional),
            Setting("threshold", \.threshold, SettingKind<Float>.threshold.optional),
            Setting("thresholds", \.thresholds, SettingKind<Float>.threshold.table),
            Setting("onStart", \.onStart, SettingKind<Action>.action.list),
            Setting("onEnd", \.onEnd, SettingKind<Action>.action.list),
        ])
    ).noting(in: \.sessions)
}

extension SettingKind where Value == String {
    fileprivate static let word = text("a word, such as \"computer\"")
}

// MARK: - Checking

/// The checks of all sessions together.
struct SessionCheck {
    /// Most sessions of a configuration: each has a table of thresholds of all words.
    static let limit = 64

    let configuration: Configuration
    /// By key, such as `sessions[0]`.
    let sessions: [(key: String, value: Configuration.Session)]
    /// Nil skips the check of sensitivities.
    let vocabulary: Vocabulary?

    func run(_ findings: inout Findings) {
        if sessions.count > Self.limit {
            findings.add("\(sessions.count) sessions; there may be \(Self.limit)", key: "sessions")
        }
        var firstKeys: [String: String] = [:]
        for (key, session) in sessions {
            guard !findings.isFull else { return }
            check(session, key, &findings)
            guard !session.wake.isEmpty else { continue }
            if let first = firstKeys[session.wake] {
                findings.add(
                    "'\(session.wake)' starts \(first) already; put all words into one session",
                    key: key + ".wake"
                )
            } else {
                firstKeys[session.wake] = key
            }
        }
        checkReachable(&findings)
    }

    private func check(_ session: Configuration.Session, _ key: String, _ findings: inout Findings) {
        if session.wake.isEmpty {
            findings.add("needs wake, the word that starts it, such as wake: \"computer\"", key: key)
        }
        if session.words.isEmpty {
            findings.add("needs words that count after the wake word, such as words: [\"on\", \"off\"]", key: key)
        }
        var seen: Set<String> = []
        for (index, word) in session.words.enumerated() {
            let place = "\(key).words[\(index)]"
            if word == session.wake {
                findings.add(
                    "'\(word)' is the wake word; leave it out here: said again, it starts the seconds anew",
                    key: place
                )
            } else if !seen.insert(word).inserted {
                findings.add("'\(word)' is given twice", key: place, isWarning: true)
            }
        }
        for word in session.thresholds.keys.sorted() where !seen.contains(word) {
            findings.add("'\(word)' is not among the words of this session", key: "\(key).thresholds.\(word)")
        }
        for word in [session.wake] + session.words where configuration.words[word]?.enabled == false {
            findings.add("'\(word)' is never found, as it is not enabled", key: key, isWarning: true)
        }
        checkSensitivity(session, key, &findings)
    }

    private func checkSensitivity(_ session: Configuration.Session, _ key: String, _ findings: inout Findings) {
        if session.threshold != nil {
            guard session.sensitivity != nil else { return }
            findings.add(
                "has no effect, as threshold is given too",
                key: key + ".sensitivity",
                isWarning: true
            )
            return
        }
        guard let vocabulary else { return }
        func firstWithout(_ sensitivity: Sensitivity, of words: [String]) -> Int? {
            words.lazy.compactMap { vocabulary.labels.firstIndex(of: $0) }
                .first { vocabulary.threshold(label: $0, sensitivity, session.mode) == nil }
        }
        if let sensitivity = session.sensitivity {
            if let label = firstWithout(sensitivity, of: session.words) {
                findings.add(
                    vocabulary.noThresholds(label: label, sensitivity, session.mode).description,
                    key: key + ".sensitivity"
                )
            }
            return
        }
        let others = session.words.filter { word in
            let own = configuration.words[word]
            return session.thresholds[word] == nil && own?.choice == nil && own?.enabled != false
        }
        if firstWithout(.eager, of: others) != nil {
            findings.add(
                "the model has no thresholds for the sensitivity eager, so the words of this session "
                    + "need those of balanced; lower ones are given by threshold, such as threshold: 0.5",
                key: key,
                isWarning: true
            )
        }
    }

    /// A wake word that is itself a word of sessions counts only in these: one of them must be able to start.
    private func checkReachable(_ findings: inout Findings) {
        let bound = Set(sessions.flatMap(\.value.words))
        var heard = Set(sessions.map(\.value.wake)).subtracting(bound)
        var open = Array(heard)
        while let wake = open.popLast() {
            for word in sessions.first(where: { $0.value.wake == wake })?.value.words ?? []
            where heard.insert(word).inserted { open.append(word) }
        }
        for (key, session) in sessions
        where !session.wake.isEmpty && !heard.contains(session.wake) && !session.words.contains(session.wake) {
            findings.add(
                "'\(session.wake)' is detected only in sessions that it starts itself; remove it from their words",
                key: key + ".wake"
            )
        }
    }
}
