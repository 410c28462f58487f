import Configuration
import Control
import Core
import Foundation
import IntegrationInterface
import JSON
import Metrics
import Synchronization
import System
import TestSupport
import Testing

@testable import MQTT

/// A broker that sends what a test wants after CONNECT, for each client on a thread of its own.
private final class FakeBroker: Sendable {
    let port: Int
    private let socket: Int32
    /// The first packets of the clients that came.
    let hellos = Mutex<[[UInt8]]>([])

    /// - Parameter serve: gets the client's socket and its CONNECT.
    init(_ serve: @escaping @Sendable (Int32, [UInt8]) -> Void) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = socket
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) + listen(listener, 8) + getsockname(listener, $0, &size)
            }
        }
        try #require(result == 0)
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in
            while true {
                let client = Glibc.accept(listener, nil, nil)
                if client < 0 { break }
                Thread.detachNewThread { [self] in
                    var hello = [UInt8](repeating: 0, count: 1_000)
                    let count = recv(client, &hello, hello.count, 0)
                    let bytes = Array(hello.prefix(max(0, count)))
                    hellos.withLock { $0.append(bytes) }
                    serve(client, bytes)
                    close(client)
                }
            }
        }
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    /// Whether the client wants MQTT 5.
    static func isVersion5(_ hello: [UInt8]) -> Bool { hello.dropFirst(8).first == 5 }

    /// CONNACK of the client's version.
    static func acknowledge(_ client: Int32, _ hello: [UInt8]) {
        send(client, isVersion5(hello) ? [0x20, 3, 0, 0, 0] : [0x20, 2, 0, 0])
    }

    static func send(_ client: Int32, _ bytes: [UInt8]) {
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(client, $0.baseAddress?.advanced(by: start), $0.count - start, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            start += count
        }
    }

    /// The header of a PUBLISH of a topic, with so many bytes of payload to come.
    static func publish(_ topic: String, payload: Int, quality: UInt8 = 0, version5: Bool) -> [UInt8] {
        var left = 2 + topic.utf8.count + (quality > 0 ? 2 : 0) + (version5 ? 1 : 0) + payload
        var bytes: [UInt8] = [0x30 | quality << 1]
        repeat {
            bytes.append(UInt8(left % 128) | (left >= 128 ? 0x80 : 0))
            left /= 128
        } while left > 0
        bytes += [UInt8(topic.utf8.count >> 8), UInt8(topic.utf8.count & 0xFF)] + Array(topic.utf8)
        return bytes + (quality > 0 ? [0, 1] : []) + (version5 ? [0] : [])
    }

    /// Waits until the client closes, or for some seconds.
    static func wait(_ client: Int32, seconds: Int = 20) {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var bytes = [UInt8](repeating: 0, count: 10_000)
        while recv(client, &bytes, bytes.count, 0) > 0 {}
    }
}

private func residentMegabytes() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4 / 1_024
}

@Suite(.serialized) struct HostileBrokerTests {
    private let service = FakeService()

    private func publisher(_ broker: FakeBroker, _ change: (inout Configuration.MQTT) -> Void = { _ in }) throws
        -> MQTTPublisher
    {
        var settings = Configuration.MQTT()
        (settings.host, settings.port) = ("127.0.0.1", broker.port)
        change(&settings)
        return try MQTTPublisher(settings, service.interface, state: nil)
    }

    @Test(arguments: [true, false]) func `a message of 255 MiB is dropped, and the next command is executed`(
        _ isVersion5: Bool
    )
        throws
    {
        let topic = "beckon/test_box/mute/set"
        let broker = try FakeBroker { client, hello in
            if !isVersion5, FakeBroker.isVersion5(hello) { return FakeBroker.send(client, [0x20, 2, 0, 1]) }
            FakeBroker.acknowledge(client, hello)
            let size = 255 << 20
            FakeBroker.send(client, FakeBroker.publish(topic, payload: size, version5: isVersion5))
            let part = [UInt8](repeating: 65, count: 1 << 20)
            for _ in 0..<255 { FakeBroker.send(client, part) }
            FakeBroker.send(client, FakeBroker.publish(topic, payload: 2, version5: isVersion5) + Array("ON".utf8))
            FakeBroker.wait(client)
        }
        let before = residentMegabytes()
        let publisher = try publisher(broker)
        defer { publisher.stop(until: Clock.now + .seconds(5)) }
        #expect(eventually { service.commands.withLock { $0 } == [.mute] })
        #expect(residentMegabytes() - before < 100)
        #expect(publisher.counts.isConnected && publisher.counts.connects == 1 && publisher.counts.refused == 1)
        let lines = service.lines.withLock { $0 }
        #expect(
            lines.contains { $0.contains(topic) && $0.contains("was not executed") && $0.contains("26738690") },
            "\(lines)"
        )
        // MQTT 5 asks the broker for as much.
        let hello = broker.hellos.withLock { $0.first } ?? []
        #expect(FakeBroker.isVersion5(hello) && hello.contains(0x27))
    }

    @Test func `messages of QoS 2 are not kept`() throws {
        let broker = try FakeBroker { client, hello in
            FakeBroker.acknowledge(client, hello)
            let payload = [UInt8](repeating: 65, count: 16_000)
            let one =
                FakeBroker.publish("beckon/test_box/mute/set", payload: 16_000, quality: 2, version5: true) + payload
            for _ in 0..<20_000 { FakeBroker.send(client, one) }
            FakeBroker.send(
                client,
                FakeBroker.publish("beckon/test_box/mute/set", payload: 3, version5: true) + Array("OFF".utf8)
            )
            FakeBroker.wait(client)
        }
        let before = residentMegabytes()
        let publisher = try publisher(broker)
        defer { publisher.stop(until: Clock.now + .seconds(5)) }
        #expect(eventually { service.commands.withLock { $0 } == [.unmute] })
        #expect(residentMegabytes() - before < 100)
        #expect(publisher.counts.refused == 20_000, "each is counted, though few are logged")
    }

    @Test func `a broker of MQTT 3_1_1 is spoken to as one`() throws {
        let broker = try FakeBroker { client, hello in
            // Some close without an answer.
            guard !FakeBroker.isVersion5(hello) else { return }
            FakeBroker.acknowledge(client, hello)
            FakeBroker.wait(client)
        }
        let publisher = try publisher(broker)
        defer { publisher.stop(until: Clock.now + .seconds(5)) }
        #expect(eventually { publisher.counts.isConnected })
        #expect(service.lines.withLock { $0 } == ["connected to the MQTT broker 127.0.0.1"])
    }

    /// What the log says of brokers that do one thing each.
    @Test(arguments: [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "not MQTT"), ("\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{16}", "mqtt.tls"),
        ("", "closed the connection before it answered"), ("\u{20}\u{7f}\u{7f}", "closed the connection"),
        ("\u{20}\u{2}\u{0}\u{5}", "access rules"), ("\u{20}\u{3}\u{0}\u{0}\u{0}\u{d0}\u{7e}", "stopped in the middle"),
    ]) func `a strange broker is called what it is`(_ answer: String, _ reason: String) throws {
        let bytes = answer.unicodeScalars.map { UInt8($0.value) }
        let broker = try FakeBroker { client, hello in
            FakeBroker.send(client, bytes)
            if reason.contains("middle") { FakeBroker.wait(client, seconds: 30) }
        }
        let publisher = try publisher(broker)
        defer { publisher.stop(until: Clock.now + .seconds(5)) }
        #expect(eventually { service.lines.withLock { $0.contains { $0.contains("trying again") } } })
        let lines = service.lines.withLock { $0 }
        #expect(lines.contains { $0.contains(reason) }, "\(lines)")
        #expect(!lines.contains { $0.contains("Unknown error") })
    }

    @Test func `a broker that says nothing costs no processor time, and is named`() throws {
        let broker = try FakeBroker { client, _ in FakeBroker.wait(client, seconds: 30) }
        let publisher = try publisher(broker)
        defer { publisher.stop(until: Clock.now + .seconds(5)) }
        #expect(eventually { service.lines.withLock { !$0.isEmpty } })
        #expect(service.lines.withLock { $0.first }?.contains("takes the connection but does not answer") == true)
    }

    @Test func `connections that are closed again and again hint at a second client of the name`() throws {
        let broker = try FakeBroker { client, hello in
            FakeBroker.acknowledge(client, hello)
            usleep(100_000)
        }
        let publisher = try publisher(broker) { $0.name = "kitchen" }
        defer { publisher.stop(until: Clock.now + .seconds(5)) }
        #expect(
            eventually {
                service.lines.withLock {
                    $0.contains { $0.contains("again and again, as it does") && $0.contains("beckon-kitchen") }
                }
            }
        )
    }

    @Test func `after an end while reading MQTT is off and says so, at each start, until a reload`() throws {
        let folder = try TestFolder()
        let path = folder.file("mqtt-test_box.reading")
        try folder.write("mqtt-test_box.reading", bytes: Array("1".utf8))
        let broker = try FakeBroker { client, hello in
            FakeBroker.acknowledge(client, hello)
            FakeBroker.wait(client)
        }
        var settings = Configuration.MQTT()
        (settings.host, settings.port) = ("127.0.0.1", broker.port)
        var publisher: MQTTPublisher? = try MQTTPublisher(settings, service.interface, state: folder.path)
        #expect(publisher?.isOff == true)
        usleep(500_000)
        #expect(broker.hellos.withLock { $0.isEmpty })
        #expect(
            service.lines.withLock { $0.first }?.hasPrefix("MQTT is off: the service ended suddenly while it read")
                == true
        )
        #expect(publisher?.counts.json.description.contains("\"off\": true") == true)
        // Nobody has removed what the broker keeps.
        for _ in 0..<2 {
            #expect(publisher?.stop(until: Clock.now + .seconds(1)) == true)
            publisher = nil
            #expect(ReadingMarker(path)?.hasFound == true)
            publisher = try MQTTPublisher(settings, service.interface, state: folder.path)
            #expect(publisher?.isOff == true)
        }
        publisher?.retry()
        #expect(publisher?.isOff == false)
        #expect(eventually { publisher?.counts.isConnected == true })
        #expect(publisher?.stop(until: Clock.now + .seconds(5)) == true)
        publisher = nil
        // Its thread has the file until it has ended.
        #expect(eventually { ReadingMarker(path)?.hasFound == false })
    }

    @Test func `after an end while reading other settings turn MQTT on, too`() throws {
        let folder = try TestFolder()
        try folder.write("mqtt-test_box.reading", bytes: Array("1".utf8))
        let broker = try FakeBroker { client, hello in
            FakeBroker.acknowledge(client, hello)
            FakeBroker.wait(client)
        }
        var settings = Configuration.MQTT()
        (settings.host, settings.port) = ("127.0.0.1", broker.port)
        var publisher: MQTTPublisher? = try MQTTPublisher(settings, service.interface, state: folder.path)
        #expect(publisher?.isOff == true)
        // As the service does when the settings change.
        publisher?.remove()
        #expect(publisher?.stop(until: Clock.now + .seconds(1)) == true)
        publisher = nil
        publisher = try MQTTPublisher(settings, service.interface, state: folder.path)
        #expect(eventually { publisher?.counts.isConnected == true })
        publisher?.stop(until: Clock.now + .seconds(5))
    }
}
