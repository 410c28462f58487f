public import Configuration
public import Control
public import Spotting

/// The settings in force: a valid configuration, the detector's vocabulary, and the thresholds given by `beckon set`.
///
/// A pure value. A threshold given by `beckon set` lasts until it is set again or the configured threshold of its word
/// changes.
public struct ServiceSettings: Sendable {
    public let configuration: Configuration
    /// The model and the taught words.
    public let vocabulary: Vocabulary
    /// The thresholds in force: the configured ones, and those given by `beckon set`.
    public private(set) var thresholds: Thresholds
    private let phrases: [Phrase]
    /// Thresholds given by `beckon set`, by word.
    private var overrides: [String: Float] = [:]

    /// - Throws: ``SpottingError`` if the configuration names a word that the vocabulary does not have.
    public init(_ configuration: Configuration, _ vocabulary: Vocabulary) throws(SpottingError) {
        self.configuration = configuration
        self.vocabulary = vocabulary
        thresholds = try configuration.thresholds(labels: vocabulary.labels, defaults: vocabulary.thresholds)
        phrases = try configuration.detectorPhrases(labels: vocabulary.labels)
    }

    /// Sets other thresholds for some words.
    ///
    /// - Throws: ``SpottingError`` if one of them is unknown; nothing has changed then.
    public mutating func set(_ words: [WordThreshold]) throws(SpottingError) {
        var changed = self
        for word in words {
            try changed.thresholds.set(word.word, to: word.threshold)
            changed.overrides[word.word] = word.threshold
        }
        self = changed
    }

    /// Keeps the thresholds that `beckon set` gave under earlier settings, except for words that are no longer known or
    /// whose configured threshold has changed.
    mutating func keepThresholds(of earlier: ServiceSettings) {
        for (word, threshold) in earlier.overrides
        where configuration.threshold(of: word) == earlier.configuration.threshold(of: word) {
            do {
                try thresholds.set(word, to: threshold)
                overrides[word] = threshold
            } catch {
                // The word is no longer known; its threshold is dropped.
            }
        }
    }

    /// The part of the settings that the detector's thread needs.
    func detector(generation: UInt32) -> DetectorSettings {
        DetectorSettings(
            vocabulary: vocabulary,
            gate: configuration.gate,
            thresholds: thresholds,
            phrases: phrases,
            generation: generation
        )
    }
}

extension Configuration {
    /// The configured threshold of a word: nil if the model's applies, 1 if the word is disabled.
    fileprivate func threshold(of word: String) -> Float? {
        words[word]?.enabled == false ? 1 : words[word]?.threshold ?? threshold
    }
}
