public import Configuration
public import Control
public import Core
public import Events
public import Metrics

/// A part of the service that other programs connect to, or that connects to them: a wake-word server, a broker's client.
///
/// It is a room of its own, and off unless its part of the configuration turns it on. The service starts it, hands it events and
/// changed settings, and stops it; it knows nothing else of the service than ``Service``. What it waits for (a network, a client)
/// it waits for on threads of its own.
///
/// When its part of the configuration changes, the service stops it and starts another one; there is no need to apply changes of
/// it to a running integration.
public protocol Integration: AnyObject, EventSink {
    /// Its part of the configuration.
    associatedtype Configured: Equatable & Sendable
    associatedtype Counts: Counted

    /// The name of its part in the configuration, and of its members in the status.
    static var key: String { get }

    /// Its part of a configuration; nil where that turns it off.
    static func configured(in configuration: Configuration) -> Configured?

    /// Starts it, without waiting for a network.
    ///
    /// - Throws: why it cannot start; when the service starts, this ends it.
    init(_ configured: Configured, _ service: any Service) throws

    /// Tells of other words, thresholds or phrases; called on the thread of changes. An integration that looks at
    /// ``Service/state`` all the time needs nothing here.
    func update(_ settings: ServiceSettings)

    /// Tries again what does not run; called for each reload, on the thread of changes.
    func retry()

    /// Takes what a button says, if it has a voice assistant; never waits. Any thread.
    ///
    /// - Parameter later: is told once what became of it, on any thread.
    /// - Returns: whether it takes it.
    func talk(_ step: TalkStep, _ later: @escaping @Sendable (ControlReply) -> Void) -> Bool

    /// Its counts, for the service's status and for metrics. Any thread.
    var counts: Counts { get }

    /// Tells that the configuration has turned it off or changed it: nothing of it may stay elsewhere, such as at a broker, after
    /// ``stop(until:)``.
    func remove()

    /// Ends its threads. It may be called twice: first to ask, then to wait longer.
    ///
    /// - Parameter time: when to give up, on the monotonic clock; nil: never.
    /// - Returns: whether all its threads have ended.
    @discardableResult
    func stop(until time: Instant?) -> Bool
}

extension Integration {
    /// Ignores events: many integrations do not need them.
    public func receive(_ event: DetectionEvent) {}
    public func update(_ settings: ServiceSettings) {}
    public func retry() {}
    public func talk(_ step: TalkStep, _ later: @escaping @Sendable (ControlReply) -> Void) -> Bool { false }
    public func remove() {}
}
