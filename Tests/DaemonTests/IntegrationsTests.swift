import Audio
import Configuration
import Control
import Core
import Events
import IntegrationInterface
import JSON
import Metrics
import Network
import Synchronization
import System
import TestSupport
import Testing

@testable import Daemon
@testable import Spotting

/// Writes to the log what is asked of it. It is on where `mqtt.host` is set, and cannot start with the host `bad`.
private final class Diary: Integration {
    struct Counts: Counted {
        let host: String

        static let counters: [Counter<Counts>] = [Counter("host") { .string($0.host) }]
    }

    static let key = "diary"

    static func configured(in configuration: Configuration) -> String? { configuration.mqtt.host }

    private let host: String
    private let log: ServiceLog
    private let isStopped = Mutex(false)
    private let isRemoved = Mutex(false)

    init(_ configured: String, _ service: any Service) throws {
        guard configured != "bad" else { throw SocketError("cannot start") }
        host = configured
        log = service.log
        log.write(.notice, "\(host) starts")
    }

    func receive(_ event: DetectionEvent) { log.write(.notice, "\(host) hears \(event.name)") }
    func update(_ settings: ServiceSettings) {
        log.write(.notice, "\(host) has \(settings.wordThresholds.count) words")
    }
    func talk(_ step: TalkStep, _ later: @escaping @Sendable (ControlReply) -> Void) -> Bool {
        guard host == "a" else { return false }
        later(.note(step.rawValue))
        return true
    }
    var counts: Counts { Counts(host: host) }

    func remove() { isRemoved.withLock { $0 = true } }

    func stop(until time: Instant?) -> Bool {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        if isFirst { log.write(.notice, "\(host) ends\(isRemoved.withLock(\.self) ? ", removed" : "")") }
        return true
    }
}

/// A service with these settings, which writes to a log.
private struct Interface: Service {
    let currentSettings: ServiceSettings
    let log: ServiceLog

    var machine: String { "box" }
    var share: MachineShare { MachineShare() }
    var history: AudioHistory? { nil }
    var state: ServiceState { ServiceState(currentSettings, isMuted: nil, hasAudio: true, level: nil) }
    var live: LiveState { LiveState() }
    var metrics: [MetricFamily] { [] }
    var problem: String? { nil }

    func perform(_ command: ControlCommand, _ later: @escaping @Sendable (ControlReply) -> Void) -> ControlReply? {
        .done
    }
}

/// The life of integrations: start, reload, events, end.
struct IntegrationsTests {
    private let lines = Lines()
    private let integrations = Integrations([Diary.self])

    private func settings(_ text: String) throws -> ServiceSettings {
        let vocabulary = Vocabulary(try Material.model())
        let known = vocabulary.labels.filter { !$0.hasPrefix("_") }
        return try ServiceSettings(
            ParsedConfiguration(text: text, file: "f").validated(by: KnownWords(known)).configuration,
            vocabulary
        )
    }

    /// Applies settings and returns what was said since the last time.
    private func apply(_ text: String, haveChanged: Bool = true) throws -> [String] {
        let settings = try settings(text)
        let service = Interface(currentSettings: settings, log: ServiceLog { [lines] _, text in lines.add(text) })
        let before = lines.all.count
        let problems = integrations.update(settings, service, haveChanged: haveChanged)
        return Array(lines.all.dropFirst(before)) + problems
    }

    private var status: String {
        JSON.object(integrations.status).description
    }

    private static let event = DetectionEvent(
        Detection(kind: .word, index: 0, confidence: 0.9, start: 1, end: 1.4, time: 1.5),
        sequence: 1,
        name: "stop",
        date: Timestamp(microseconds: 0),
        device: "mic"
    )

    @Test func `what the configuration does not turn on is not started`() throws {
        #expect(try apply("{}") == [])
        integrations.receive(Self.event)
        #expect(lines.all == [])
        #expect(status == "{}")
        #expect(integrations.running(Diary.self) == nil)
    }

    @Test func `an integration gets events and other settings, and is replaced when its own change`() throws {
        #expect(try apply("{mqtt: {host: 'a'}}") == ["a starts"])
        integrations.receive(Self.event)
        #expect(lines.all.last == "a hears stop")
        #expect(status == #"{"diary": {"host": "a"}}"#)
        #expect(try apply("{mqtt: {host: 'a'}, words: {stop: {enabled: false}}}").map { $0.prefix(5) } == ["a has"])
        #expect(try apply("{mqtt: {host: 'a'}}", haveChanged: false) == [])
        #expect(try apply("{mqtt: {host: 'b'}}") == ["a ends, removed", "b starts"])
        #expect(try apply("{}") == ["b ends, removed"])
        #expect(status == "{}")
    }

    @Test func `what cannot start is said, and tried again with the next settings`() throws {
        #expect(try apply("{mqtt: {host: 'bad'}}") == ["diary: cannot start"])
        #expect(try apply("{mqtt: {host: 'bad'}}", haveChanged: false) == ["diary: cannot start"])
        #expect(try apply("{mqtt: {host: 'a'}}") == ["a starts"])
    }

    @Test func `a button is for the integration that has a voice assistant`() throws {
        let replies = Lines()
        func talk() -> ControlReply? {
            integrations.talk(.toggle) { replies.add("\($0.json)") }
        }
        let none = ControlReply.failed("there is no voice assistant; the key esphome of the configuration makes one")
        #expect(talk() == none)
        _ = try apply("{mqtt: {host: 'b'}}")
        #expect(talk() == none && replies.all == [])
        _ = try apply("{mqtt: {host: 'a'}}")
        #expect(talk() == nil && replies.all == [#"{"ok": true, "note": "toggle"}"#])
    }

    @Test func `at the end all are stopped, nothing is removed, and nothing is started any more`() throws {
        #expect(try apply("{mqtt: {host: 'a'}}") == ["a starts"])
        #expect(integrations.stop(until: Clock.now + .seconds(1)))
        #expect(lines.all.last == "a ends")
        #expect(try apply("{mqtt: {host: 'b'}}") == [])
        integrations.receive(Self.event)
        #expect(lines.all.last == "a ends")
    }

    @Test func `which one runs can be asked while another thread turns it on and off`() throws {
        let (on, off) = (try settings("{mqtt: {host: 'a'}}"), try settings("{}"))
        let service = Interface(currentSettings: on, log: ServiceLog { _, _ in })
        let isOver = Mutex(false)
        let finished = Latch()
        _ = try SystemThread(name: "test", stackSize: 512 << 10, or: SocketError.noThread) {
            for _ in 0..<2_000 {
                _ = integrations.update(on, service)
                _ = integrations.update(off, service)
            }
            isOver.withLock { $0 = true }
            finished.open()
        }
        while !isOver.withLock({ $0 }) { _ = integrations.running(Diary.self) }
        #expect(finished.wait(until: nil))
        #expect(integrations.running(Diary.self) == nil)
    }
}
