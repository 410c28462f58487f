public import Configuration
public import Core
import Events
public import IntegrationInterface
import Network
import System

/// The server as an integration: it detects the service's words in its clients' audio.
extension WyomingServer: Integration {
    /// The keys that concern the server.
    public struct Configured: Equatable, Sendable {
        let listen: [ListenAddress]
        let connections: Int
        let announces: Bool
    }

    public static let key = "wyoming"

    /// Files that the rest of the service may open at a time: devices, sockets, programs, clips, the web's connections.
    private static let otherFiles = 192

    public static func configured(in configuration: Configuration) -> Configured? {
        let wyoming = configuration.wyoming
        guard !wyoming.listen.isEmpty else { return nil }
        return Configured(listen: wyoming.listen, connections: wyoming.connections, announces: wyoming.announce)
    }

    public convenience init(_ configured: Configured, _ service: Service) throws {
        guard let words = service.settings().streamDetector.map(WakeWords.init) else {
            throw SocketError("no words to detect for its clients")
        }
        var settings = Settings(listen: configured.listen)
        settings.connections = configured.connections
        if let limit = FileLimit.raise(to: configured.connections + Self.otherFiles) {
            settings.connections = max(1, limit - Self.otherFiles)
            service.log.write(
                .warning,
                "the limit on open files is \(limit), so there are at most \(settings.connections) connections, not "
                    + "\(configured.connections); see LimitNOFILE="
            )
        }
        settings.announces = configured.announces
        settings.threads = service.share.threads
        settings.priority = service.share.niceness
        try self.init(words, settings, log: service.log)
    }

    public func update(_ settings: ServiceSettings) {
        if let detector = settings.streamDetector { update(WakeWords(detector)) }
    }

    @discardableResult
    public func stop(isRemoved: Bool, until time: Instant?) -> Bool { stop(until: time) }
}
