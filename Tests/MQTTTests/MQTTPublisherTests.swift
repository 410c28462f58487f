import Configuration
import Control
import Core
import Events
import Foundation
import IntegrationInterface
import Spotting
import Synchronization
import System
import TestSupport
import Testing

@testable import MQTT

@Suite(.serialized)
struct MQTTPublisherTests {
    private let service = FakeService()

    private func publisher(_ broker: Broker, _ change: (inout Configuration.MQTT) -> Void = { _ in }) throws
        -> MQTTPublisher
    {
        var settings = Configuration.MQTT()
        settings.host = "127.0.0.1"
        settings.port = broker.port
        change(&settings)
        return try MQTTPublisher(settings, service.interface, state: nil)
    }

    @Test func `the broker keeps the state, and no event`() throws {
        guard let broker = try Broker() else { return }
        let publisher = try publisher(broker)
        #expect(eventually { publisher.counts.isConnected })
        publisher.receive(.said("stop"))
        #expect(eventually { publisher.counts.events == 1 })
        let kept = try broker.messages("beckon/#")
        #expect(
            kept.filter { $0.hasPrefix("1 ") }.sorted() == [
                "1 beckon/test_box/availability online", "1 beckon/test_box/level -31.4",
                "1 beckon/test_box/microphone ok",
                "1 beckon/test_box/mute OFF", "1 beckon/test_box/threshold/stop 0.900",
            ]
        )
        #expect(try broker.messages("homeassistant/#").count == 1)
        #expect(publisher.stop(until: Clock.now + .seconds(5)))
        #expect(try broker.messages("beckon/+/availability") == ["1 beckon/test_box/availability offline"])
    }

    @Test func `of several services each has its own name at the broker`() throws {
        guard let broker = try Broker() else { return }
        var settings = Configuration.MQTT()
        (settings.host, settings.port) = ("127.0.0.1", broker.port)
        let services = ["kitchen", "living-room"].map { FakeService(instance: Instance($0)) }
        var publishers = try services.map { try MQTTPublisher(settings, $0.interface, state: nil) }
        // A name in the configuration comes first.
        settings.name = "attic"
        publishers.append(try MQTTPublisher(settings, services[0].interface, state: nil))
        #expect(eventually { publishers.allSatisfy(\.counts.isConnected) })
        let kept = try broker.messages("beckon/+/availability").sorted()
        #expect(
            kept == [
                "1 beckon/attic/availability online", "1 beckon/kitchen/availability online",
                "1 beckon/living-2droom/availability online",
            ],
            "\(kept)"
        )
        for publisher in publishers { #expect(publisher.stop(until: Clock.now + .seconds(5))) }
    }

    @Test func `an event reaches those who listen`() throws {
        guard let broker = try Broker() else { return }
        let publisher = try publisher(broker)
        #expect(eventually { publisher.counts.isConnected })
        let heard = Mutex<[String]>([])
        let done = Latch()
        let port = broker.port
        Thread.detachNewThread {
            let lines = try? Broker.messages(port: port, "beckon/test_box/word", seconds: 3)
            heard.withLock { $0 = lines ?? [] }
            done.open()
        }
        usleep(1_500_000)
        publisher.receive(.said("stop"))
        publisher.receive(.said("okay nabu"))
        #expect(done.wait(until: Clock.now + .seconds(20)))
        #expect(heard.withLock { $0 } == ["stop", "okay nabu"].map { "0 beckon/test_box/word \($0)" })
        publisher.stop(until: Clock.now + .seconds(5))
    }

    @Test func `commands are executed, kept ones are not`() throws {
        guard let broker = try Broker() else { return }
        try broker.publish("beckon/test_box/mute/set", "ON", true)
        service.state.withLock { $0.words.append(ServiceState.Word(name: "okay nabu", threshold: 0.85)) }
        let publisher = try publisher(broker)
        #expect(eventually { publisher.counts.isConnected })
        usleep(500_000)
        #expect(service.commands.withLock { $0 } == [])
        try broker.publish("beckon/test_box/threshold/stop/set", "0.55", false)
        try broker.publish("beckon/test_box/threshold/okay_nabu/set", "0.7", false)
        try broker.publish("beckon/test_box/mute/set", "ON", false)
        #expect(eventually { service.commands.withLock { $0.count } == 3 })
        let thresholds = [("stop", 0.55), ("okay nabu", 0.7)] as [(String, Float)]
        #expect(
            service.commands.withLock { $0 }
                == thresholds.map { .set(ThresholdChange(words: [$0.0: .confidence($0.1)])) } + [.mute]
        )
        #expect(
            eventually { (try? broker.messages("beckon/test_box/mute").contains("1 beckon/test_box/mute ON")) == true }
        )
        publisher.stop(until: Clock.now + .seconds(5))
    }

    @Test func `a Hermes site tells its words, unless it is toggled off`() throws {
        guard let broker = try Broker() else { return }
        let publisher = try publisher(broker) { $0.hermes = "kitchen" }
        #expect(eventually { publisher.counts.isConnected })
        let heard = Mutex<[String]>([])
        let done = Latch()
        let port = broker.port
        Thread.detachNewThread {
            let lines = try? Broker.messages(port: port, "hermes/hotword/+/detected", seconds: 6)
            heard.withLock { $0 = lines ?? [] }
            done.open()
        }
        usleep(1_500_000)
        publisher.receive(.said("stop", threshold: 0.9))
        #expect(eventually { publisher.counts.events == 1 })
        try broker.publish("hermes/hotword/toggleOff", #"{"siteId": "kitchen", "reason": "ttsSay"}"#, false)
        usleep(700_000)
        publisher.receive(.said("stop", threshold: 0.9))
        #expect(eventually { publisher.counts.events == 2 })
        try broker.publish("hermes/hotword/toggleOn", #"{"siteId": "kitchen", "reason": "ttsSay"}"#, false)
        usleep(700_000)
        publisher.receive(.said("stop", kind: .phrase))
        #expect(done.wait(until: Clock.now + .seconds(30)))
        let payloads = heard.withLock { $0 }
        #expect(payloads.count == 2, "\(payloads)")
        #expect(
            payloads.first?.contains(#""modelType": "universal", "currentSensitivity": 0.100, "siteId": "kitchen""#)
                == true
        )
        // A toggle is not a command of the service.
        #expect(service.commands.withLock { $0 } == [])
        publisher.stop(until: Clock.now + .seconds(5))
    }

    @Test func `a device of several messages that is removed leaves nothing at the broker`() throws {
        guard let broker = try Broker() else { return }
        let publisher = try publisher(broker) { $0.discoveryForm = .components }
        #expect(eventually { publisher.counts.isConnected })
        #expect(eventually { (try? broker.messages("homeassistant/#").count) == 6 })
        publisher.remove()
        publisher.stop(until: Clock.now + .seconds(5))
        #expect(try broker.messages() == [])
    }

    @Test func `nothing that was said without a broker is told later`() throws {
        guard let broker = try Broker() else { return }
        let publisher = try publisher(broker)
        #expect(eventually { publisher.counts.isConnected })
        broker.stop()
        #expect(eventually { !publisher.counts.isConnected })
        publisher.receive(.said("stop"))
        #expect(publisher.counts.dropped == 1)
        try broker.start()
        #expect(eventually { publisher.counts.connects == 2 && publisher.counts.isConnected })
        usleep(500_000)
        #expect(publisher.counts.events == 0)
        #expect(try broker.messages("beckon/+/availability") == ["1 beckon/test_box/availability online"])
        publisher.stop(until: Clock.now + .seconds(5))
    }

    @Test func `a service that dies is offline by its will`() throws {
        guard let broker = try Broker() else { return }
        let publisher = try publisher(broker)
        #expect(eventually { publisher.counts.isConnected })
        // Another client of the same name takes the connection, and the broker publishes the will.
        try broker.publish("probe", "", false, user: ["-i", "beckon-test_box"])
        #expect(eventually { publisher.counts.connects == 2 })
        publisher.stop(until: Clock.now + .seconds(5))
    }

    @Test func `a device that is removed leaves nothing at the broker`() throws {
        guard let broker = try Broker() else { return }
        let publisher = try publisher(broker)
        #expect(eventually { publisher.counts.isConnected })
        #expect(eventually { (try? broker.messages("beckon/#").count) == 5 })
        publisher.remove()
        publisher.stop(until: Clock.now + .seconds(5))
        let left = try broker.messages()
        #expect(left == [])
    }

    @Test func `a wrong password is said, and tried again`() throws {
        let folder = try TestFolder()
        try folder.write("password", bytes: Array("wrong\n".utf8))
        try folder.write("users", bytes: [])
        let passwords = URL(fileURLWithPath: "/usr/bin/mosquitto_passwd")
        _ = try? Program.run(passwords, ["-b", folder.file("users"), "ada", "right"])
        let users = "allow_anonymous false\npassword_file \(folder.file("users"))"
        guard let broker = try Broker(settings: users) else { return }
        var settings = Configuration.MQTT()
        settings.host = "127.0.0.1"
        settings.port = broker.port
        settings.user = "ada"
        settings.passwordFile = folder.file("password")
        let publisher = try MQTTPublisher(settings, service.interface, state: nil)
        #expect(eventually { service.lines.withLock { !$0.isEmpty } })
        let refused = """
            MQTT broker 127.0.0.1: the broker refused: it does not authorise the user 'ada'; correct mqtt.user and the file of \
            mqtt.passwordFile, or its access rules; trying again
            """
        #expect(service.lines.withLock { $0.first } == refused)
        try folder.write("password", bytes: Array("right\n".utf8))
        #expect(eventually { publisher.counts.isConnected })
        publisher.stop(until: Clock.now + .seconds(5))
    }

    @Test func `an end does not wait for a broker that does not answer`() throws {
        var settings = Configuration.MQTT()
        settings.host = "127.0.0.1"
        settings.port = 1
        let publisher = try MQTTPublisher(settings, service.interface, state: nil)
        usleep(100_000)
        #expect(publisher.stop(until: Clock.now + .seconds(2)))
    }
}
