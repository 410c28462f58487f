public import Configuration
public import Core
import Events
public import IntegrationInterface
public import JSON
public import Metrics
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
        guard let words = WakeWords(service.settings()) else { throw SocketError("no words to detect for its clients") }
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

    public func apply(_ settings: ServiceSettings) {
        if let words = WakeWords(settings) { apply(words) }
    }

    public var status: JSON { counts.json(connections: connections) }

    public var metrics: [MetricFamily] {
        let counts = counts
        return [
            .gauge("beckon_wyoming_connections", "Clients of the wake-word server.", Double(connections)),
            .counter("beckon_wyoming_accepted_connections", "Connections that were accepted.", counts.accepted),
            .counters(
                "beckon_wyoming_dropped_connections",
                "Connections that the server refused or ended.",
                [
                    ("limit", counts.refused), ("silent", counts.silent), ("slow", counts.slow),
                    ("protocol", counts.violations),
                ].map { ([.init("reason", $0.0)], Double($0.1)) }
            ),
            .counter("beckon_wyoming_hops", "Hops of 100 ms of clients' audio that were scored.", counts.hops),
            .counter("beckon_wyoming_detections", "Words found for clients.", counts.detections),
            .counter(
                "beckon_wyoming_cpu_seconds",
                "Processor time of the threads that serve clients.",
                unit: "seconds",
                counts.busy.seconds
            ),
        ]
    }

    @discardableResult
    public func stop(isRemoved: Bool, until time: Instant?) -> Bool { stop(until: time) }
}
