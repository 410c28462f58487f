import JSON
import Testing

@testable import DeviceGroup

struct GroupMessageTests {
    private static let bid = Bid(signalToNoise: 12.34, level: -30.06, confidence: 0.912345, device: "Küche 2")

    @Test(arguments: GroupMessage.Kind.allCases, [nil, 12.34])
    func `a message is read as it was written`(kind: GroupMessage.Kind, ratio: Double?) {
        let bid = Bid(signalToNoise: ratio, level: ratio.map { -$0 }, confidence: 0.912345, device: "Küche 2")
        let message = GroupMessage(kind, group: "down \"stairs\"", word: "go left", bid: bid)
        #expect(GroupMessage(bytes: Array("\(message.json)".utf8)) == message)
    }

    @Test func `it has short numbers and no time`() {
        let message = GroupMessage(.claim, group: "home", word: "left", bid: Self.bid)
        #expect(
            "\(message.json)"
                == #"{"group": "home", "device": "Küche 2", "claim": "left", "confidence": 0.9123, "snr": 12.3, "#
                + #""level": -30.1}"#
        )
    }

    @Test(arguments: [
        "", "{}", "[]", "left", #"{"group": "a", "device": "b", "confidence": 0.5}"#,
        #"{"group": "a", "device": "", "claim": "left", "confidence": 0.5}"#,
        #"{"group": "a", "device": "b", "claim": "", "confidence": 0.5}"#,
        #"{"group": "a", "device": "b", "claim": "left", "confidence": 1.5}"#,
        #"{"group": "a", "device": "b", "claim": "left", "confidence": "1"}"#,
        #"{"group": "a", "device": "b", "claim": "left", "confidence": 0.5, "snr": 1e300}"#,
        #"{"group": "a", "device": "b", "claim": "left", "confidence": 0.5, "level": null}"#,
        #"{"group": "a", "device": "b", "claim": 1, "confidence": 0.5}"#,
        #"{"group": "a", "device": "b", "claim": "left", "confidence": 0.5, "x": ""#
            + String(repeating: "x", count: 2048)
            + #""}"#,
    ])
    func `what is not one is refused`(text: String) {
        #expect(GroupMessage(bytes: Array(text.utf8)) == nil)
    }
}
