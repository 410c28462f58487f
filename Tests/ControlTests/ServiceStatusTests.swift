import Core
import Events
import JSON
import System
import Testing

@testable import Actions
@testable import Control
@testable import Spotting

/// The replies of the service as lines of its socket: programs read them, and services of other versions sent them.
struct ServiceStatusTests {
    private static let line = """
        {"ok": true, "state": "waiting", "since": "2026-03-01T10:00:00.000Z", "device": "hw:CARD=Mic", "problem": "gone", \
        "rate": 48000, "channels": 2, "gaps": 1, "channelsCancel": true, "digitalSilenceSince": "2026-03-01T11:00:00.000Z", \
        "echo": {"state": "lost", "device": "hw:Loopback,1", "problem": "unplugged", "cancelledDecibels": 18.3}, \
        "instance": "kitchen", "version": "1.2.3", "model": "commands", "mode": "command", "confirm": "on", "hops": 10, "looks": 9, "refusedLooks": 2, \
        "lookMilliseconds": {"longest": 8.25}, "events": 7, "webListen": ["tcp://127.0.0.1:8080"], "stateFolder": "/var/lib/beckon", "mqtt": {"events": 1, "off": true}, \
        "sensitivity": "balanced", "sensitivities": {"go": "eager", "no": "strict"}, "thresholds": {"yes": 0.700, "no": 0.960}, \
        "session": "computer", "sessions": [{"wake": "computer", "seconds": 5.0, "mode": "spot", \
        "thresholds": {"on": 0.500, "off": null}}], "newest": {"event": "word", "word": "yes", "confidence": 0.9712, \
        "start": 0.500, "end": 0.900, "time": 1.000, "sequence": 3, "device": "mic", "date": "2026-03-01T11:59:30.000Z", \
        "startDate": "2026-03-01T11:59:29.500Z", "endDate": "2026-03-01T11:59:29.900Z"}}
        """

    private static func date(_ text: String) throws -> Timestamp { try #require(Timestamp(text)) }

    private static func event(_ kind: Detection.Kind) throws -> DetectionEvent {
        DetectionEvent(
            Detection(kind: kind, index: 0, confidence: 0.9712, start: 0.5, end: 0.9, time: 1),
            sequence: 3,
            name: "yes",
            date: try date("2026-03-01T11:59:30.000Z"),
            device: "mic"
        )
    }

    @Test func `a status is written in the order that programs know`() throws {
        var status = ServiceStatus()
        var input = ServiceStatus.Input(state: "waiting")
        input.since = try Self.date("2026-03-01T10:00:00.000Z")
        (input.device, input.problem, input.rate, input.channels) = ("hw:CARD=Mic", "gone", 48_000, 2)
        (input.counts, input.channelsCancel) = ([.init("gaps", 1)], true)
        input.digitalSilenceSince = try Self.date("2026-03-01T11:00:00.000Z")
        var echo = ServiceStatus.Echo()
        (echo.state, echo.device, echo.problem) = ("lost", "hw:Loopback,1", "unplugged")
        echo.cancelledDecibels = 18.3
        input.echo = echo
        status.input = input
        status.instance = "kitchen"
        (status.version, status.model, status.mode) = ("1.2.3", "commands", "command")
        status.confirmation = "on"
        status.counts = [
            .init("hops", 10), .init("looks", 9), .init("refusedLooks", 2),
            .init("lookMilliseconds", ["longest": .number(8.25, places: 2)]), .init("events", 7),
        ]
        (status.webListen, status.stateFolder) = (["tcp://127.0.0.1:8080"], "/var/lib/beckon")
        status.parts = [.init("mqtt", ["events": 1, "off": true])]
        var choices = ThresholdChoices()
        choices.words = [
            "no": .sensitivity(.strict), "yes": .confidence(0.7), "go": .sensitivity(.eager),
            "up": .sensitivity(.eager),
        ]
        choices.disabled = ["up"]
        status.choices = ServiceStatus.Choices(choices)
        status.thresholds = [.init("yes", 0.7), .init("no", 0.96)]
        status.session = "computer"
        let session = WakeSession(
            name: "computer",
            wake: 2,
            words: [0, 1],
            thresholds: [0.5, nil],
            seconds: 5,
            endsWithWord: false,
            mode: .spot
        )
        status.sessions = [ServiceStatus.Session(session, labels: ["on", "off"])]
        status.newest = ServiceStatus.Newest(try Self.event(.word))
        #expect(ControlReply.status(status).json.description == Self.line)
        #expect(ControlReply.status(ServiceStatus()).json.description == #"{"ok": true}"#)
        var bare = ServiceStatus()
        choices = ThresholdChoices()
        choices.all = .confidence(0.5)
        bare.choices = ServiceStatus.Choices(choices)
        (bare.webListen, bare.thresholds, bare.sessions) = ([], [], [])
        #expect(
            ControlReply.status(bare).json.description == """
                {"ok": true, "webListen": [], "stateFolder": null, "sensitivity": null, "thresholds": {}, "session": null, \
                "sessions": []}
                """
        )
    }

    @Test func `a status reads back`() throws {
        guard case .status(let status) = try ControlReply(line: Self.line, to: .status) else {
            Issue.record("not a status")
            return
        }
        let input = try #require(status.input)
        #expect(input.state == "waiting" && input.device == "hw:CARD=Mic" && input.problem == "gone")
        #expect(input.since == (try Self.date("2026-03-01T10:00:00.000Z")))
        #expect(input.rate == 48_000 && input.channels == 2 && input.channelsCancel == true)
        #expect(input.digitalSilenceSince == (try Self.date("2026-03-01T11:00:00.000Z")))
        #expect(input.echo?.state == "lost" && input.echo?.device == "hw:Loopback,1")
        #expect(input.echo?.problem == "unplugged" && input.echo?.cancelledDecibels == 18.3)
        #expect(status.instance == "kitchen" && status.version == "1.2.3")
        #expect(status.model == "commands" && status.mode == "command")
        #expect(status.events == 7 && status.isMQTTOff)
        #expect(status.confirmation == "on" && status.looks == 9 && status.refusedLooks == 2)
        #expect(status.longestLook == 8.25)
        #expect(status.webListen == ["tcp://127.0.0.1:8080"] && status.stateFolder == "/var/lib/beckon")
        #expect(status.choices?.all == "balanced" && status.choices?.words == ["no": "strict", "go": "eager"])
        #expect(status.thresholds == [.init("yes", 0.7), .init("no", 0.96)] && status.session == "computer")
        #expect(status.sessions?.map(\.wake) == ["computer"])
        #expect(status.sessions?.first?.thresholds == [.init("on", 0.5), .init("off", nil)])
        let newest = try #require(status.newest)
        #expect(newest.name == "yes" && newest.confidence == 0.9712)
        #expect(newest.date == (try Self.date("2026-03-01T11:59:30.000Z")))
    }

    @Test func `members of other versions and of other types are no obstacle`() throws {
        let lines = [
            #"{"ok": true}"#,
            #"{"ok": true, "state": 1, "thresholds": [], "newest": {"word": "x"}, "later": {"a": [1]}}"#,
            #"{"ok": true, "sessions": [1], "mqtt": true, "webListen": {"a": 1}, "events": 1.5, "sensitivity": 3}"#,
        ]
        for line in lines {
            guard case .status(let status) = try ControlReply(line: line, to: .status) else {
                Issue.record("not a status: \(line)")
                continue
            }
            #expect(status.input == nil && status.newest == nil && status.events == nil && !status.isMQTTOff, "\(line)")
        }
    }

    @Test func `a reply is what its line says`() throws {
        let table: [(String, ControlReply)] = [
            (#"{"ok": true}"#, .done), (#"{"ok": true, "note": "a \"b\""}"#, .note("a \"b\"")),
            (#"{"ok": false, "error": "no"}"#, .failed("no")),
        ]
        for (line, reply) in table {
            #expect(try ControlReply(line: line, to: .reload) == reply)
            #expect(reply.json.description == line)
        }
        let bare = try ControlReply(line: #"{"ok": false}"#, to: .reload)
        #expect(bare == .failed("the service refused the command and gave no reason; check its log"))
        for line in ["", "[]", "{}", #"{"ok": 1}"#, "hello", "{ok: true}"] {
            #expect(throws: ControlError.socket, "\(line)") { try ControlReply(line: line, to: .status) }
        }
    }

    @Test func `the words of an answer read back`() throws {
        let words = [RecentWord(try Self.event(.nearMiss), number: 2), RecentWord(try Self.event(.word), number: 1)]
        let list = RecentWordList(words, folder: "/var/lib/beckon/misses", margin: 0.2)
        let reply = ControlReply.words(list)
        #expect(
            reply.json.description.hasPrefix(
                #"{"ok": true, "on": true, "dir": "/var/lib/beckon/misses", "margin": 0.200, "misses": [{"number": 2, "#
            )
        )
        let again = try ControlReply(line: reply.json.description, to: .misses)
        guard case .words(let read) = again else {
            Issue.record("not words")
            return
        }
        #expect(again.json == reply.json && read[1]?.isNear == false && read[2]?.isNear == true && read[3] == nil)
    }
}
