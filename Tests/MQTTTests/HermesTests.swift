import Core
import Events
import MQTT
import Spotting
import Testing

/// The topics of Rhasspy: what is told, and what stops it.
struct HermesTests {
    @Test func `a word is told to the site, with its model and sensitivity`() {
        let hermes = Hermes(site: "kitchen")
        let messages = hermes.messages(for: .said("hey house", threshold: 0.8), isTaught: true)
        #expect(messages.map(\.topic) == ["hermes/hotword/hey_house/detected"])
        #expect(
            messages.first?.payload == """
                {"modelId": "hey house", "modelVersion": "\(version)", "modelType": "personal", "currentSensitivity": 0.200, \
                "siteId": "kitchen"}
                """
        )
        #expect(messages.allSatisfy { !$0.isRetained })
        let phrase = hermes.messages(for: .said("go left", kind: .phrase), isTaught: false)
        #expect(phrase.first?.payload.contains("currentSensitivity") == false)
        #expect(phrase.first?.payload.contains(#""modelType": "universal""#) == true)
        for kind in [Detection.Kind.nearMiss, .phrasePartial, .sessionStart] {
            #expect(hermes.messages(for: .said(kind: kind), isTaught: false) == [])
        }
    }

    @Test(
        arguments: [
            (
                "one reason, off and on",
                ["- {siteId: kitchen, reason: ttsSay}", "+ {siteId: kitchen, reason: ttsSay}"], "01"
            ),
            (
                "all reasons must end",
                [
                    "- {siteId: kitchen, reason: dialogueSession}", "- {siteId: kitchen, reason: ttsSay}",
                    "+ {siteId: kitchen, reason: ttsSay}", "+ {siteId: kitchen, reason: dialogueSession}",
                ], "0001"
            ),
            (
                "no reason is one too",
                ["- {siteId: kitchen}", "+ {siteId: kitchen, reason: x}", "+ {siteId: kitchen}"], "001"
            ),
            ("another site", ["- {siteId: bath}", "- {}", "- {siteId: 7}"], "111"),
            ("what cannot be read", ["- ", "- [", "- 7", "- {siteId: kitchen", "- \u{0}"], "11111"),
        ] as [(String, [String], String)]
    )
    func `it is toggled by its own site only`(_ rule: String, _ messages: [String], _ expected: String) {
        var hermes = Hermes(site: "kitchen")
        var states = ""
        for message in messages {
            // Written without quotes, for reading.
            let json = message.dropFirst(2).replacing(/[a-zA-Z]+/) { "\"\($0.output)\"" }
            hermes.take(
                topic: message.hasPrefix("-") ? Hermes.toggleOff : Hermes.toggleOn,
                payload: Array(json.utf8)
            )
            states += hermes.isOn ? "1" : "0"
            #expect(hermes.messages(for: .said(), isTaught: false).isEmpty != hermes.isOn)
        }
        #expect(states == expected)
    }

    @Test func `other topics, long and unreadable payloads are not taken, and reasons are bounded`() {
        var hermes = Hermes(site: "default")
        let taken = [
            hermes.take(topic: "hermes/hotword/other", payload: Array("{}".utf8)),
            hermes.take(topic: Hermes.toggleOff, payload: [UInt8](repeating: 0x20, count: 2000)),
            hermes.take(topic: Hermes.toggleOff, payload: [0xff, 0xfe]),
        ]
        #expect(taken == [.other, .unreadable, .unreadable] && hermes.isOn)
        for number in 0..<100 {
            hermes.take(topic: Hermes.toggleOff, payload: Array("{\"reason\": \"\(number)\"}".utf8))
        }
        for number in 0..<16 { hermes.take(topic: Hermes.toggleOn, payload: Array("{\"reason\": \"\(number)\"}".utf8)) }
        #expect(hermes.isOn)
    }
}
