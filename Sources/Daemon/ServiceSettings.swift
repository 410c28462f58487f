public import Configuration
public import Control
public import Spotting

/// The settings in force: a valid configuration, the words that the detector knows, and thresholds that were set since.
///
/// A pure value. A threshold given by `beckon set` lasts until it is set again or the configured threshold of its word
/// changes.
public struct ServiceSettings: Sendable {
    public let configuration: Configuration
    public let vocabulary: Vocabulary
    public private(set) var thresholds: Thresholds
    private let phrases: [Phrase]
    /// By word.
    private var overrides: [String: Float] = [:]

    /// - Throws: what is wrong with the words of the configuration.
    public init(_ configuration: Configuration, _ vocabulary: Vocabulary) throws(SpottingError) {
        self.configuration = configuration
        self.vocabulary = vocabulary
        thresholds = try configuration.thresholds(labels: vocabulary.labels, defaults: vocabulary.thresholds)
        phrases = try configuration.detectorPhrases(labels: vocabulary.labels)
    }

    /// Gives words other thresholds.
    ///
    /// - Throws: where one of them is not known; all is then as it was.
    public mutating func set(_ words: [WordThreshold]) throws(SpottingError) {
        var changed = self
        for word in words {
            try changed.thresholds.set(word.word, to: word.threshold)
            changed.overrides[word.word] = word.threshold
        }
        self = changed
    }

    /// Takes over the thresholds that were set under earlier settings, except of words that are no longer known or whose
    /// configured threshold has changed.
    mutating func keepThresholds(of earlier: ServiceSettings) {
        for (word, threshold) in earlier.overrides
        where configuration.threshold(of: word) == earlier.configuration.threshold(of: word) {
            do {
                try thresholds.set(word, to: threshold)
                overrides[word] = threshold
            } catch {
                // The word is not known any more.
            }
        }
    }

    /// What the detector's thread needs of it.
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
    /// The configured threshold of a word: nil where the model's applies, 1 where the word never fires.
    fileprivate func threshold(of word: String) -> Float? {
        words[word]?.enabled == false ? 1 : words[word]?.threshold ?? threshold
    }
}
