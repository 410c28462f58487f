import Actions
import Audio
import Configuration
import Control
import Core
import Events
import Foundation
import Glibc
import Inference
import IntegrationInterface
import JSON
import Metrics
import Network
import Synchronization
import System
import TestSupport
import Testing

@testable import Spotting
@testable import Web

/// The server with real sockets.
struct WebServerTests {
    /// A service that is none: it notes commands, and answers as told.
    private final class FakeService: Sendable {
        struct State {
            var live = LiveState()
            var problem: String?
            var commands: [ControlCommand] = []
            var reply: ControlReply? = .done
            var later: (@Sendable (ControlReply) -> Void)?
            var clientWords: [ClientWord]?
            var clients: [StreamClient]?
            var satelliteKey: SatelliteKey?
        }

        let state = Mutex(State())
        let history = AudioHistory()
        let log = Lines()
        let settings: ServiceSettings

        init() throws {
            settings = try ServiceSettings(Configuration(), Vocabulary(try Model(folder: Checkout.model)))
            state.withLock { state in
                state.live.source = "hw:CARD=Test"
                state.live.isMuted = false
                state.live.level = -31.5
                state.live.echoReduction = 18.24
                state.live.confirmation = .on
                state.live.classes = [
                    .init(name: "stop", kind: .word, score: 0.875, threshold: 0.75, isInSession: false),
                    .init(name: "_silence_", kind: .special, score: 0.001, threshold: nil, isInSession: false),
                ]
            }
        }

        /// Appends hops of a constant level.
        func play(hops: Int, level: Float = 0.5) {
            let window = [Float](repeating: level, count: AudioFormat.windowSamples)
            for _ in 0..<hops { history.add(window.span) }
        }
    }

    private struct Interface: Service {
        var teaching: TeachingState? {
            var state = TeachingState()
            state.word = "computer"
            state.typed = ["hey house"]
            var typing = TypedWordState(word: "hey door")
            typing.pronunciations = [.init(sounds: "h eɪ d ɔ ɹ", isPlayable: true)]
            typing.expected = [.init(sensitivity: .strict, found: 0.8441, falseAcceptsPerHour: 0.154)]
            (typing.remarks, typing.refusal) = (["Nearest"], "too near")
            state.typing = typing
            state.takes = [TeachingState.Take(seconds: 0.62, level: -23.4, envelope: [0, 1])]
            return state
        }
        var clientWords: [ClientWord]? { fake.state.withLock { $0.clientWords } }
        var clients: [StreamClient]? { fake.state.withLock { $0.clients } }
        func live(ofClient number: Int) -> (state: LiveState, history: AudioHistory)? {
            guard let client = clients?.first(where: { $0.number == number }) else { return nil }
            var live = live
            (live.source, live.level) = (client.name, -20)
            return (live, fake.history)
        }
        var satelliteKey: SatelliteKey? { fake.state.withLock { $0.satelliteKey } }
        func take(_ number: Int) -> [Float]? { number == 0 ? [Float](repeating: 0.25, count: 800) : nil }

        let fake: FakeService
        let hasDetector: Bool

        var machine: String { "kitchen" }
        var log: ServiceLog { ServiceLog { [log = fake.log] in log.add("\($0) \($1)") } }
        var share: MachineShare { MachineShare() }
        var history: AudioHistory? { hasDetector ? fake.history : nil }
        var currentSettings: ServiceSettings { fake.settings }
        var state: ServiceState { ServiceState(fake.settings, isMuted: false, hasAudio: true, level: nil) }
        var live: LiveState { fake.state.withLock { $0.live } }
        var metrics: [MetricFamily] { [.counters("beckon_detections", "Words.", [([.init("word", "stop")], 3)])] }
        var problem: String? { fake.state.withLock { $0.problem } }

        func perform(_ command: ControlCommand, _ later: @escaping @Sendable (ControlReply) -> Void) -> ControlReply? {
            fake.state.withLock { state in
                state.commands.append(command)
                if state.reply == nil { state.later = later }
                return state.reply
            }
        }
    }

    private struct Options {
        var web = Configuration.Web()
        var limits = HTTPLoop.Limits()
    }

    private struct Running {
        let fake: FakeService
        let server: WebServer
        let address: ListenAddress
        let folder: TestFolder
        var token: String { (try? WebToken.read(in: folder.path)) ?? "" }
        var header: String { "\(WebToken.header): \(token)" }
    }

    private func start(
        _ address: ListenAddress = .tcp(host: "127.0.0.1", port: 0),
        hasDetector: Bool = true,
        clients: [StreamClient]? = nil,
        _ change: (inout Options) -> Void = { _ in }
    ) throws -> Running {
        let (fake, folder) = (try FakeService(), try TestFolder())
        fake.state.withLock { $0.clients = clients }
        var options = Options()
        options.web.listen = [address]
        change(&options)
        let server = try WebServer(
            options.web,
            Interface(fake: fake, hasDetector: hasDetector),
            stateFolder: folder.path,
            limits: options.limits
        )
        let running = Running(fake: fake, server: server, address: try #require(server.addresses.first), folder: folder)
        // The token is made before the first connection is taken.
        #expect(try WebPeer(running.address).ask("GET /healthz").status == 200)
        return running
    }

    private static let json = "Content-Type: application/json"

    @Test func `metrics, health and the page are served over TCP, IPv6 and unix sockets`() throws {
        let folder = try TestFolder()
        for address in [
            ListenAddress.tcp(host: "127.0.0.1", port: 0), .tcp(host: "::1", port: 0),
            .unix(path: folder.file("web.socket")),
        ] {
            let running = try start(address)
            let peer = try WebPeer(running.address)
            let metrics = try peer.ask("GET /metrics")
            #expect(
                metrics.status == 200 && metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
            )
            #expect(metrics.body.hasSuffix("beckon_detections_total{word=\"stop\"} 3\n"))
            // On the same connection.
            let open = try peer.ask("GET /metrics", ["Accept: application/openmetrics-text; version=1.0.0"])
            #expect(open.headers["content-type"]?.hasPrefix("application/openmetrics-text; version=1.0.0") == true)
            #expect(open.body.hasSuffix("# EOF\n"))
            let health = try peer.ask("GET /healthz")
            #expect(health.status == 200 && health.body == "ok\n")
            let page = try peer.ask("GET /")
            #expect(page.status == 200 && page.body.hasPrefix("<!DOCTYPE html>") && page.body.hasSuffix("</html>\n"))
            let head = try peer.ask("HEAD /")
            #expect(
                head.status == 200 && head.body == ""
                    && head.headers["content-length"] == page.headers["content-length"]
            )
            #expect(running.server.stop(until: Clock.now + .seconds(10)))
            #expect(try peer.isClosed())
        }
    }

    @Test func `every answer says that it is not to be kept, guessed, framed or handed on`() throws {
        let running = try start()
        for path in ["/", "/metrics", "/healthz", "/nothing"] {
            let headers = try WebPeer(running.address).ask("GET \(path)").headers
            #expect(headers["cache-control"] == "no-store" && headers["x-content-type-options"] == "nosniff")
            #expect(headers["x-frame-options"] == "DENY" && headers["referrer-policy"] == "no-referrer")
            #expect(headers["cross-origin-resource-policy"] == "same-origin")
            #expect(headers["content-security-policy"]?.contains("frame-ancestors 'none'") == true, "\(path)")
        }
        running.server.stop()
    }

    @Test func `readiness tells why not`() throws {
        let running = try start()
        let peer = try WebPeer(running.address)
        #expect(try peer.ask("GET /readyz").status == 200)
        running.fake.state.withLock { $0.problem = "no block was scored for 7 s" }
        let answer = try peer.ask("GET /readyz", ["Host: monitor.example"])
        #expect(answer.status == 503 && answer.body == "not ready: no block was scored for 7 s\n")
        running.server.stop()
    }

    @Test func `requests from elsewhere are refused before they do anything`() throws {
        let running = try start()
        for (line, headers, status) in [
            ("GET /", ["Host: evil.example"], 421), ("GET /metrics", ["Host: evil.example:80"], 421),
            ("GET /live", ["Origin: http://evil.example"], 403), ("GET /live", ["Sec-Fetch-Site: cross-site"], 403),
            ("POST /control", [Self.json], 403), ("POST /control", [Self.json, "X-Beckon-Token: 1"], 403),
            ("POST /control", [Self.json, running.header, "Origin: http://evil.example"], 403),
            ("POST /control", ["Content-Type: text/plain", running.header], 415), ("GET /control", [], 405),
            ("BREW /", [], 405), ("GET /../etc/passwd", [], 404),
        ] as [(String, [String], Int)] {
            let body = line.hasPrefix("POST") ? "{\"command\": \"mute\"}" : nil
            #expect(try WebPeer(running.address).ask(line, headers, body: body).status == status, "\(line) \(headers)")
        }
        #expect(running.fake.state.withLock { $0.commands.isEmpty })
        running.server.stop()
    }

    @Test func `changes with the token are carried out, and answered at once or later`() throws {
        let running = try start()
        let peer = try WebPeer(running.address)
        let headers = [Self.json, running.header, "Origin: http://127.0.0.1:1", "Sec-Fetch-Site: same-origin"]
        let set = try peer.ask("POST /control", headers, body: "{\"command\": \"set\", \"words\": {\"stop\": 0.8}}")
        #expect(
            set.status == 200 && set.body == "{\"ok\": true}\n" && set.headers["content-type"] == "application/json"
        )
        running.fake.state.withLock { $0.reply = .failed("no microphone") }
        let mute = try peer.ask("POST /control", headers, body: "{\"command\": \"mute\"}")
        #expect(mute.status == 400 && mute.body == "{\"ok\": false, \"error\": \"no microphone\"}\n")
        running.fake.state.withLock { $0.reply = nil }
        peer.request("POST /control", headers, body: "{\"command\": \"reload\"}")
        #expect(comesTrue(within: 30) { running.fake.state.withLock { $0.later != nil } })
        running.fake.state.withLock { $0.later }?(.note("later"))
        #expect(try peer.response().body == "{\"ok\": true, \"note\": \"later\"}\n")
        // A client that has gone before its answer harms nobody.
        do {
            let gone = try WebPeer(running.address)
            running.fake.state.withLock { $0.later = nil }
            gone.request("POST /control", headers, body: "{\"command\": \"reload\"}")
            #expect(comesTrue(within: 30) { running.fake.state.withLock { $0.later != nil } })
        }
        running.fake.state.withLock { $0.later }?(.done)
        #expect(try WebPeer(running.address).ask("GET /healthz").status == 200)
        let change = ThresholdChange(words: ["stop": .confidence(0.8)])
        #expect(running.fake.state.withLock { $0.commands } == [.set(change), .mute, .reload, .reload])
        running.server.stop()
    }

    @Test func `bodies that are not command are refused`() throws {
        let running = try start()
        for (body, status) in [
            ("", 400), ("mute", 400), ("{\"command\": \"events\"}", 400), ("{\"command\": \"fly\"}", 400), ("{", 400),
            ("{\"command\": \"set\", \"words\": {\"stop\": 2}}", 400),
            ("{\"command\": \"mute\"}" + String(repeating: " ", count: 5000), 413),
        ] {
            let answer = try WebPeer(running.address).ask("POST /control", [Self.json, running.header], body: body)
            #expect(answer.status == status, "\(body.prefix(40))")
        }
        // A length is not needed, and does not help.
        let chunked = try WebPeer(running.address)
        let piece = String(repeating: " ", count: 0x400)
        chunked.send(
            "POST /control HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\n\(running.header)\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: "400\r\n\(piece)\r\n", count: 6)
                + "0\r\n\r\n"
        )
        #expect(try chunked.response().status == 413)
        #expect(running.fake.state.withLock { $0.commands.isEmpty })
        running.server.stop()
    }

    @Test func `a proxy that is named gets page, stream and changes in a frame, by any name, without a token`() throws {
        let running = try start { $0.web.proxies = [IPAddress("127.0.0.1")].compactMap(\.self) }
        let asks = ["Host: house.example", "Origin: https://house.example"]
        let peer = try WebPeer(running.address)
        let page = try peer.ask("GET /", asks)
        #expect(page.status == 200 && page.headers["x-frame-options"] == "SAMEORIGIN")
        #expect(page.headers["content-security-policy"]?.hasSuffix("frame-ancestors 'self'") == true)
        let change = try peer.ask("POST /control", asks + [Self.json], body: "{\"command\": \"mute\"}")
        #expect(change.status == 200 && running.fake.state.withLock { $0.commands } == [.mute])
        running.fake.play(hops: 3)
        peer.request("GET /live", asks)
        #expect(try peer.response().headers["content-type"] == "application/octet-stream")
        #expect(try peer.message() == ("access", "{\"token\": true, \"proxy\": true}"))
        #expect(try peer.message("sound") != "")
        running.server.stop()

        let other = try start { $0.web.proxies = [IPAddress("127.0.0.2")].compactMap(\.self) }
        for path in ["/", "/live"] { #expect(try WebPeer(other.address).ask("GET \(path)").status == 403) }
        #expect(try WebPeer(other.address).ask("GET /metrics").status == 200)
        other.server.stop()
    }

    // MARK: - The live page's stream

    @Test func `a page gets words, state and events, and with the token the sound`() throws {
        let running = try start()
        running.fake.play(hops: 25)
        let event = DetectionEvent(
            Detection(kind: .word, index: 0, confidence: 0.875, start: 1, end: 1.5, time: 1.75),
            sequence: 1,
            name: "stop",
            date: Timestamp(microseconds: 0),
            device: "mic"
        )
        let peer = try WebPeer(running.address)
        peer.request("GET /live")
        let head = try peer.response()
        #expect(head.status == 200 && head.headers["content-type"] == "text/event-stream")
        #expect(try peer.message() == ("access", "{\"token\": false}"))
        let service = try peer.message("service")
        #expect(service.contains("\"machine\": \"kitchen\"") && service.contains("\"confirm\": \"on\""))
        #expect(
            service.contains("{\"name\": \"stop\", \"kind\": \"word\", \"threshold\": 0.750, \"inSession\": false}")
        )
        let state = try peer.message("state")
        #expect(state.contains("\"source\": \"hw:CARD=Test\"") && state.contains("\"level\": -31.5"))
        #expect(state.contains("\"echo\": 18.2"))
        // Small scores are left out.
        #expect(state.contains("\"scores\": [[0, 0.875]]"))
        running.server.receive(event)
        #expect(try peer.message("heard") == "\(event.json)")
        running.server.withheld(event, .yielded(to: "hall"))
        #expect(try peer.message("heard") == "\(event.json(withheld: .yielded(to: "hall")))")
        for _ in 0..<10 { #expect(try peer.message().event != "sound") }

        let second = try WebPeer(running.address)
        second.request("GET /live", [running.header])
        _ = try second.response()
        #expect(try second.message() == ("access", "{\"token\": true}"))
        // A new page gets the sound, and the last events, which are marked in it, before the first state.
        let first = try (0..<5).map { _ in try second.message() }
        #expect(
            first.map(\.event) == ["service", "sound", "heard", "heard", "state"] && first[2].data == "\(event.json)"
        )
        let sound = first[1].data
        #expect(sound.hasPrefix("{\"first\": 0, \"bands\": 40, \"columnSeconds\": 0.012500, \"data\": \""))
        running.fake.play(hops: 2)
        #expect(try second.message("sound").hasPrefix("{\"first\": 200,"))
        #expect(running.server.stop(until: Clock.now + .seconds(10)))
    }

    @Test func `a page shows a client of the wake-word server, and what all of them say`() throws {
        let kitchen = StreamClient(number: 3, name: "Kitchen", isStreaming: true)
        let running = try start(hasDetector: false, clients: [kitchen])
        running.fake.play(hops: 25)
        let event = DetectionEvent(
            Detection(kind: .word, index: 0, confidence: 0.875, start: 1, end: 1.5, time: 1.75),
            sequence: 1,
            name: "stop",
            date: Timestamp(microseconds: 0),
            device: "10.0.0.1",
            client: "Kitchen"
        )
        let peer = try WebPeer(running.address)
        peer.request("GET /live/3", [running.header])
        #expect(try peer.response().status == 200)
        let service = try peer.message("service")
        #expect(service.contains("\"microphone\": false"))
        #expect(service.contains("\"clients\": [{\"number\": 3, \"name\": \"Kitchen\", \"streaming\": true}]"))
        #expect(try peer.message("sound").hasPrefix("{\"first\": 0,"))
        let state = try peer.message("state")
        #expect(state.contains("\"source\": \"Kitchen\"") && state.contains("\"level\": -20.0"))
        running.server.receive(event)
        #expect(try peer.message("heard").contains("\"client\": \"Kitchen\""))
        // Without the token there is no sound; a client that is not there has nothing.
        let other = try WebPeer(running.address)
        other.request("GET /live/9")
        #expect(try other.response().status == 200)
        #expect(try other.message("state").contains("\"problem\": \"this client is gone\""))
        // What it says was told before it came, too.
        let third = try WebPeer(running.address)
        third.request("GET /live/3")
        _ = try third.response()
        #expect(try third.message("heard").contains("Kitchen"))
        running.server.stop()
    }

    @Test func `another threshold reaches the pages that are open`() throws {
        let running = try start()
        let peer = try WebPeer(running.address)
        peer.request("GET /live")
        _ = try peer.response()
        #expect(try peer.message("service").contains("\"threshold\": 0.750"))
        running.fake.state.withLock { $0.live.classes[0].threshold = 0.5 }
        #expect(try peer.message("service").contains("\"threshold\": 0.500"))
        running.server.stop()
    }

    @Test func `another token ends the pages that were opened with the old one`() throws {
        let running = try start()
        let peer = try WebPeer(running.address)
        peer.request("GET /live", [running.header])
        _ = try peer.response()
        _ = try WebToken.obtain(in: running.folder.path, renews: true)
        #expect(throws: WebPeer.Failure.self) { while true { _ = try peer.message() } }
        #expect(try WebPeer(running.address).ask("GET /healthz").status == 200)
        running.server.stop()
    }

    @Test func `without a detector there is no page, and no token is made`() throws {
        let running = try start(hasDetector: false)
        let answer = try WebPeer(running.address).ask("GET /")
        #expect(answer.status == 404 && answer.body.hasSuffix("there are /metrics, /healthz and /readyz\n"))
        #expect(try WebToken.read(in: running.folder.path) == nil)
        running.server.stop()
    }

    @Test func `the teaching is told, its takes are handed out and its steps carried out, with the token alone`() throws
    {
        let running = try start()
        let peer = try WebPeer(running.address)
        let told = try peer.ask("GET /teaching", [running.header])
        #expect(told.status == 200 && told.headers["content-type"] == "application/json")
        #expect(
            told.body.contains(
                #""word": "computer", "before": 0, "wanted": 0, "takes": [{"seconds": 0.62, "level": -23,"#
            )
        )
        #expect(
            told.body.contains(
                #""typed": ["hey house"], "typing": {"word": "hey door", "pronunciations": [{"sounds": "h eɪ d ɔ ɹ", "playable": true}], "#
                    + #""expected": [{"sensitivity": "strict", "found": 0.844, "falseAcceptsPerHour": 0.15}], "remarks": ["Nearest"], "#
                    + #""refusal": "too near", "silence": null}"#
            ),
            "\(told.body)"
        )
        let sound = try peer.ask("GET /teaching/0.wav", [running.header])
        #expect(sound.status == 200 && sound.headers["content-type"] == "audio/wav" && sound.body.hasPrefix("RIFF"))
        #expect(try peer.ask("GET /teaching/1.wav", [running.header]).status == 404)
        for path in ["/teaching", "/teaching/0.wav"] {
            #expect(try WebPeer(running.address).ask("GET \(path)").status == 403)
            #expect(try WebPeer(running.address).ask("GET \(path)", ["\(WebToken.header): 00"]).status == 403)
        }
        let body = "{\"command\": \"teach\", \"step\": \"record\"}"
        #expect(try WebPeer(running.address).ask("POST /control", [Self.json], body: body).status == 403)
        #expect(running.fake.state.withLock { $0.commands }.isEmpty)
        let step = try WebPeer(running.address).ask("POST /control", [Self.json, running.header], body: body)
        #expect(step.status == 200 && running.fake.state.withLock { $0.commands } == [.teach(.record)])
        #expect(running.server.stop(until: Clock.now + .seconds(10)))
    }

    @Test func `the key of the voice satellite is shown to those who have the token`() throws {
        let running = try start()
        defer { running.server.stop() }
        #expect(try WebPeer(running.address).ask("GET /esphome", [running.header]).status == 404)
        let key = SatelliteKey(name: "kitchen", key: "c2VjcmV0", modules: [[true, false], [false, false]])
        running.fake.state.withLock { $0.satelliteKey = key }
        let peer = try WebPeer(running.address)
        let shown = try peer.ask("GET /esphome", [running.header])
        #expect(shown.status == 200 && shown.headers["cache-control"] == "no-store")
        #expect(
            shown.body.filter { !$0.isWhitespace }
                == #"{"name":"kitchen","key":"c2VjcmV0","modules":["10","00"]}"#
        )
        #expect(try peer.ask("GET /esphome").status == 403)
    }

    @Test func `near misses are listed, and their recordings handed out by number`() throws {
        let running = try start()
        let clip = try running.folder.write("clip.wav", bytes: Array("RIFF".utf8))
        func entry(_ number: Int, _ clip: JSON) -> JSON {
            [
                "number": .number(number), "event": "word", "word": "stop", "confidence": .shortest(0.9),
                "date": "2026-03-01T10:00:00.000Z", "clip": clip,
            ]
        }
        let entries = [
            entry(3, .string(clip)), entry(2, .null), entry(1, .string(running.folder.file("gone.wav"))),
        ]
        let list = RecentWordList(try JSONNode.parse("\(["on": true, "misses": .array(entries)] as JSON)"))
        running.fake.state.withLock { $0.reply = .words(list) }
        let peer = try WebPeer(running.address)
        let listed = try peer.ask("GET /misses", [running.header])
        #expect(
            listed.status == 200 && listed.body.hasPrefix("{\"ok\": true, \"on\": true, ")
                && listed.body.contains("\"misses\": [{\"number\": 3,")
        )
        let sound = try peer.ask("GET /misses/3.wav", [running.header])
        #expect(sound.status == 200 && sound.body == "RIFF" && sound.headers["content-type"] == "audio/wav")
        for number in [1, 2, 4] {
            #expect(try peer.ask("GET /misses/\(number).wav", [running.header]).status == 404)
        }
        for name in ["-3", "+3", "0x3", "%D9%A3", "3.0", "9223372036854775808"] {
            #expect(
                try WebPeer(running.address).ask("GET /misses/\(name).wav", [running.header]).status == 404,
                "\(name)"
            )
        }
        #expect(try peer.ask("GET /misses/3.wav").status == 403)
        running.server.stop()
    }

    @Test func `words of satellites are listed and heard with the token alone`() throws {
        let running = try start()
        running.fake.state.withLock { $0.reply = .words(RecentWordList([], folder: nil, margin: 0.2)) }
        let peer = try WebPeer(running.address)
        #expect(try peer.ask("GET /misses", [running.header]).body.contains("clients") == false)
        let words = (1...2).map { number in
            ClientWord(
                number: number,
                client: "kitchen",
                word: "stop",
                isNear: number == 2,
                confidence: 0.5,
                threshold: 0.625,
                date: Timestamp(microseconds: 0),
                samples: [Int16](repeating: 1000, count: 800)
            )
        }
        running.fake.state.withLock { $0.clientWords = words }
        let listed = try peer.ask("GET /misses", [running.header])
        #expect(
            listed.body.contains(
                #""clients": [{"number": 2, "event": "near-miss", "word": "stop", "confidence": 0.5000, "threshold": 0.6250, "#
                    + #""date": "1970-01-01T00:00:00.000Z", "client": "kitchen", "clip": true}, {"number": 1, "event": "word","#
            ),
            "\(listed.body)"
        )
        let sound = try peer.ask("GET /clients/2.wav", [running.header])
        #expect(sound.status == 200 && sound.headers["content-type"] == "audio/wav" && sound.body.hasPrefix("RIFF"))
        #expect(try peer.ask("GET /clients/3.wav", [running.header]).status == 404)
        for path in ["/misses", "/clients/2.wav"] {
            let other = try WebPeer(running.address).ask("GET \(path)")
            #expect(other.status == 403 && !other.body.contains("kitchen"))
            #expect(try WebPeer(running.address).ask("GET \(path)", ["\(WebToken.header): 00"]).status == 403)
        }
        // A page that is open learns that there is a new one, and no more.
        let page = try WebPeer(running.address)
        #expect(page.request("GET /live"))
        #expect(try page.response(hasBody: false).status == 200)
        _ = try page.message("state")
        running.fake.state.withLock { $0.clientWords = Array(words.prefix(1)) }
        #expect(try page.message("misses") == "{}")
        running.server.stop()
    }

    // MARK: - Clients that mean harm, or are broken

    @Test func `connections beyond the limit are refused, and taken again when others have ended`() throws {
        let running = try start {
            $0.limits.connections = 3
            $0.limits.reserved = 0
        }
        var pages = try (0..<3).map { _ in try WebPeer(running.address) }
        for page in pages { #expect(try page.ask("GET /live").status == 200) }
        #expect(try WebPeer(running.address).response().status == 503)
        pages.removeFirst()
        #expect(comesTrue(within: 30) { (try? WebPeer(running.address).ask("GET /healthz").status) == 200 })
        running.server.stop()
    }

    @Test func `a crowd that sends no whole head keeps nobody out`() throws {
        let running = try start { $0.limits.timeout = .seconds(600) }
        let page = try WebPeer(running.address)
        #expect(try page.ask("GET /live").status == 200)
        let crowd = try (0..<200).map { index in
            let peer = try WebPeer(running.address)
            if index % 2 == 0 { peer.send("GET /healthz HTTP/1.1\r\nHost: loc") }
            return peer
        }
        for _ in 0..<5 { #expect(try WebPeer(running.address).ask("GET /readyz").status == 200) }
        #expect(try WebPeer(running.address).ask("GET /").status == 200)
        // Who is served stays.
        _ = try page.message("state")
        #expect(crowd.count == 200)
        running.server.stop()
    }

    @Test func `monitors are answered while all other places are taken`() throws {
        let running = try start {
            $0.limits.connections = 6
            $0.limits.perPeer = 4
        }
        let pages = try (0..<4).map { _ in try WebPeer(running.address) }
        for page in pages { #expect(try page.ask("GET /live").status == 200) }
        // More than are reserved, one after the other.
        for _ in 0..<20 {
            for path in ["/healthz", "/readyz"] {
                let peer = try WebPeer(running.address)
                let answer = try peer.ask("GET \(path)")
                #expect(answer.status == 200)
                #expect(try peer.isClosed(), "its place is for the next one")
            }
            #expect(try WebPeer(running.address).ask("GET /").status == 503)
        }
        running.server.stop()
    }

    @Test func `a crowd that connects again and again keeps no monitor out`() throws {
        let running = try start { $0.limits.connections = 6 }
        let address = running.address
        let isOver = Mutex(false)
        // Each is made again as soon as it is ended.
        for _ in 0..<40 {
            Thread.detachNewThread {
                while !isOver.withLock({ $0 }) {
                    guard let peer = try? WebPeer(address) else { continue }
                    _ = try? peer.isClosed()
                }
            }
        }
        #expect(comesTrue(within: 30) { !running.server.counts.json.description.contains("\"silent\": 0") })
        for path in ["/healthz", "/readyz", "/healthz", "/readyz", "/healthz"] {
            #expect(try WebPeer(address).ask("GET \(path)").status == 200, "\(path)")
        }
        isOver.withLock { $0 = true }
        running.server.stop()
    }

    @Test func `a page that reads nothing is ended as if there were no room for it, and gives up its place`() throws {
        let running = try start {
            $0.limits.timeout = .seconds(1)
            $0.limits.streams = 2
        }
        let deaf = try (0..<2).map { _ in try WebPeer(running.address) }
        for peer in deaf { peer.request("GET /live") }
        // Far less was sent than the system keeps for a client. The second is looked at when a third page finds no place.
        #expect(
            comesTrue(within: 30) {
                guard let next = try? WebPeer(running.address), (try? next.ask("GET /live").status) == 200 else {
                    return false
                }
                return (0..<30).allSatisfy { _ in (try? next.message("state")) != nil }
            }
        )
        #expect(!running.server.counts.json.description.contains("\"slow\": 0"))
        running.server.stop()
    }

    @Test func `pages beyond their limit are refused`() throws {
        let running = try start { $0.limits.streams = 2 }
        let peers = try (0..<3).map { _ in try WebPeer(running.address) }
        for (peer, status) in zip(peers, [200, 200, 503]) { #expect(try peer.ask("GET /live").status == status) }
        running.server.stop()
    }

    @Test func `who sends no request, or a slow one, is disconnected`() throws {
        let running = try start { $0.limits.timeout = .seconds(1) }
        let silent = try WebPeer(running.address)
        let half = try WebPeer(running.address)
        half.send(
            "POST /control HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\n\(running.header)\r\nContent-Length: 100\r\n\r\n{"
        )
        let slow = try WebPeer(running.address)
        slow.send("GET / HTTP/1.1\r\nX-A: ")
        var sent = 0
        // A byte now and then does not help.
        while sent < 200, slow.send("a") {
            sent += 1
            usleep(30_000)
        }
        #expect(sent < 200)
        #expect(try silent.isClosed() && half.isClosed())
        #expect(comesTrue(within: 30) { running.server.counts.json.description.contains("\"silent\": ") })
        let idle = try WebPeer(running.address)
        #expect(try idle.ask("GET /healthz").status == 200)
        #expect(try idle.isClosed())
        running.server.stop()
    }

    @Test func `who does not read is disconnected, and delays nobody`() throws {
        let running = try start { $0.limits.timeout = .seconds(1) }
        let stuck = try WebPeer(running.address)
        var size: Int32 = 2048
        setsockopt(stuck.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        stuck.request("GET /live", [running.header])
        #expect(
            comesTrue(within: 60) {
                running.fake.play(hops: 50)
                guard (try? WebPeer(running.address).ask("GET /healthz").status) == 200 else { return false }
                return running.server.counts.json.description.contains("\"slow\": 1")
            }
        )
        running.server.stop()
    }

    @Test func `what is not HTTP is refused, and the server goes on`() throws {
        let running = try start()
        for text in [
            "{\"type\": \"describe\"}\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\0\0\0\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET /" + String(repeating: "a", count: 40_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + String(repeating: "a", count: 40_000) + "\r\n\r\n",
            "POST /control HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
            "POST /control HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
        ] {
            let peer = try WebPeer(running.address)
            peer.send(text)
            shutdown(peer.descriptor, Int32(SHUT_WR))
            #expect(try peer.isClosed(), "\(text.prefix(40))")
        }
        #expect(try WebPeer(running.address).ask("GET /healthz").status == 200)
        #expect(running.fake.state.withLock { $0.commands.isEmpty })
        running.server.stop()
    }

    @Test func `an address that is taken is refused with advice`() throws {
        let running = try start()
        do throws(SocketError) {
            var web = Configuration.Web()
            web.listen = [running.address]
            let service = Interface(fake: running.fake, hasDetector: true)
            _ = try WebServer(web, service, stateFolder: nil)
            Issue.record("two servers at \(running.address)")
        } catch {
            #expect(error.description.contains("Address already in use; another program listens there"))
        }
        running.server.stop()
    }
}
