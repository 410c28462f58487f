import Configuration
import Control
import Core
import ESPHome
import Events
import IntegrationInterface
import JSON
import MQTT
import Metrics
import Synchronization
import System
import Web
import Wyoming

/// All integrations of a service: starts those that the configuration turns on, hands them events and changed settings, and stops
/// them.
final class Integrations: EventSink {
    /// The kinds of a service with a detector, and of a wake-word server alone. A new kind is added here.
    static let besideDetector: [any Integration.Type] = [
        WyomingServer.self, WyomingSatellite.self, ESPHomeSatellite.self, MQTTPublisher.self, WebServer.self,
        MetricsFile.self,
    ]
    static let alone: [any Integration.Type] = [WyomingServer.self, WebServer.self]

    private let slots: [IntegrationSlot]

    init(_ kinds: [any Integration.Type]) { slots = kinds.map(IntegrationSlot.init) }

    func receive(_ event: DetectionEvent) {
        for slot in slots { slot.running?.receive(event) }
    }

    func withheld(_ event: DetectionEvent, _ reason: WithheldReason) {
        for slot in slots { slot.running?.withheld(event, reason) }
    }

    /// Starts, stops and replaces integrations so that they are those of the settings in force, and hands these to them. Called before
    /// the service runs, then on the thread of changes.
    ///
    /// - Parameter haveChanged: whether the settings are others than before; if not, only what could not be started is tried again.
    /// - Returns: why some could not be started, one line for each.
    func update(_ settings: ServiceSettings, _ service: any Service, haveChanged: Bool = true) -> [String] {
        slots.compactMap { slot in
            do {
                try slot.update(slot.kind, settings, service, haveChanged: haveChanged)
                return nil
            } catch {
                return "\(slot.kind.key): \(error)"
            }
        }
    }

    /// Whether a configuration turns any of these kinds on.
    static func areConfigured(_ kinds: [any Integration.Type], in configuration: Configuration) -> Bool {
        kinds.contains { $0.configured(in: configuration) != nil }
    }

    /// The integration of a kind; nil if it is off.
    func running<Kind: Integration>(_ kind: Kind.Type) -> Kind? {
        // Each slot is asked once: a lazy sequence asks twice, and a reload on another thread may end the integration in between.
        for slot in slots {
            if let running = slot.running as? Kind { return running }
        }
        return nil
    }

    /// Gives what a button says to the integration with a voice assistant. Returns the reply; nil if it comes later.
    func talk(_ step: TalkStep, _ later: @escaping @Sendable (ControlReply) -> Void) -> ControlReply? {
        for slot in slots where slot.running?.talk(step, later) == true { return nil }
        return .failed("there is no voice assistant; the key esphome of the configuration makes one")
    }

    /// The status of each, under its key.
    var status: [JSON.Member] {
        slots.compactMap { slot in slot.running.map { JSON.Member(slot.kind.key, $0.counts.json) } }
    }

    var metrics: [MetricFamily] { slots.flatMap { $0.running?.counts.metrics ?? [] } }

    /// Ends all. Returns whether they have ended in time.
    func stop(until time: Instant) -> Bool {
        let stopped = slots.compactMap { $0.close() }
        // All are asked first, so that they end at the same time.
        for integration in stopped { integration.stop(until: Clock.now) }
        return stopped.map { $0.stop(until: time) }.allSatisfy { $0 }
    }
}

/// The place of one kind of integration.
private final class IntegrationSlot: Sendable {
    private struct State {
        /// What the integration was started with; nil if it is off, or could not be started.
        var configured: (any Equatable & Sendable)?
        var running: (any Integration)?
        var isClosed = false
    }

    let kind: any Integration.Type
    /// The time that a replaced integration has to end.
    private let closeTimeout = Duration.milliseconds(500)
    private let state = Mutex(State())

    init(_ kind: any Integration.Type) { self.kind = kind }

    var running: (any Integration)? { state.withLock { $0.running } }

    /// - Parameter kind: that of this place, as a type.
    func update<Kind: Integration>(
        _ kind: Kind.Type,
        _ settings: ServiceSettings,
        _ service: any Service,
        haveChanged: Bool
    ) throws {
        let configured = Kind.configured(in: settings.configuration)
        let (old, isSame) = state.withLock { state in
            guard state.configured as? Kind.Configured != configured, !state.isClosed else {
                return (state.running, true)
            }
            state.configured = nil
            return (state.running.take(), false)
        }
        if isSame {
            if haveChanged { old?.update(settings) }
            old?.retry()
            return
        }
        // First, because the new one may need the same port or name.
        old?.remove()
        old?.stop(until: Clock.now + closeTimeout)
        guard let configured else { return }
        let new = try Kind(configured, service)
        let isTaken = state.withLock { state in
            guard !state.isClosed else { return false }
            (state.configured, state.running) = (configured, new)
            return true
        }
        if !isTaken { new.stop(until: Clock.now) }
    }

    /// Starts nothing from now on. Returns what runs.
    func close() -> (any Integration)? {
        state.withLock { state in
            state.isClosed = true
            return state.running.take()
        }
    }
}
