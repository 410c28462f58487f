import Configuration
import Control
import Core
import DeviceGroup
import IntegrationInterface
import MQTT
import Spotting

/// A message from an MQTT broker: topic, newline, payload. A command is about a known word, and its threshold lies between
/// 0 and 1.
func fuzzMQTT(_ bytes: [UInt8]) {
    var hermes = Hermes(site: "kitchen")
    for topic in [Hermes.toggleOff, Hermes.toggleOn] {
        let isOn = hermes.isOn
        let isTaken = hermes.take(topic: topic, payload: bytes) == .done
        check(isTaken || hermes.isOn == isOn, "a message that was not taken has an effect")
    }
    check(hermes.isOn, "what was toggled off by a reason is not on again by the same")
    let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
    let topic = String(decoding: bytes[..<end], as: UTF8.self)
    let payload = Array(bytes[end...].dropFirst())
    // The topic as the name of a word too: a slug must name one topic level, whatever the name.
    let words = ["stop", "hey house", topic].map { ServiceState.Word(name: $0, threshold: 0.5) }
    let topics = MQTTTopics(prefix: "beckon", MQTTIdentity(name: "kitchen"))
    for word in words {
        let slug = MQTTIdentity.slug(word.name)
        check(
            slug.utf8.allSatisfy { byte in "-_".utf8.contains(byte) || isWordByte(byte) },
            "a slug of other characters"
        )
    }
    for topic in [topic, "beckon/kitchen/" + topic, topics.threshold(topic) + "/set"] {
        switch try? topics.command(topic: topic, payload: payload, words: words) {
        case .change(.thresholds(let change))?:
            for (word, choice) in change.words {
                guard case .confidence(let value) = choice else {
                    check(false, "no number for \(word)")
                    continue
                }
                check(words.contains { $0.name == word } && value > 0 && value < 1, "threshold \(value) of \(word)")
            }
        case .mute?, .unmute?: check(topic == topics.mute + "/set", "mute by another topic")
        case nil: break
        default: check(false, "a command that no broker may give")
        }
    }
}

/// A message of another device of a group: what is read is written and read again as the same, and the arbiter decides every word
/// within two windows, whatever it gets.
func fuzzGroup(_ bytes: [UInt8]) {
    var arbiter = Arbiter(group: "home", window: .milliseconds(300))
    var now = Instant(nanoseconds: 1_000_000_000)
    for (number, line) in bytes.split(separator: 10, omittingEmptySubsequences: false).prefix(500).enumerated() {
        guard let message = GroupMessage(bytes: Array(line)) else { continue }
        check(GroupMessage(bytes: Array("\(message.json)".utf8)) == message, "a message changes when it is written")
        let own = Bid(signalToNoise: Double(number % 40), level: nil, confidence: 0.5, device: "own")
        _ = arbiter.begin(UInt64(number), word: message.word, bid: own, at: now)
        check(!(arbiter.deadline.map { now + .milliseconds(300) < $0 } ?? false), "a contest is longer than the window")
        _ = arbiter.receive(message, at: now)
        now = now + .milliseconds(number % 7 * 20)
        _ = arbiter.advance(to: now)
    }
    // The window, and another one where a device with a higher claim is silent; then who acts says so once more.
    let last = now + .milliseconds(2 * 300 + 75)
    while let deadline = arbiter.deadline, deadline <= last {
        now = max(now, deadline)
        _ = arbiter.advance(to: now)
    }
    check(arbiter.deadline == nil, "a contest is open after two windows")
}

/// A connection to a broker, its bytes cut at places that the first of them choose: what passes holds only whole short packets of QoS
/// 0, one after the other, and perhaps the beginning of another one.
func fuzzBroker(_ bytes: [UInt8]) {
    var gate = PacketGate()
    var passed: [UInt8] = []
    var left = bytes.dropFirst(8)
    var number = 0
    reading: while !left.isEmpty {
        let size = Int(bytes[number % 8]) % 64 * (number % 3 == 0 ? 1 : 400) + 1
        number += 1
        var part = left.prefix(size)
        left = left.dropFirst(size)
        while !part.isEmpty {
            switch try? gate.take(part) {
            case .pass:
                passed += part
                part = []
            case .drop(let count)?:
                check((1...part.count).contains(count), "bytes that are not there are dropped")
                part = part.dropFirst(count)
            case nil: break reading
            }
        }
    }
    var rest = passed[...]
    while let first = rest.first {
        var (length, factor) = (0, 1)
        guard let end = rest.dropFirst().prefix(4).firstIndex(where: { $0 < 0x80 }) else { break }
        check(first >> 4 != 3 || first & 6 == 0, "a message of another quality passes")
        for byte in rest[(rest.startIndex + 1)...end] {
            length += Int(byte & 0x7F) * factor
            factor *= 128
        }
        check(length <= PacketGate.longest, "a packet of \(length) bytes passes")
        rest = rest[(end + 1)...].dropFirst(length)
    }
}

private func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
    default: false
    }
}
