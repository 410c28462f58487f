import Configuration
public import Spotting

/// What a satellite reports: the words that start Home Assistant's assistant, and how they are announced.
public struct SatelliteWords: Sendable {
    /// Words and phrases, in the order of the announcement.
    public let names: [String]
    /// The event `info`, encoded.
    let info: [UInt8]

    /// - Parameters:
    ///   - names: the words and phrases that are reported.
    ///   - satellite: its name, which Home Assistant shows.
    public init(_ names: [String], _ vocabulary: Vocabulary, satellite: String) {
        self.init(names, info: WyomingInfo.event(names, vocabulary, satellite: satellite))
    }

    /// The words and phrases of a service that may fire, as far as the configuration chooses them.
    init(_ settings: ServiceSettings, satellite: String) {
        let names = settings.wordThresholds.map(\.word) + settings.phrases.map(\.name)
        let chosen = settings.configuration.wyoming.satelliteWords
        self.init(names.filter { chosen?.contains($0) ?? true }, settings.vocabulary, satellite: satellite)
    }

    init(_ names: [String], info: [UInt8]) {
        self.names = names
        self.info = info
    }
}
