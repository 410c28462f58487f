import Configuration
public import Spotting

/// What a satellite reports: the words that start Home Assistant's assistant, and how they are announced; and what it plays.
public struct SatelliteWords: Sendable {
    /// Words and phrases, in the order of the announcement.
    public let names: [String]
    /// The event `info`, encoded.
    let info: [UInt8]
    /// Whether the answer to a command is played.
    let plays: Bool
    /// Audio files that are played after a word, and after its command was understood.
    private(set) var heardSound: String?
    private(set) var doneSound: String?

    /// - Parameters:
    ///   - names: the words and phrases that are reported.
    ///   - satellite: its name, which Home Assistant shows.
    ///   - plays: whether there is a speaker.
    public init(_ names: [String], _ vocabulary: Vocabulary, satellite: String, plays: Bool = false) {
        let info = WyomingInfo.event(names, vocabulary, satellite: satellite, plays: plays)
        self.init(names, info: info, plays: plays)
    }

    /// The words and phrases of a service that may fire, as far as the configuration chooses them.
    init(_ settings: ServiceSettings, satellite: String) {
        let names = settings.wordThresholds.map(\.word) + settings.phrases.map(\.name)
        let chosen = settings.configuration.wyoming.satelliteWords
        self.init(
            names.filter { chosen?.contains($0) ?? true },
            settings.vocabulary,
            satellite: satellite,
            plays: settings.configuration.speaker != nil
        )
        heardSound = settings.configuration.wyoming.heardSound
        doneSound = settings.configuration.wyoming.doneSound
    }

    init(
        _ names: [String],
        info: [UInt8],
        plays: Bool = false,
        heardSound: String? = nil,
        doneSound: String? = nil
    ) {
        self.names = names
        self.info = info
        self.plays = plays
        (self.heardSound, self.doneSound) = (heardSound, doneSound)
    }
}
