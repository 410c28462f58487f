import Configuration
import Core
import Events
import Foundation
import Network
import Synchronization
import System
import TestSupport
import Testing

@testable import DeviceGroup
@testable import Spotting

/// Groups of services of one machine, by their sockets, with the real clock.
struct GroupSinkTests {
    /// Remembers what reached it.
    private final class Sink: EventSink {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func receive(_ event: DetectionEvent) {
            lines.withLock { $0.append(event.kind == .word ? event.name : "\(event.name) \(event.kind.key)") }
        }

        func withheld(_ event: DetectionEvent, _ reason: WithheldReason) {
            let end = if case .yielded(let device) = reason { "→ \(device)" } else { "own speech" }
            lines.withLock {
                $0.append("\(event.kind == .word ? event.name : "\(event.name) \(event.kind.key)") \(end)")
            }
        }
    }

    /// A service in a folder of its own beside the others'.
    private struct Device {
        let sink = Sink()
        let group: GroupSink

        init(_ name: String, in folder: TestFolder, group common: String = "home") throws {
            let own = try folder.folder("beckon@\(name)")
            group = try GroupSink(folder: own, log: ServiceLog { _, _ in }, sinks: [sink])
            var settings = Configuration.Group()
            (settings.name, settings.window) = (common, 1)
            group.update(settings, device: name)
        }

        func stop() -> Bool { group.stop(until: Clock.now + .seconds(5)) }
    }

    private static func event(
        _ number: UInt64,
        _ word: String = "left",
        ratio: Double?,
        kind: Detection.Kind = .word,
        isOwnSpeech: Bool = false
    ) -> DetectionEvent {
        var detection = Detection(kind: kind, index: 0, confidence: 0.9, start: 1, end: 1.4, time: 1.5)
        detection.isOwnSpeech = isOwnSpeech
        return DetectionEvent(
            detection,
            sequence: number,
            name: word,
            date: .now,
            device: "hw:0",
            sound: WordLevel(level: -30, signalToNoise: ratio)
        )
    }

    /// Waits for the sockets of all devices, which their threads make.
    private static func isReady(_ folder: TestFolder, _ names: [String]) -> Bool {
        eventually {
            names.allSatisfy { FileManager.default.fileExists(atPath: folder.file("beckon@\($0)/group.home.socket")) }
        }
    }

    private static func eventually(_ condition: () -> Bool) -> Bool {
        for _ in 0..<1000 {
            if condition() { return true }
            usleep(10_000)
        }
        return false
    }

    @Test func `of three services the nearest acts, the others yield, in the order of their events`() throws {
        let folder = try TestFolder()
        let names = ["attic", "hall", "kitchen"]
        let devices = try names.map { try Device($0, in: folder) }
        #expect(Self.isReady(folder, names))
        for (device, ratio) in zip(devices, [10.0, 15, 25]) {
            device.group.receive(Self.event(1, ratio: ratio))
            device.group.receive(Self.event(2, ratio: nil, kind: .sessionStart))
            device.group.receive(Self.event(3, "right", ratio: -ratio))
        }
        #expect(Self.eventually { devices.allSatisfy { $0.sink.all.count == 3 } })
        #expect(devices[0].sink.all == ["left → kitchen", "left session-start → kitchen", "right"])
        #expect(devices[1].sink.all == ["left → kitchen", "left session-start → kitchen", "right → attic"])
        #expect(devices[2].sink.all == ["left", "left session-start", "right → attic"])
        #expect(devices.map(\.group.counts.yielded) == [1, 2, 1] && devices.map(\.group.counts.acted) == [1, 0, 1])
        for device in devices { #expect(device.stop()) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("beckon@hall")).isEmpty)
    }

    @Test func `what a loudspeaker said is no matter of the group, and keeps its place`() throws {
        let folder = try TestFolder()
        let device = try Device("kitchen", in: folder)
        device.group.receive(Self.event(1, ratio: 20))
        device.group.withheld(Self.event(2, ratio: 20, isOwnSpeech: true), .ownSpeech)
        #expect(Self.eventually { device.sink.all == ["left", "left own speech"] })
        #expect(device.stop() && device.group.counts.acted == 1)
    }

    @Test func `a device alone acts at once`() throws {
        let folder = try TestFolder()
        let device = try Device("hall", in: folder)
        // A service that ended suddenly left its socket; another has another group.
        _ = try UnixSocket.makeReceiver(folder.folder("beckon@dead") + "/group.home.socket", mode: 0o600)
        #expect(Self.isReady(folder, ["hall", "dead"]))
        let other = try Device("attic", in: folder, group: "flat")
        let begin = Clock.now
        device.group.receive(Self.event(1, ratio: 10))
        #expect(Self.eventually { device.sink.all == ["left"] })
        #expect((Clock.now - begin).seconds < 0.9)
        #expect(device.group.counts == GroupSink.Counts(acted: 1, yielded: 0, alone: 1))
        #expect(device.stop() && other.stop())
    }

    @Test func `without a group events pass through at once`() throws {
        let sink = Sink()
        let group = try GroupSink(folder: nil, log: ServiceLog { _, _ in }, sinks: [sink])
        group.update(Configuration.Group(), device: "hall")
        group.receive(Self.event(1, ratio: 10))
        #expect(sink.all == ["left"] && group.stop(until: Clock.now))
    }

    @Test func `what waits when a link is lost, or the service ends, is acted on`() throws {
        /// A link to a device that never answers.
        final class Link: GroupLink {
            func send(_ message: GroupMessage) -> Int { 1 }
        }
        let sink = Sink()
        let group = try GroupSink(folder: nil, log: ServiceLog { _, _ in }, sinks: [sink])
        var settings = Configuration.Group()
        (settings.name, settings.window) = ("home", 1)
        group.update(settings, device: "hall")
        let link = Link()
        group.add(link)
        var begin = Clock.now
        group.receive(Self.event(1, ratio: 10))
        group.cut()
        #expect(Self.eventually { sink.all == ["left"] })
        #expect((Clock.now - begin).seconds < 0.9)
        begin = Clock.now
        group.receive(Self.event(2, "right", ratio: 10))
        #expect(group.stop(until: Clock.now + .seconds(5)))
        #expect(sink.all == ["left", "right"] && (Clock.now - begin).seconds >= 0.99)
    }
}
