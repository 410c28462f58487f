import Core
public import Spotting
private import Synchronization

/// What a wake-word server detects: words and phrases with their thresholds, and how they are announced to clients.
public struct AnnouncedWords: Sendable {
    let detector: DetectorSettings
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

    /// - Parameter detector: mode `spot` applies: after a wake word the command follows without a pause, and the audio may begin
    ///   within speech. So the thresholds must be those of this mode.
    public init(_ detector: DetectorSettings) {
        var detector = detector
        detector.gate.mode = .spot
        self.detector = detector
        names = detector.thresholds.words + detector.phrases.map(\.name)
        info = WyomingInfo.event(names, detector.vocabulary)
        number = Self.numbers.add(1, ordering: .relaxed).newValue
        folded = Dictionary(grouping: names, by: WordName.folded)
    }

    /// The words that a client means: the one of the same name, else all that are equal when folded.
    func meant(by name: String) -> [String] {
        let same = folded[WordName.folded(name)] ?? []
        return same.contains(name) ? [name] : same
    }
}
