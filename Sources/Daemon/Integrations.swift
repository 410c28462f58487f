import Configuration
import Control
import Core
import Events
import Glibc
import MQTT
import Spotting
import Synchronization
import System

/// What integrations see of the service at one moment.
struct IntegrationState: Sendable {
    struct Word: Sendable {
        let name: String
        /// Nil for a word whose threshold changes with sessions.
        let threshold: Float?

        init(_ name: String, _ threshold: Float?) {
            self.name = name
            self.threshold = threshold
        }
    }

    /// The words that may fire.
    var words: [Word] = []
    var phrases: [String] = []
    /// Nil where there is no microphone.
    var isMuted: Bool?
    /// Whether audio comes in, or would if it were not muted.
    var hasAudio = false
    /// In dB below full scale; nil without audio.
    var level: Double?
}

/// What integrations may ask of the service. Any thread.
struct IntegrationService: Sendable {
    let state: @Sendable () -> IntegrationState
    /// Makes a change, later and through the one door for changes.
    let submit: @Sendable (SettingsChange) -> Void
}

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
    func apply(_ configuration: Configuration, _ service: IntegrationService) {
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
            let publisher = try MQTTPublisher(settings, machine: machineName(), service: .init(service), log: log)
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

    /// The name of this machine in the network.
    private func machineName() -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "beckon" }
        let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return isReadableName(text) && !text.isEmpty ? text : "beckon"
    }
}

extension MQTTPublisher.Service {
    fileprivate init(_ service: IntegrationService) {
        self.init(
            state: {
                let state = service.state()
                return MQTTState(
                    words: state.words.map { MQTTState.Word(name: $0.name, threshold: $0.threshold) },
                    phrases: state.phrases,
                    isMuted: state.isMuted,
                    hasAudio: state.hasAudio,
                    level: state.level
                )
            },
            perform: { command in
                switch command {
                case .mute(let isMuted): service.submit(.mute(isMuted))
                case .threshold(let word, let value):
                    service.submit(.thresholds(ThresholdChange(words: [word: .confidence(value)])))
                }
            }
        )
    }
}
