public import Configuration
public import Core
public import IntegrationInterface
import Network
import Spotting

/// The satellite as an integration: it reports what the service detects, and sends the service's audio.
extension WyomingSatellite: Integration {
    /// Where it listens, and whether that is announced. Other words need no new satellite.
    public struct Configured: Equatable, Sendable {
        let listen: [ListenAddress]
        let announces: Bool
    }

    public static let key = "satellite"

    public static func configured(in configuration: Configuration) -> Configured? {
        let wyoming = configuration.wyoming
        return wyoming.satellite.isEmpty ? nil : Configured(listen: wyoming.satellite, announces: wyoming.announce)
    }

    public convenience init(_ configured: Configured, _ service: Service) throws {
        guard let history = service.history else {
            throw SocketError("no detector, whose words and audio it could send")
        }
        // Home Assistant knows the satellite by its name.
        let name = "beckon satellite on \(service.machine)"
        var settings = Settings(listen: configured.listen, name: name)
        settings.announces = configured.announces
        let words = SatelliteWords(service.settings(), satellite: name)
        try self.init(words, settings, audio: history, log: service.log)
    }

    public func update(_ settings: ServiceSettings) { update(SatelliteWords(settings, satellite: name)) }

    @discardableResult
    public func stop(isRemoved: Bool, until time: Instant?) -> Bool { stop(until: time) }
}

extension SatelliteWords {
    /// The words and phrases of a service that may fire, as far as the configuration chooses them.
    fileprivate init(_ settings: ServiceSettings, satellite: String) {
        let names = settings.wordThresholds.map(\.word) + settings.phrases.map(\.name)
        let chosen = settings.configuration.wyoming.satelliteWords
        self.init(names.filter { chosen?.contains($0) ?? true }, settings.vocabulary, satellite: satellite)
    }
}
