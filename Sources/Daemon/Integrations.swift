import Configuration
import Control
import Core
import Events
import MQTT
import Spotting
import Synchronization
import System

/// The integrations that the configuration names: starts, stops and replaces them, and hands events to them.
final class Integrations: EventSink {
    private struct State {
        var settings = Configuration.MQTT()
        var mqtt: MQTTPublisher?
        var isStopped = false
    }

    /// The time that a replaced integration has to say goodbye.
    private static let farewell = Duration.milliseconds(500)

    private let log: ServiceLog
    private let state = Mutex(State())

    init(_ log: ServiceLog) { self.log = log }

    func receive(_ event: DetectionEvent) { state.withLock { $0.mqtt }?.receive(event) }

    /// Uses the settings of another configuration. Called on the thread of changes, or before the service runs.
    func apply(_ configuration: Configuration, _ service: MQTTPublisher.Service) {
        let old = state.withLock { state -> MQTTPublisher?? in
            guard state.settings != configuration.mqtt, !state.isStopped else { return nil }
            state.settings = configuration.mqtt
            return .some(state.mqtt.take())
        }
        guard let old else { return }
        // Other topics, or none: nothing of the old ones shall stay at the broker.
        old?.stop(isRemoved: true, until: Clock.now + Self.farewell)
        let settings = configuration.mqtt
        guard settings.host != nil else { return }
        do throws(SystemError) {
            let machine = machineName().flatMap { isReadableName($0) ? $0 : nil } ?? "beckon"
            let publisher = try MQTTPublisher(settings, machine: machine, service: service, log: log)
            state.withLock { $0.mqtt = publisher }
        } catch {
            log.write(.error, "no MQTT: \(error)")
        }
    }

    /// Adds the integrations' counts to an object.
    func describe(in status: inout JSON) {
        guard let counts = state.withLock({ $0.mqtt })?.counts else { return }
        status.append([
            "mqtt": [
                "connected": .bool(counts.isConnected), "connects": .number(counts.connects),
                "events": .number(counts.events), "dropped": .number(counts.dropped),
                "commands": .number(counts.commands),
            ]
        ])
    }

    /// Ends all integrations. Returns whether they have ended in time.
    func stop(until time: Instant) -> Bool {
        let mqtt = state.withLock { state in
            state.isStopped = true
            return state.mqtt.take()
        }
        return mqtt?.stop(until: time) ?? true
    }
}

extension SettingsChange {
    /// The change that a message from a broker asks for.
    init(_ command: MQTTCommand) {
        switch command {
        case .mute(let isMuted): self = .mute(isMuted)
        case .threshold(let word, let value): self = .thresholds(ThresholdChange(words: [word: .confidence(value)]))
        }
    }
}
