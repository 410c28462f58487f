public import Configuration
import Core
public import IntegrationInterface
import JSON

/// Home Assistant's discovery of a device: one kept message that describes all its entities, or one for each.
///
/// Source: Home Assistant's documentation of MQTT, "Discovery messages and availability": device discovery (since 2024.11) and
/// single component discovery.
public struct Discovery: Equatable, Sendable {
    private let prefix: String
    private let identity: MQTTIdentity
    private let topics: MQTTTopics
    private let form: Configuration.DiscoveryForm

    /// - Parameter prefix: the first level of discovery topics, usually `homeassistant`.
    public init(
        prefix: String,
        _ identity: MQTTIdentity,
        _ topics: MQTTTopics,
        form: Configuration.DiscoveryForm = .device
    ) {
        self.form = form
        self.prefix = prefix
        self.identity = identity
        self.topics = topics
    }

    /// Where Home Assistant says `online` when it starts.
    public var birth: String { prefix + "/status" }

    private var id: String { "beckon_" + identity.slug }
    private var topic: String { "\(prefix)/device/\(id)/config" }

    /// The messages that make Home Assistant know the device as it is now: nothing if nothing has changed.
    ///
    /// A component that is gone is sent with its platform alone first, which removes its entity, then left out.
    public func messages(for state: ServiceState, since earlier: ServiceState?) -> [MQTTMessage] {
        guard let earlier else { return messages(components(state), gone: []) }
        // Asked each second: what the components depend on is far less than the components.
        guard !Self.haveSameComponents(state, earlier) else { return [] }
        let (new, old) = (components(state), components(earlier))
        let gone = old.filter { component in !new.contains { $0.key == component.key } }
        return messages(new, gone: gone)
    }

    private func messages(_ components: [Component], gone: [Component]) -> [MQTTMessage] {
        switch form {
        case .device:
            // Components that are gone are sent with their platforms alone first.
            let removals = gone.map { Component(key: $0.key, platform: $0.platform, rest: []) }
            return (gone.isEmpty ? [] : [message(components + removals)]) + [message(components)]
        case .components:
            return gone.map { MQTTMessage(topic(of: $0), "", isRetained: true) } + components.map(message)
        }
    }

    private static func haveSameComponents(_ state: ServiceState, _ other: ServiceState) -> Bool {
        state.phrases == other.phrases && (state.isMuted == nil) == (other.isMuted == nil)
            && state.words.count == other.words.count
            && state.keepsMisses == other.keepsMisses
            && zip(state.words, other.words).allSatisfy { word, other in
                word.name == other.name && (word.threshold == nil) == (other.threshold == nil)
            }
    }

    /// The messages that remove the device.
    ///
    /// - Parameter state: the last one that was told; nil for none.
    public func removal(since state: ServiceState?) -> [MQTTMessage] {
        switch form {
        case .device: [MQTTMessage(topic, "", isRetained: true)]
        case .components:
            state.map { components($0) }?.map { MQTTMessage(topic(of: $0), "", isRetained: true) } ?? []
        }
    }

    private struct Component {
        let key: String
        let platform: String
        let rest: [JSON.Member]
    }

    private func message(_ components: [Component]) -> MQTTMessage {
        let members = components.map { component in
            JSON.Member(component.key, .object([JSON.Member("platform", .string(component.platform))] + component.rest))
        }
        let config = JSON.object(common + [JSON.Member("components", .object(members))])
        return MQTTMessage(topic, config.description, isRetained: true)
    }

    /// The message of one component alone.
    private func message(_ component: Component) -> MQTTMessage {
        MQTTMessage(topic(of: component), JSON.object(common + component.rest).description, isRetained: true)
    }

    private func topic(of component: Component) -> String {
        "\(prefix)/\(component.platform)/\(id)/\(component.key)/config"
    }

    /// What every message has.
    private var common: [JSON.Member] {
        [
            JSON.Member(
                "device",
                [
                    "identifiers": [.string(id)], "name": .string(identity.name), "manufacturer": "Beckon",
                    "model": "Beckon keyword spotter", "sw_version": .string(version),
                ]
            ),
            JSON.Member("origin", ["name": "beckon", "sw_version": .string(version)]),
            JSON.Member("availability", [["topic": .string(topics.availability)]]),
            JSON.Member("qos", .number(1)),
        ]
    }

    private func components(_ state: ServiceState) -> [Component] {
        let said = state.words.map(\.name) + state.phrases
        var all: [Component] = []
        func add(_ key: String, _ platform: String, _ name: String, _ rest: KeyValuePairs<String, JSON>) {
            let common = [
                JSON.Member("name", .string(name)), JSON.Member("unique_id", .string("\(id)_\(key)")),
            ]
            all.append(
                Component(key: key, platform: platform, rest: common + rest.map { JSON.Member($0.key, $0.value) })
            )
        }
        add(
            "word",
            "event",
            "Word",
            [
                "state_topic": .string(topics.event), "event_types": .strings(said), "icon": "mdi:account-voice",
            ]
        )
        if state.keepsMisses {
            add(
                "miss",
                "event",
                "Near miss",
                [
                    "state_topic": .string(topics.miss), "event_types": .strings(state.words.map(\.name)),
                    "icon": "mdi:account-question", "entity_category": "diagnostic",
                ]
            )
        }
        if state.isMuted != nil {
            add(
                "mute",
                "switch",
                "Mute",
                [
                    "state_topic": .string(topics.mute), "command_topic": .string(topics.mute + "/set"),
                    "icon": "mdi:microphone-off",
                ]
            )
        }
        add(
            "microphone",
            "binary_sensor",
            "Microphone",
            [
                "state_topic": .string(topics.microphone), "device_class": "problem", "payload_on": "problem",
                "payload_off": "ok", "entity_category": "diagnostic",
            ]
        )
        add(
            "level",
            "sensor",
            "Level",
            [
                "state_topic": .string(topics.level), "device_class": "sound_pressure", "unit_of_measurement": "dB",
                "state_class": "measurement", "entity_category": "diagnostic", "expire_after": 120,
            ]
        )
        for word in state.words where word.threshold != nil {
            let topic = topics.threshold(word.name)
            add(
                "threshold_" + MQTTIdentity.slug(word.name),
                "number",
                "Threshold \(word.name)",
                [
                    "state_topic": .string(topic), "command_topic": .string(topic + "/set"), "min": .encoded("0.001"),
                    "max": .encoded("0.999"), "step": .encoded("0.001"), "mode": "slider", "entity_category": "config",
                ]
            )
        }
        for name in said {
            // A trigger has no unique_id: its topic and payload tell it apart.
            let rest: [JSON.Member] = [
                JSON.Member("automation_type", "trigger"), JSON.Member("topic", .string(topics.word)),
                JSON.Member("payload", .string(name)), JSON.Member("type", "said"),
                JSON.Member("subtype", .string(name)),
            ]
            all.append(Component(key: "trigger_" + MQTTIdentity.slug(name), platform: "device_automation", rest: rest))
        }
        return all
    }
}
