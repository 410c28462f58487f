import Configuration
import Control
import Core
import Events
import IntegrationInterface
import JSON
import MQTT
import Spotting
import Testing

/// The command that sets a word's threshold.
private func set(_ word: String, _ threshold: Float) -> ControlCommand {
    .set(ThresholdChange(words: [word: .confidence(threshold)]))
}

struct MQTTTopicsTests {
    private static let topics = MQTTTopics(prefix: "home/beckon", MQTTIdentity(name: "living room"))

    private static func state(
        _ words: [(String, Float?)] = [("stop", 0.9)],
        isMuted: Bool? = false,
        hasAudio: Bool = true,
        level: Double? = -30
    ) -> ServiceState {
        ServiceState(
            words: words.map { ServiceState.Word(name: $0.0, threshold: $0.1) },
            phrases: [],
            isMuted: isMuted,
            hasAudio: hasAudio,
            level: level
        )
    }

    @Test(arguments: [
        ("kitchen", "kitchen"), ("living room", "living_room"), ("a_b", "a-5fb"), ("a-b", "a-2db"),
        ("Küche", "K-fcche"),
        ("", ""), ("a/+#", "a-2f-2b-23"), ("👍", "-1f44d"),
    ])
    func `a slug has only letters, digits, hyphens and underscores`(_ name: String, _ slug: String) {
        #expect(MQTTIdentity.slug(name) == slug)
    }

    @Test func `different names have different slugs`() {
        let names = ["a b", "a_b", "a-5fb", "a-b", "a--b", "ab", "A b", "a  b", "a\u{e9}", "a-e9"]
        #expect(Set(names.map(MQTTIdentity.slug)).count == names.count)
    }

    @Test func `a word is told as JSON and by its name, and not kept`() {
        let messages = Self.topics.messages(for: .said("stop"))
        #expect(messages.map(\.topic) == ["home/beckon/living_room/event", "home/beckon/living_room/word"])
        #expect(messages.allSatisfy { !$0.isRetained })
        #expect(
            messages[0].payload.hasPrefix(
                #"{"event_type": "stop", "event": "word", "word": "stop", "confidence": 0.9500"#
            )
        )
        #expect(messages[1].payload == "stop")
    }

    @Test func `a near miss has a topic of its own, with score, threshold and level`() {
        let messages = Self.topics.messages(for: .said("stop", kind: .nearMiss, threshold: 0.97))
        #expect(messages.map(\.topic) == ["home/beckon/living_room/miss"])
        #expect(messages.allSatisfy { !$0.isRetained })
        for part in [
            #"{"event_type": "stop", "event": "near-miss", "word": "stop", "confidence": 0.9500"#,
            #""level": -31.2, "snr": 18.0, "threshold": 0.9700, "mode": "command"}"#,
        ] {
            #expect(messages.first?.payload.contains(part) == true)
        }
    }

    @Test(arguments: [Detection.Kind.phrasePartial, .sessionStart, .sessionEnd, .sessionTimeout])
    func `what is not yet, or not, a word is not told`(_ kind: Detection.Kind) {
        #expect(Self.topics.messages(for: .said(kind: kind)) == [])
    }

    @Test func `a state is told whole at first, and then what has changed`() {
        let base = "home/beckon/living_room/"
        let first = Self.topics.messages(for: Self.state([("stop", 0.9), ("go", nil)]), since: nil)
        #expect(
            first == [
                MQTTMessage(base + "mute", "OFF", isRetained: true),
                MQTTMessage(base + "microphone", "ok", isRetained: true),
                MQTTMessage(base + "level", "-30.0", isRetained: true),
                MQTTMessage(base + "threshold/stop", "0.900", isRetained: true),
            ]
        )
        let muted = Self.topics.messages(for: Self.state(isMuted: true), since: Self.state())
        #expect(muted == [MQTTMessage(base + "mute", "ON", isRetained: true)])
        #expect(Self.topics.messages(for: Self.state(), since: Self.state()) == [])
        let lost = Self.topics.messages(for: Self.state(hasAudio: false, level: nil), since: Self.state())
        #expect(lost == [MQTTMessage(base + "microphone", "problem", isRetained: true)])
        let set = Self.topics.messages(for: Self.state([("stop", 0.5)]), since: Self.state())
        #expect(set == [MQTTMessage(base + "threshold/stop", "0.500", isRetained: true)])
    }

    @Test func `a word that is gone leaves nothing at the broker`() {
        let messages = Self.topics.messages(for: Self.state([]), since: Self.state([("hey house", 0.8)]))
        #expect(messages == [MQTTMessage("home/beckon/living_room/threshold/hey_house", "", isRetained: true)])
    }

    @Test func `without a microphone there is nothing to mute`() {
        let topics = Self.topics.messages(for: Self.state(isMuted: nil), since: nil).map(\.topic)
        #expect(!topics.contains("home/beckon/living_room/mute"))
    }

    @Test(
        arguments: [
            ("mute/set", "ON", .mute), ("mute/set", "OFF", .unmute), ("mute/set", "on", nil),
            ("mute/set", "", nil),
            ("mute", "ON", nil), ("threshold/stop/set", "0.7", set("stop", 0.7)),
            ("threshold/hey_house/set", "0.5", set("hey house", 0.5)), ("threshold/stop/set", "0", nil),
            ("threshold/stop/set", "1", nil), ("threshold/stop/set", "1e-60", nil), ("threshold/stop/set", "+0.5", nil),
            ("threshold/stop/set", "0x1p-1", nil), ("threshold/stop/set", "inf", nil),
            ("threshold/stop/set", "nan", nil),
            ("threshold/stop/set", "0,7", nil), ("threshold/other/set", "0.7", nil), ("threshold//set", "0.7", nil),
            ("threshold/stop", "0.7", nil), ("set", "ON", nil),
            ("threshold/stop/set", String(repeating: "0", count: 65), nil),
        ] as [(String, String, ControlCommand?)]
    )
    func `commands are read exactly`(_ topic: String, _ payload: String, _ command: ControlCommand?) {
        let words = [
            ServiceState.Word(name: "stop", threshold: 0.9), ServiceState.Word(name: "hey house", threshold: 0.9),
        ]
        do throws(MQTTError) {
            let read = try Self.topics.command(
                topic: "home/beckon/living_room/" + topic,
                payload: Array(payload.utf8),
                words: words
            )
            #expect(read == command)
        } catch {
            // What is accepted is said.
            #expect(command == nil && error.description.count > 10)
        }
    }

    @Test func `a command in no text is none`() {
        #expect(throws: MQTTError.self) {
            try Self.topics.command(topic: Self.topics.mute + "/set", payload: [0xff, 0xfe], words: [])
        }
        #expect(throws: MQTTError.self) {
            try Self.topics.command(topic: "other/mute/set", payload: Array("ON".utf8), words: [])
        }
    }
}
