import Core
import Foundation
import Glibc
import Network
import Synchronization
import System
import TestSupport
import Testing
import WakeWords

@testable import ESPHome

/// Models of wake words that Home Assistant offers: what is fetched, refused and kept.
struct OfferTests {
    private static let folder = Checkout.path + "/Models/wake-words/"
    private let state: TestFolder

    init() throws { state = try TestFolder() }

    private static func file(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: folder + name)))
    }

    private static func offer(_ change: (inout OfferedWord) -> Void = { _ in }) throws -> OfferedWord {
        var word = try OfferedWord([])
        let model = try file("alexa.tflite")
        (word.id, word.phrase, word.kind, word.size) = ("alexa", "Alexa", "micro", model.count)
        let hash = try #require(Sodium.loaded).hash(model)
        word.hash = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        word.address = "http://home.invalid/words/alexa.json?x"
        change(&word)
        return word
    }

    private var kept: [String] { OfferedModels.manifests(in: state.path) }

    @Test func `a model is beside its manifest, whatever its name`() {
        let table = [
            ("http://h:1/a/b.json", "m.tflite", "http://h:1/a/m.tflite"),
            ("http://h/b.json?q=/x#y", "a b.tflite", "http://h/a%20b.tflite"),
            ("http://h/b", "ä%", "http://h/%C3%A4%25"),
        ]
        for (address, name, beside) in table { #expect(OfferedFetcher.address(of: name, beside: address) == beside) }
    }

    @Test(.enabled(if: Sodium.loaded != nil))
    func `offers that nothing could come of are left out`() throws {
        #expect(try Self.offer().isUsable && Self.offer().wordName == "alexa")
        let changes: [(inout OfferedWord) -> Void] = [
            { $0.phrase = "" }, { $0.phrase = "a\u{7}" }, { $0.kind = "openWakeWord" }, { $0.size = 0 },
            { $0.size = .max },
            { $0.hash = "12" }, { $0.address = "file:///etc/passwd" }, { $0.address = "" },
            { $0.phrase = String(repeating: "x", count: 201) },
        ]
        for change in changes { #expect(try !Self.offer(change).isUsable) }
        var desk = OfferDesk(state: state.path) { _ in }
        let machine = IPAddress("127.0.0.1")
        let many = try (0..<100).map { number in try Self.offer { $0.phrase = "word \(number)" } }
        desk.note(many, from: machine)
        #expect(desk.words.count == 32)
        // By a unix socket there is no machine.
        var other = OfferDesk(state: state.path) { _ in }
        other.note(many, from: nil)
        #expect(other.words.isEmpty)
    }

    @Test func `a model is kept if the reader can use it, and it is of the word`() throws {
        let (json, model) = (try Self.file("alexa.json"), try Self.file("alexa.tflite"))
        try OfferedModels.keep("aa", "alexa", json: json, model: model, in: state.path)
        try OfferedModels.keep("aa", "alexa", json: json, model: model, in: state.path)
        #expect(kept == [state.path + "/offered-words/aa/word.json"])
        #expect(try WakeWord(path: #require(kept.first)).name == "alexa")
        for (id, bytes) in [("hey jarvis", model), ("alexa", Array(model.prefix(1000))), ("alexa", [])] {
            #expect(throws: OfferProblem.self) {
                try OfferedModels.keep("bb", id, json: json, model: bytes, in: state.path)
            }
        }
        let named = Array(String(decoding: json, as: UTF8.self).replacing("alexa.tflite", with: "../../x").utf8)
        #expect(throws: OfferProblem.self) {
            try OfferedModels.keep("cc", "alexa", json: named, model: model, in: state.path)
        }
        #expect(kept.count == 1 && namesInFolder(state.path + "/offered-words", hidden: true) == ["aa"])
        #expect(!OfferedModels.keepOnly(["alexa"], in: state.path) && kept.count == 1)
        #expect(OfferedModels.keepOnly(["other"], in: state.path) && kept.isEmpty)
        #expect(OfferedModels.manifests(in: nil).isEmpty)
    }

    /// A server with the files of the shipped models, and one that leads elsewhere.
    private func serve(_ asked: Asked) throws -> AnsweringServer {
        try AnsweringServer { connection in
            var piece = [UInt8](repeating: 0, count: 65_536)
            let count = max(0, recv(connection, &piece, piece.count, 0))
            let request = String(decoding: piece.prefix(count), as: UTF8.self)
            asked.requests.withLock { $0.append(request) }
            let path = request.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            let name = path.split(separator: "/").last.map { String($0.prefix { $0 != "?" }) } ?? ""
            if path.hasPrefix("/moved/") {
                _ = AnsweringServer.send(
                    connection,
                    Array("HTTP/1.1 302 Found\r\nLocation: /words/\(name)\r\nContent-Length: 0\r\n\r\n".utf8)
                )
                return
            }
            let body = (try? Self.file(name)) ?? []
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
            _ = AnsweringServer.send(connection, Array(head.utf8) + body)
        }
    }

    private final class Asked: Sendable {
        let requests = Mutex<[String]>([])
        let results = Mutex<[OfferedFetcher.Result]>([])
    }

    @Test(.enabled(if: Sodium.loaded != nil))
    func `a model is fetched from the machine that offers it alone, and refused if it is another than was said`() throws
    {
        let asked = Asked()
        let server = try serve(asked)
        let sodium = try #require(Sodium.loaded)
        let fetcher = try OfferedFetcher(state: state.path, sodium) { result in
            asked.results.withLock { $0.append(result) }
        }
        defer { fetcher.end(until: nil) }
        let machine = try #require(IPAddress("127.0.0.1"))
        func fetch(_ change: (inout OfferedWord) -> Void = { _ in }) throws -> OfferedFetcher.Result {
            let count = asked.results.withLock { $0.count }
            fetcher.fetch(
                try Self.offer { word in
                    // A name that no name server knows.
                    word.address = "http://home.invalid:\(server.port)/words/alexa.json?x"
                    change(&word)
                },
                from: machine
            )
            #expect(comesTrue(within: 60) { asked.results.withLock { $0.count } > count })
            return try #require(asked.results.withLock { $0.last })
        }
        #expect(try fetch { $0.size += 1 }.problem?.contains("bytes, not") == true)
        #expect(try fetch { $0.size -= 1 }.problem != nil)
        #expect(try fetch { $0.hash = String(repeating: "0", count: 64) }.problem?.contains("SHA-256") == true)
        #expect(try fetch { $0.phrase = "Hey Jarvis" }.problem == "it is of the word 'alexa'")
        #expect(
            try fetch { $0.address = "http://home.invalid:\(server.port)/moved/alexa.json" }.problem != nil,
            "a redirect is not followed"
        )
        #expect(kept.isEmpty)
        #expect(try fetch() == OfferedFetcher.Result(id: "alexa"))
        #expect(kept.count == 1)
        let requests = asked.requests.withLock { $0 }
        #expect(requests.allSatisfy { $0.contains("Host: home.invalid:\(server.port)") })
    }
}
