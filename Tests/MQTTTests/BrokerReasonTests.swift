import Configuration
import Control
import Core
import Foundation
import IntegrationInterface
import Synchronization
import System
import TestSupport
import Testing

@testable import MQTT

/// What the log says about a real broker: large messages, access rules, a second client, TLS.
@Suite(.serialized) struct BrokerReasonTests {
    private let service = FakeService()

    private func publisher(port: Int, _ change: (inout Configuration.MQTT) -> Void = { _ in }) throws -> MQTTPublisher {
        var settings = Configuration.MQTT()
        (settings.host, settings.port) = ("127.0.0.1", port)
        change(&settings)
        return try MQTTPublisher(settings, service.interface, state: nil)
    }

    private func isSaid(_ parts: String...) -> Bool {
        eventually { service.lines.withLock { $0.contains { line in parts.allSatisfy(line.contains) } } }
    }

    @Test func `a large kept message on a command topic harms nothing`() throws {
        guard let broker = try Broker() else { return }
        let folder = try TestFolder()
        let file = try folder.write("large", bytes: [UInt8](repeating: 65, count: 8 << 20))
        let topic = "beckon/test_box/mute/set"
        let arguments = ["-p", "\(broker.port)", "-t", topic, "-r", "-f", file]
        #expect(try Program.run(URL(fileURLWithPath: "/usr/bin/mosquitto_pub"), arguments).status == 0)
        let publisher = try publisher(port: broker.port)
        defer { publisher.stop(until: Clock.now + .seconds(5)) }
        #expect(eventually { publisher.counts.isConnected })
        try broker.publish(topic, "ON", false)
        #expect(eventually { service.commands.withLock { $0 } == [.mute] })
        #expect(publisher.counts.connects == 1)
    }

    @Test(arguments: [true, false]) func `a connection of either version drops it`(_ isVersion5: Bool) throws {
        guard let broker = try Broker() else { return }
        let folder = try TestFolder()
        let file = try folder.write("large", bytes: [UInt8](repeating: 65, count: 8 << 20))
        let arguments = ["-p", "\(broker.port)", "-t", "a/b", "-r", "-f", file]
        #expect(try Program.run(URL(fileURLWithPath: "/usr/bin/mosquitto_pub"), arguments).status == 0)
        try broker.publish("a/c", "small", true)
        var settings = BrokerConnection.Settings()
        (settings.host, settings.port, settings.name, settings.isVersion5) = (
            "127.0.0.1", broker.port, "probe", isVersion5
        )
        let connection = try BrokerConnection(settings)
        var received: [BrokerConnection.Received] = []
        var dropped: [String] = []
        var hasSubscribed = false
        for _ in 0..<400 where received.isEmpty || (dropped.isEmpty && !isVersion5) {
            received += try connection.work(canRead: true, canWrite: connection.wantsToWrite)
            dropped += connection.takeDropped().last.map(\.topic)
            if try connection.isAccepted(), !hasSubscribed {
                hasSubscribed = true
                try connection.subscribe("a/#")
            }
            usleep(10_000)
        }
        #expect(received.map(\.topic) == ["a/c"] && dropped == (isVersion5 ? [] : ["a/b"]))
    }

    @Test func `the last of a burst of commands counts`() throws {
        guard let broker = try Broker() else { return }
        let publisher = try publisher(port: broker.port)
        defer { publisher.stop(until: Clock.now + .seconds(5)) }
        #expect(eventually { publisher.counts.isConnected })
        let folder = try TestFolder()
        for round in 0..<3 {
            let last = round % 2 == 0 ? "OFF" : "ON"
            let lines = (0..<1_000).map { $0 % 2 == 0 ? "ON" : "OFF" } + [last]
            try folder.write("burst", bytes: Array(lines.joined(separator: "\n").utf8))
            let script = "mosquitto_pub -p \(broker.port) -t beckon/test_box/mute/set -l < \(folder.file("burst"))"
            #expect(try Program.run(URL(fileURLWithPath: "/bin/sh"), ["-c", script]).status == 0)
            #expect(eventually { publisher.counts.commands == 1_001 * (round + 1) })
            #expect(eventually { service.commands.withLock { $0.last } == (last == "ON" ? .mute : .unmute) })
            let carriedOut = service.commands.withLock { $0.count }
            #expect(carriedOut + publisher.counts.replacedCommands == publisher.counts.commands)
        }
    }

    @Test func `what is not executed is said, with what is accepted`() throws {
        guard let broker = try Broker() else { return }
        try broker.publish("beckon/test_box/mute/set", "OFF", true)
        let publisher = try publisher(port: broker.port) { $0.hermes = "kitchen" }
        defer { publisher.stop(until: Clock.now + .seconds(5)) }
        #expect(eventually { publisher.counts.isConnected })
        #expect(isSaid("mute/set: 'OFF'", "kept", "retain"))
        try broker.publish("beckon/test_box/threshold/stop/set", "high", false)
        #expect(isSaid("threshold/stop/set: 'high'", "a number between 0 and 1"))
        try broker.publish("beckon/test_box/threshold/stp/set", "0.5", false)
        #expect(isSaid("threshold/stp/set: '0.5'", "there are stop"))
        try broker.publish("hermes/hotword/toggleOff", "off", false)
        #expect(isSaid("toggleOff: 'off'", "siteId"))
        try broker.publish("beckon/test_box/mute/set", "true", false)
        usleep(200_000)
        #expect(publisher.counts.refused == 5 && service.commands.withLock { $0 } == [])
    }

    @Test func `access rules that deny writing are named`() throws {
        let folder = try TestFolder()
        let rules = try folder.write("rules", bytes: Array("topic read #\n".utf8))
        guard let broker = try Broker(settings: "allow_anonymous true\nacl_file \(rules)") else { return }
        let publisher = try publisher(port: broker.port)
        defer { publisher.stop(until: Clock.now + .seconds(5)) }
        #expect(isSaid("access rules"))
    }

    @Test func `a second client of the same name is named`() throws {
        guard let broker = try Broker() else { return }
        let publisher = try publisher(port: broker.port)
        defer { publisher.stop(until: Clock.now + .seconds(5)) }
        #expect(eventually { publisher.counts.isConnected })
        try broker.publish("probe", "", false, user: ["-i", "beckon-test_box"])
        #expect(isSaid("another client may have the name 'beckon-test_box'", "mqtt.name"))
    }

    // MARK: - TLS

    private func tlsBroker(_ folder: TestFolder, _ name: String) throws -> Broker? {
        let path = folder.path
        return try Broker(
            settings:
                "allow_anonymous true\ncafile \(path)/ca.pem\ncertfile \(path)/\(name).pem\nkeyfile \(path)/\(name).key"
        )
    }

    @Test func `over TLS, events and commands pass and large messages do not`() throws {
        let folder = try TestFolder()
        guard try Certificates(in: folder) != nil, let broker = try tlsBroker(folder, "good") else { return }
        let tls = ["--cafile", folder.file("ca.pem"), "-h", "127.0.0.1"]
        let file = try folder.write("large", bytes: [UInt8](repeating: 65, count: 8 << 20))
        let topic = "beckon/test_box/mute/set"
        let large = ["-p", "\(broker.port)", "-t", topic, "-r", "-f", file] + tls
        #expect(try Program.run(URL(fileURLWithPath: "/usr/bin/mosquitto_pub"), large).status == 0)
        let publisher = try publisher(port: broker.port) {
            ($0.tls, $0.caFile) = (true, folder.file("ca.pem"))
        }
        defer { publisher.stop(until: Clock.now + .seconds(5)) }
        #expect(eventually { publisher.counts.isConnected })
        try broker.publish(topic, "ON", false, user: tls)
        #expect(eventually { service.commands.withLock { $0 } == [.mute] })
        publisher.receive(.said("stop"))
        #expect(eventually { publisher.counts.events == 1 })
        #expect(publisher.counts.connects == 1)
        // A connection of MQTT 3.1.1, to which the broker sends it, drops it.
        var settings = BrokerConnection.Settings()
        (settings.host, settings.port, settings.name, settings.isVersion5) = ("127.0.0.1", broker.port, "probe", false)
        settings.authorities = folder.file("ca.pem")
        let connection = try BrokerConnection(settings)
        var dropped: [String] = []
        var hasSubscribed = false
        for _ in 0..<1_000 where dropped.isEmpty {
            _ = try connection.work(canRead: true, canWrite: connection.wantsToWrite)
            dropped += connection.takeDropped().last.map(\.topic)
            if try connection.isAccepted(), !hasSubscribed {
                hasSubscribed = true
                try connection.subscribe("beckon/#")
            }
            usleep(10_000)
        }
        #expect(dropped == [topic])
    }

    @Test func `failures of TLS are called by their cause`() throws {
        let folder = try TestFolder()
        guard try Certificates(in: folder) != nil else { return }
        for (certificate, authority, reason) in [
            ("good", "other.pem", "not signed by mqtt.caFile"),
            ("good", nil, "not signed by the system's authorities"),
            ("elsewhere", "ca.pem", "not for the name '127.0.0.1'"), ("self", "ca.pem", "self-signed"),
        ] as [(String, String?, String)] {
            guard let broker = try tlsBroker(folder, certificate) else { return }
            service.lines.withLock { $0 = [] }
            let publisher = try publisher(port: broker.port) {
                ($0.tls, $0.caFile) = (true, authority.map(folder.file))
            }
            #expect(isSaid(reason), "\(reason): \(service.lines.withLock { $0 })")
            publisher.stop(until: Clock.now + .seconds(5))
        }
        guard let plain = try Broker(), let encrypted = try tlsBroker(folder, "good") else { return }
        for (port, tls, reason) in [(plain.port, true, "speak TLS"), (encrypted.port, false, "mqtt.tls")] {
            service.lines.withLock { $0 = [] }
            let publisher = try publisher(port: port) { $0.tls = tls }
            #expect(isSaid(reason), "\(reason): \(service.lines.withLock { $0 })")
            publisher.stop(until: Clock.now + .seconds(5))
        }
        try folder.write("empty.pem", bytes: Array("hello\n".utf8))
        for (file, reason) in [("missing.pem", "No such file"), ("empty.pem", "no certificate")] {
            service.lines.withLock { $0 = [] }
            let publisher = try publisher(port: encrypted.port) { ($0.tls, $0.caFile) = (true, folder.file(file)) }
            #expect(isSaid(file, reason), "\(reason): \(service.lines.withLock { $0 })")
            publisher.stop(until: Clock.now + .seconds(5))
        }
    }
}
