import Configuration
import Core
import DeviceGroup
import Events
import Foundation
import IntegrationInterface
import Synchronization
import System
import Testing

@testable import MQTT
@testable import Spotting

/// Devices that share a group at a real broker.
@Suite(.serialized)
struct MQTTGroupTests {
    /// What became of a device's words; it also tells the publisher, as the daemon does.
    private final class Record: EventSink {
        private struct Contents {
            var lines: [(text: String, time: Instant)] = []
            var publisher: MQTTPublisher?
        }

        private let contents = Mutex(Contents())

        var lines: [String] { contents.withLock { $0.lines.map(\.text) } }
        var lastTime: Instant? { contents.withLock { $0.lines.last?.time } }

        func use(_ publisher: MQTTPublisher?) { contents.withLock { $0.publisher = publisher } }

        func receive(_ event: DetectionEvent) { note("acts") }

        func withheld(_ event: DetectionEvent, _ reason: WithheldReason) {
            guard case .yielded(let device) = reason else { return }
            note("yields to \(device)")
            contents.withLock { $0.publisher }?.withheld(event, reason)
        }

        private func note(_ text: String) { contents.withLock { $0.lines.append((text, Clock.now)) } }
    }

    /// One device of the group: what the daemon makes of dispatcher, group and integrations, without a detector.
    private struct Device {
        private let record = Record()
        private let group: GroupSink
        let publisher: MQTTPublisher

        var lines: [String] { record.lines }
        var lastTime: Instant? { record.lastTime }
        /// Other devices that it reaches.
        var others: Int { publisher.thread.withLock { $0.group.others } }

        init(_ name: String, port: Int) throws {
            group = try GroupSink(folder: nil, log: ServiceLog { _, _ in }, sinks: [record])
            var settings = Configuration.Group()
            (settings.name, settings.window) = ("down stairs", 1)
            group.update(settings, device: name)
            var broker = Configuration.MQTT()
            (broker.host, broker.port) = ("127.0.0.1", port)
            let service = FakeService(instance: Instance(name), group: group)
            publisher = try MQTTPublisher(broker, service.interface, state: nil)
            record.use(publisher)
        }

        /// Hears "left".
        func hear(_ number: UInt64, ratio: Double) {
            group.receive(
                DetectionEvent(
                    Detection(kind: .word, index: 0, confidence: 0.9, start: 1, end: 1.4, time: 1.5),
                    sequence: number,
                    name: "left",
                    date: .now,
                    device: "hw:0",
                    sound: WordLevel(level: -30, signalToNoise: ratio)
                )
            )
        }

        func stop() {
            #expect(publisher.stop(until: Clock.now + .seconds(5)))
            #expect(group.stop(until: Clock.now + .seconds(5)))
            record.use(nil)
        }
    }

    @Test func `the nearest of three devices acts, one alone at once, and all without a broker`() throws {
        guard let broker = try Broker() else { return }
        let devices = try ["attic", "hall", "kitchen"].map { try Device($0, port: broker.port) }
        #expect(eventually { devices.allSatisfy { $0.others == 2 } })
        for (device, ratio) in zip(devices, [10.0, 25, 15]) { device.hear(1, ratio: ratio) }
        #expect(eventually { devices.allSatisfy { $0.lines.count == 1 } })
        #expect(devices.map(\.lines) == [["yields to hall"], ["acts"], ["yields to hall"]])

        // The broker keeps who is there, and nothing else of the group.
        let kept = try broker.messages("beckon/group.down_stairs/#").filter { $0.hasPrefix("1 ") }.sorted()
        #expect(
            kept == ["attic", "hall", "kitchen"].map { "1 beckon/group.down_stairs/\($0)/member online" },
            "\(kept)"
        )

        // A broker that is lost while they wait: all act.
        for (device, ratio) in zip(devices, [10.0, 25, 15]) { device.hear(2, ratio: ratio) }
        broker.stop()
        #expect(eventually { devices.allSatisfy { $0.lines.count == 2 } })
        #expect(devices.allSatisfy { $0.lines.last == "acts" }, "\(devices.map(\.lines))")

        // And while it is away, at once.
        let begin = Clock.now
        devices[0].hear(3, ratio: 10)
        #expect(eventually { devices[0].lines.count == 3 })
        #expect(try (#require(devices[0].lastTime) - begin).seconds < 0.9)
        for device in devices { device.stop() }
    }

    @Test func `who leaves, or ends suddenly, is not waited for`() throws {
        guard let broker = try Broker() else { return }
        let devices = try ["attic", "hall"].map { try Device($0, port: broker.port) }
        #expect(eventually { devices.allSatisfy { $0.others == 1 && $0.publisher.counts.isConnected } })
        devices[1].stop()
        #expect(eventually { devices[0].others == 0 })
        // What the broker keeps of one whose will it published.
        try broker.publish("beckon/group.down_stairs/cellar/member", "online", true)
        try broker.publish("beckon/cellar/availability", "online", true)
        #expect(eventually { devices[0].others == 1 })
        try broker.publish("beckon/cellar/availability", "offline", true)
        #expect(eventually { devices[0].others == 0 })
        let begin = Clock.now
        devices[0].hear(1, ratio: 10)
        #expect(eventually { devices[0].lines == ["acts"] })
        #expect(try (#require(devices[0].lastTime) - begin).seconds < 0.9)
        devices[0].stop()
        #expect(
            try broker.messages("beckon/group.down_stairs/+/member") == [
                "1 beckon/group.down_stairs/cellar/member online"
            ]
        )
    }

    @Test func `topics of a group`() {
        var group = GroupTopics("a/b +", prefix: "x/beckon", MQTTIdentity(name: "hall"))
        #expect(group.member == "x/beckon/group.a-2fb_-2b/hall/member")
        let base = "x/beckon/group.a-2fb_-2b"
        let online = Array("online".utf8)
        let word = GroupMessage(
            .act,
            group: "a/b +",
            word: "left",
            bid: Bid(signalToNoise: 1, level: 2, confidence: 0.5, device: "attic")
        )
        let bytes = Array("\(word.json)".utf8)
        for (topic, payload, isRetained, taken, others) in [
            (base + "/attic/member", online, true, GroupTopics.Taken.presence, 0),
            ("x/beckon/attic/availability", online, true, .presence, 1),
            ("x/beckon/attic/availability", Array("offline".utf8), false, .presence, 0),
            ("x/beckon/attic/availability", online, false, .presence, 1),
            (base + "/hall/member", online, true, .nothing, 1),
            (base + "/attic/word", bytes, false, .word(word), 1), (base + "/attic/word", bytes, true, .nothing, 1),
            (base + "/attic/word", online, false, .nothing, 1), (base + "/hall/word", bytes, false, .nothing, 1),
            ("x/beckon/group.other/attic/word", bytes, false, .nothing, 1),
            ("x/beckon/hall/mute/set", online, false, .other, 1), ("hermes/hotword/toggleOn", online, false, .other, 1),
            (base + "/attic/member", [], false, .presence, 0),
        ] {
            #expect(group.take(topic: topic, payload: payload, isRetained: isRetained) == taken, "\(topic)")
            #expect(group.others == others, "\(topic)")
        }
    }
}
