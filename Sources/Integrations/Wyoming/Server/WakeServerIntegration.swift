public import Configuration
public import Core
public import IntegrationInterface
public import System

/// The server as an integration: it detects the service's words in its clients' audio.
extension WyomingServer: Integration {
    /// The keys that concern the server.
    public struct Configured: Equatable, Sendable {
        let listen: [ListenAddress]
        let connections: Int
        let announces: Bool
    }

    public static let key = "wyoming"

    public static func configured(in configuration: Configuration) -> Configured? {
        let wyoming = configuration.wyoming
        guard !wyoming.listen.isEmpty else { return nil }
        return Configured(listen: wyoming.listen, connections: wyoming.connections, announces: wyoming.announce)
    }

    public convenience init(_ configured: Configured, _ service: Service) throws {
        guard let words = WakeWords(service.settings()) else { throw SocketError("no words to detect for its clients") }
        var settings = Settings(listen: configured.listen)
        settings.connections = configured.connections
        settings.announces = configured.announces
        settings.threads = service.share.threads
        settings.priority = service.share.niceness
        try self.init(words, settings, log: service.log)
    }

    public func apply(_ settings: ServiceSettings) {
        if let words = WakeWords(settings) { apply(words) }
    }

    public var status: JSON { counts.json(connections: connections) }

    @discardableResult
    public func stop(isRemoved: Bool, until time: Instant?) -> Bool { stop(until: time) }
}
