private import Configuration
import Core
import IntegrationInterface
public import Spotting
private import Synchronization

/// What a wake-word server detects: words and phrases with their thresholds, and how they are announced to clients.
public struct WakeWords: Sendable {
    let vocabulary: Vocabulary
    let thresholds: Thresholds
    let phrases: [Phrase]
    let gate: GateSettings
    /// Every name that a client may ask for, in the order of the announcement.
    public let names: [String]
    /// The event `info`, encoded.
    let info: [UInt8]
    /// Which words these are: others have another number.
    let number: Int
    /// The names by their folded form; see ``WordName``.
    private let folded: [String: [String]]

    /// The last number that was given.
    private static let numbers = Atomic<Int>(0)

    /// In mode `spot`: after a wake word the command follows without a pause, and the audio may begin within speech.
    ///
    /// - Parameters:
    ///   - gate: the other settings of the gate apply.
    ///   - choices: what decides the thresholds.
    /// - Throws: ``SpottingError`` if a choice names an unknown word, or a sensitivity that has no thresholds in mode `spot`.
    public init(
        _ vocabulary: Vocabulary,
        gate: GateSettings,
        choices: ThresholdChoices,
        phrases: [Phrase]
    ) throws(SpottingError) {
        let thresholds = try choices.thresholds(of: vocabulary, mode: .spot)
        self.init(vocabulary, gate: gate, thresholds: thresholds, phrases: phrases)
    }

    /// Those of a service; nil if it serves no streams.
    init?(_ settings: ServiceSettings) {
        guard let thresholds = settings.streamThresholds else { return nil }
        self.init(
            settings.vocabulary,
            gate: settings.configuration.gate,
            thresholds: thresholds,
            phrases: settings.phrases
        )
    }

    private init(_ vocabulary: Vocabulary, gate: GateSettings, thresholds: Thresholds, phrases: [Phrase]) {
        self.vocabulary = vocabulary
        self.thresholds = thresholds
        self.phrases = phrases
        var gate = gate
        gate.mode = .spot
        self.gate = gate
        names = thresholds.words + phrases.map(\.name)
        info = WyomingInfo.event(names, vocabulary)
        number = Self.numbers.add(1, ordering: .relaxed).newValue
        folded = Dictionary(grouping: names, by: WordName.folded)
    }

    /// The words that a client means: the one of the same name, else all that are equal when folded.
    func meant(by name: String) -> [String] {
        let same = folded[WordName.folded(name)] ?? []
        return same.contains(name) ? [name] : same
    }

    var detector: BatchDetector {
        BatchDetector(vocabulary, settings: gate, thresholds: thresholds, phrases: phrases)
    }
}
