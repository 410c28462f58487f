import Configuration
import Core
import Foundation
import IntegrationInterface
import MQTT
import Testing

struct DiscoveryTests {
    private static let identity = MQTTIdentity(name: "living room")
    private static let discovery = Discovery(
        prefix: "homeassistant",
        identity,
        MQTTTopics(prefix: "beckon", identity)
    )

    private static func state(_ words: [(String, Float?)], phrases: [String] = []) -> ServiceState {
        ServiceState(
            words: words.map { ServiceState.Word(name: $0.0, threshold: $0.1) },
            phrases: phrases,
            isMuted: false,
            hasAudio: true,
            level: nil
        )
    }

    /// The components of a discovery message, by key.
    private static func components(_ message: MQTTMessage) throws -> [String: [String: Any]] {
        let object = try JSONSerialization.jsonObject(with: Data(message.payload.utf8)) as? [String: Any]
        return try #require(object?["components"] as? [String: [String: Any]])
    }

    @Test func `one kept message describes all entities`() throws {
        let messages = Self.discovery.messages(
            for: Self.state([("stop", 0.9), ("hey house", 0.8)], phrases: ["stop it"]),
            since: nil
        )
        #expect(messages.map(\.topic) == ["homeassistant/device/beckon_living_room/config"])
        #expect(messages.allSatisfy { $0.isRetained })
        let components = try Self.components(try #require(messages.first))
        #expect(
            components.keys.sorted() == [
                "level", "microphone", "mute", "threshold_hey_house", "threshold_stop", "trigger_hey_house",
                "trigger_stop",
                "trigger_stop_it", "word",
            ]
        )
        #expect(components["word"]?["event_types"] as? [String] == ["stop", "hey house", "stop it"])
        let identifiers = components.values.compactMap { $0["unique_id"] as? String }
        #expect(Set(identifiers).count == 6)
        #expect(identifiers.allSatisfy { $0.hasPrefix("beckon_living_room_") })
        // What people choose in an automation: "stop said".
        #expect(components["trigger_stop"]?["subtype"] as? String == "stop")
        #expect(components["trigger_stop"]?["payload"] as? String == "stop")
        #expect(components["trigger_stop"]?["unique_id"] == nil)
        #expect(components["threshold_stop"]?["command_topic"] as? String == "beckon/living_room/threshold/stop/set")
    }

    @Test func `near misses are an entity only where they are kept`() throws {
        var state = Self.state([("stop", 0.9)])
        let plain = state
        state.keepsMisses = true
        let messages = Self.discovery.messages(for: state, since: plain)
        let components = try Self.components(try #require(messages.last))
        #expect(components["miss"]?["platform"] as? String == "event")
        #expect(components["miss"]?["entity_category"] as? String == "diagnostic")
        #expect(components["miss"]?["event_types"] as? [String] == ["stop"])
        #expect(components["miss"]?["state_topic"] as? String == "beckon/living_room/miss")
        // Gone again: first its platform alone.
        let removal = Self.discovery.messages(for: plain, since: state)
        #expect(removal.count == 2)
        #expect(try Self.components(removal[0])["miss"]?.keys.sorted() == ["platform"])
        #expect(try Self.components(removal[1])["miss"] == nil)
    }

    @Test
    func `for an earlier Home Assistant each component has a message, and a word that is gone takes its own away`()
        throws
    {
        let discovery = Discovery(
            prefix: "homeassistant",
            Self.identity,
            MQTTTopics(prefix: "beckon", Self.identity),
            form: .components
        )
        let state = Self.state([("stop", 0.9), ("hey house", 0.8)])
        let messages = discovery.messages(for: state, since: nil)
        let base = "homeassistant/"
        let id = "/beckon_living_room/"
        #expect(
            messages.map(\.topic)
                == [
                    "event\(id)word", "switch\(id)mute", "binary_sensor\(id)microphone", "sensor\(id)level",
                    "number\(id)threshold_stop", "number\(id)threshold_hey_house", "device_automation\(id)trigger_stop",
                    "device_automation\(id)trigger_hey_house",
                ].map { base + $0 + "/config" }
        )
        #expect(messages.allSatisfy { $0.isRetained })
        for message in messages {
            let object = try JSONSerialization.jsonObject(with: Data(message.payload.utf8)) as? [String: Any]
            let device = object?["device"] as? [String: Any]
            #expect(device?["identifiers"] as? [String] == ["beckon_living_room"])
            #expect(object?["components"] == nil && object?["platform"] == nil)
            #expect((object?["unique_id"] == nil) == message.topic.contains("device_automation"))
        }
        let fewer = Self.state([("stop", 0.9)])
        let changed = discovery.messages(for: fewer, since: state)
        #expect(
            changed.prefix(2) == [
                MQTTMessage("homeassistant/number\(id)threshold_hey_house/config", "", isRetained: true),
                MQTTMessage("homeassistant/device_automation\(id)trigger_hey_house/config", "", isRetained: true),
            ]
        )
        #expect(discovery.messages(for: fewer, since: fewer) == [])
        let removal = discovery.removal(since: fewer)
        #expect(removal.count == 6 && removal.allSatisfy { $0.payload == "" && $0.isRetained })
        #expect(discovery.removal(since: nil) == [])
    }

    @Test func `other thresholds and levels need no new discovery`() {
        let state = Self.state([("stop", 0.9)])
        #expect(Self.discovery.messages(for: Self.state([("stop", 0.5)]), since: state) == [])
    }

    @Test func `a new word is discovered with one message`() throws {
        let messages = Self.discovery.messages(
            for: Self.state([("stop", 0.9), ("go", 0.9)]),
            since: Self.state([("stop", 0.9)])
        )
        #expect(messages.count == 1)
        #expect(try Self.components(messages[0])["threshold_go"] != nil)
    }

    @Test func `a word that is gone is sent with its platform alone, then left out`() throws {
        let messages = Self.discovery.messages(
            for: Self.state([("stop", 0.9)]),
            since: Self.state([("stop", 0.9), ("go", 0.9)])
        )
        #expect(messages.count == 2)
        let (first, second) = (try Self.components(messages[0]), try Self.components(messages[1]))
        #expect(first["threshold_go"]?.keys.sorted() == ["platform"])
        #expect(first["trigger_go"]?["platform"] as? String == "device_automation")
        #expect(second["threshold_go"] == nil)
        #expect(second["word"]?["event_types"] as? [String] == ["stop"])
    }

    @Test func `a file has no switch to mute it`() throws {
        var state = Self.state([("stop", 0.9)])
        state.isMuted = nil
        let messages = Self.discovery.messages(for: state, since: nil)
        #expect(try Self.components(try #require(messages.first))["mute"] == nil)
    }

    @Test func `removal empties what is kept`() {
        #expect(
            Self.discovery.removal(since: nil)
                == [MQTTMessage("homeassistant/device/beckon_living_room/config", "", isRetained: true)]
        )
    }
}
