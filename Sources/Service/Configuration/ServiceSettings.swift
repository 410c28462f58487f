public import Core
public import Spotting

/// The settings in force: a valid configuration, the detector's vocabulary, and what `beckon set` changed.
///
/// A pure value. What `beckon set` gave lasts until it is set again or the configuration gives something else for the same
/// words.
public struct ServiceSettings: Sendable {
    public let configuration: Configuration
    /// The model and the taught words.
    public let vocabulary: Vocabulary
    /// What decides the thresholds in force: the configured choices, and those given by `beckon set`.
    public private(set) var choices: ThresholdChoices
    /// The thresholds in force.
    public private(set) var thresholds: Thresholds
    public let phrases: [Phrase]
    /// What integrations detect in streams of their clients: in mode `spot`; nil where the configuration turns none on.
    public private(set) var streamDetector: DetectorSettings?
    /// The sessions, with the thresholds in force.
    public private(set) var sessions: [WakeSession]
    /// What `beckon set` gave.
    private var overrides = ThresholdChange()

    /// - Throws: ``SpottingError`` if the configuration names a word or a sensitivity that the vocabulary does not have.
    public init(_ configuration: Configuration, _ vocabulary: Vocabulary) throws(SpottingError) {
        self.configuration = configuration
        self.vocabulary = vocabulary
        choices = configuration.thresholdChoices
        thresholds = try choices.thresholds(of: vocabulary, mode: configuration.gate.mode)
        phrases = try configuration.detectorPhrases(labels: vocabulary.labels)
        sessions = try configuration.detectorSessions(vocabulary, choices: choices)
        streamDetector = try makeStreamDetector()
    }

    private func makeStreamDetector() throws(SpottingError) -> DetectorSettings? {
        guard !configuration.wyoming.listen.isEmpty else { return nil }
        var gate = configuration.gate
        gate.mode = .spot
        if configuration.wyoming.recent.keep > 0 { gate.nearMissMargin = configuration.wyoming.recent.margin }
        let thresholds = try choices.thresholds(of: vocabulary, mode: .spot)
        return DetectorSettings(vocabulary, gate: gate, thresholds: thresholds, phrases: phrases)
    }

    /// What the detector of the service's audio detects.
    public var detector: DetectorSettings {
        var gate = configuration.gate
        if configuration.misses.dir != nil { gate.nearMissMargin = configuration.misses.margin }
        var settings = DetectorSettings(
            vocabulary,
            gate: gate,
            thresholds: thresholds,
            phrases: phrases,
            sessions: sessions
        )
        settings.marksOwnSpeech = configuration.echo.reference != nil
        return settings
    }

    /// Sets the thresholds of all words without a choice of their own, and of some words.
    ///
    /// - Returns: the words that a change for all words did not concern, because they have a choice of their own.
    /// - Throws: ``SpottingError`` if a word is unknown or disabled, or if there are no thresholds for a sensitivity;
    ///   nothing has changed then.
    @discardableResult
    public mutating func set(_ change: ThresholdChange) throws(SpottingError) -> [String] {
        var changed = self
        if let all = change.all {
            changed.choices.all = .sensitivity(all)
            changed.overrides.all = all
        }
        for (word, choice) in change.words {
            guard !choices.disables(word) else { throw .unknownWord(word, known: thresholds.words) }
            changed.choices.words[word] = choice
            changed.overrides.words[word] = choice
        }
        changed.thresholds = try changed.choices.thresholds(of: vocabulary, mode: configuration.gate.mode)
        changed.sessions = try configuration.detectorSessions(
            vocabulary,
            choices: changed.choices,
            overrides: changed.overrides.words
        )
        changed.streamDetector = try changed.makeStreamDetector()
        self = changed
        guard change.all != nil else { return [] }
        return choices.words.keys.filter { change.words[$0] == nil && !choices.disables($0) }.sorted()
    }

    /// Keeps what `beckon set` gave under earlier settings, except for words that are no longer known or for which the
    /// configuration now gives something else.
    ///
    /// - Returns: one line for each choice that the new model or the new words have no thresholds for, and that was
    ///   therefore dropped.
    public mutating func keepChoices(of earlier: ServiceSettings) -> [String] {
        let (new, old) = (configuration.thresholdChoices, earlier.configuration.thresholdChoices)
        var dropped: [String] = []
        if let all = earlier.overrides.all, new.all == old.all {
            do {
                try set(ThresholdChange(all: all))
            } catch {
                dropped.append("sensitivity \(all.rawValue), which was set, no longer applies: \(error)")
            }
        }
        for (word, choice) in earlier.overrides.words.sorted(by: { $0.key < $1.key })
        where new.choice(of: word) == old.choice(of: word) {
            do {
                try set(ThresholdChange(words: [word: choice]))
            } catch SpottingError.noThresholds {
                dropped.append("\(printable(word)) \(choice), which was set, no longer applies")
            } catch {
                // The word is no longer known; its threshold is dropped.
            }
        }
        return dropped
    }

    /// The words that may fire, with their thresholds: nil for words of sessions, which have those of their sessions.
    public var wordThresholds: [(word: String, threshold: Float?)] {
        let bound = Set(sessions.flatMap(\.words))
        return zip(vocabulary.labels.indices, thresholds.values).compactMap { label, threshold in
            threshold.map { (vocabulary.labels[label], bound.contains(label) ? nil : $0) }
        }
    }
}

extension ThresholdChoices {
    /// What decides a word's threshold; nil for a disabled word.
    fileprivate func choice(of word: String) -> ThresholdChoice? {
        disables(word) ? nil : words[word] ?? all
    }
}

/// Other thresholds for a running daemon: `beckon set`.
public struct ThresholdChange: Equatable, Sendable {
    /// For all words without a choice of their own; nil changes nothing for them.
    public var all: Sensitivity?
    /// By word.
    public var words: [String: ThresholdChoice] = [:]

    public init(all: Sensitivity? = nil, words: [String: ThresholdChoice] = [:]) {
        self.all = all
        self.words = words
    }

    /// As a user writes it: `sensitivity eager stop=0.9`.
    public var text: String {
        let words = words.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return ((all.map { ["sensitivity \($0.rawValue)"] } ?? []) + words).joined(separator: " ")
    }
}
