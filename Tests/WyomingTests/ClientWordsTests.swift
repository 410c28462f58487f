import Configuration
import Core
import Events
import IntegrationInterface
import JSON
import Network
import System
import TestSupport
import Testing

@testable import Spotting
@testable import Wyoming

/// What is kept of clients' words.
struct ClientWordsTests {
    private static func words(keep: Int, quota: Int = 20) -> ClientWords {
        var settings = Configuration.Wyoming.Recent()
        (settings.keep, settings.quota) = (keep, quota)
        return ClientWords(settings)
    }

    private static let clients = WakeClients(["192.168.1.20": "kitchen", "::ffff:192.168.1.21": "hall"])

    private static func peer(_ address: String) throws -> Network.Peer {
        Network.Peer(try #require(IPAddress(address)))
    }

    private static func entry(_ number: Int, _ client: String, samples: Int = 16000) -> ClientWord {
        ClientWord(
            number: number,
            client: client,
            word: "stop",
            isNear: false,
            confidence: 0.9,
            threshold: 0.5,
            date: Timestamp.now,
            samples: [Int16](repeating: 0, count: samples)
        )
    }

    @Test func `each client has its own newest words`() {
        let words = Self.words(keep: 2)
        for client in ["a", "b", "a", "a", "a"] { words.add { Self.entry($0, client) } }
        #expect(words.list.map(\.client) == ["b", "a", "a"] && words.list.map(\.number) == [2, 4, 5])
    }

    @Test func `beyond the quota the client with most loses its oldest`() {
        // A word has 32,512 bytes: 30 of them in a megabyte.
        let words = Self.words(keep: 100, quota: 1)
        for _ in 0..<3 { words.add { Self.entry($0, "quiet") } }
        for _ in 0..<100 { words.add { Self.entry($0, "loud") } }
        #expect(words.list.count == 30 && words.list.prefix(3).map(\.client) == ["quiet", "quiet", "quiet"])
        #expect(words.list.last?.number == 103)
        // The newest seconds of clients that talk have half of it at most.
        #expect(words.reserve(400_000) && words.list.count == 18)
        #expect(words.list.count { $0.client == "quiet" } == 3)
        #expect(!words.reserve(100_001) && words.reserve(100_000))
        words.giveBack(500_000)
        #expect(words.reserve(500_000))
    }

    private static func detection(_ start: Double, _ end: Double, near: Bool = false) -> Detection {
        var word = Detection(
            kind: near ? .nearMiss : .word,
            index: 0,
            confidence: 0.75,
            start: start,
            end: end,
            time: end
        )
        word.threshold = 0.5
        return word
    }

    /// The value of a sample says where it is.
    private static func ramp(_ range: Range<Int>) -> [Float] { range.map { Float($0 / 16) * 0x1p-15 } }

    @Test func `a word is cut from a second before it to a moment after it, when that has come`() throws {
        let words = Self.words(keep: 9)
        let recorder = ClientRecorder(words, Self.clients, try Self.peer("192.168.1.20"))
        #expect(recorder.begin(at: 0))
        recorder.add(Self.ramp(0..<96_000))
        recorder.receive(Self.detection(5, 5.5, near: true), "stop")
        recorder.add(Self.ramp(96_000..<96_000))
        #expect(words.list.count == 1, "its end, 5.8 s, is there already")
        recorder.receive(Self.detection(5.5, 6), "go")
        #expect(words.list.count == 1)
        recorder.add(Self.ramp(96_000..<101_000))
        let list = words.list
        #expect(list.map(\.word) == ["stop", "go"] && list.map(\.isNear) == [true, false])
        #expect(list.map(\.client) == ["kitchen", "kitchen"] && list.map(\.threshold) == [0.5, 0.5])
        #expect(list[0].samples == (64_000..<92_800).map { Int16($0 / 16) })
        #expect(list[1].samples == (72_000..<100_800).map { Int16($0 / 16) })
    }

    @Test func `what is not there is not in it, and a client that goes leaves its last word`() throws {
        let words = Self.words(keep: 9)
        do {
            let recorder = ClientRecorder(words, Self.clients, .user(0))
            recorder.add(Self.ramp(0..<1600))
            recorder.receive(Self.detection(0, 0.1), "before any audio")
            #expect(recorder.begin(at: 16_000))
            recorder.add(Self.ramp(16_000..<24_000))
            recorder.receive(Self.detection(1.2, 1.5), "stop")
            #expect(words.list.isEmpty)
        }
        #expect(words.list.map(\.word) == ["stop"] && words.list[0].samples == (16_000..<24_000).map { Int16($0 / 16) })
        // A long word begins where the newest seconds do.
        let recorder = ClientRecorder(words, Self.clients, .user(0))
        #expect(recorder.begin(at: 0))
        recorder.add(Self.ramp(0..<160_000))
        recorder.receive(Self.detection(3, 9), "long")
        #expect(words.list.last?.samples == (64_000..<148_800).map { Int16($0 / 16) })
    }

    @Test func `a client says a word by the protocol, and it is kept with its sound`() throws {
        let words = Self.words(keep: 9)
        let client = try ConversationTests.Client(
            ConversationTests.words(),
            recorder: ClientRecorder(words, Self.clients, try Self.peer("192.168.1.21"))
        )
        client.send(ConversationTests.run(try ConversationTests.recording("Rear_Left"), 48_000, chunk: 4800))
        #expect(words.list.map(\.word) == ["left"] && words.list.map(\.client) == ["hall"])
        let samples = try #require(words.list.first).samples
        #expect((16_000..<48_000).contains(samples.count) && samples.contains { abs(Int($0)) > 3000 })
        // What the client did not ask for is none of its words.
        let asked = ConversationTests.event("detect", ["names": ["right"]])
        client.send(asked + ConversationTests.run(try ConversationTests.recording("Rear_Left"), 48_000, chunk: 4800))
        #expect(words.list.count == 1)
    }

    @Test func `a word that a client nearly says is kept, and it is not told`() throws {
        let words = Self.words(keep: 9)
        var settings = try ConversationTests.words().detector
        settings.thresholds.setAll(0.9999)
        settings.gate.nearMissMargin = 0.5
        let client = try ConversationTests.Client(
            AnnouncedWords(settings),
            recorder: ClientRecorder(words, Self.clients, .user(0))
        )
        let said = ConversationTests.run(try ConversationTests.recording("Rear_Left"), 48_000, chunk: 4800)
        #expect(ConversationTests().results(client, said) == ["not-detected"])
        #expect(words.list.map(\.word) == ["left"] && words.list.allSatisfy(\.isNear))
    }
}
