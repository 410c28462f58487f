public import Configuration
public import Core
public import IntegrationInterface
import System

/// The server as an integration.
extension WebServer: Integration {
    public static let key = "web"

    public static func configured(in configuration: Configuration) -> Configuration.Web? {
        configuration.web.listen.isEmpty ? nil : configuration.web
    }

    public convenience init(_ configured: Configuration.Web, _ service: Service) throws {
        var settings = Settings(listen: configured.listen)
        settings.hosts = configured.hosts
        settings.proxies = configured.proxies
        settings.stateFolder = StateFolder.path()
        try self.init(settings, service)
    }

    @discardableResult
    public func stop(isRemoved: Bool, until time: Instant?) -> Bool { stop(until: time) }
}
