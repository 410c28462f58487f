import Audio
import Configuration
import Core
import Events
import IntegrationInterface
import JSON
import Network
import Synchronization
import System
import TestSupport
import Testing

@testable import Wyoming

/// What clients are called, and what is heard of them while somebody looks.
struct WakeClientsTests {
    private static let names = ["192.168.1.20": "kitchen", "::ffff:192.168.1.21": "hall"]

    private static func peer(_ address: String) throws -> Network.Peer {
        Network.Peer(try #require(IPAddress(address)))
    }

    @Test func `clients are called by their names, else by what they say, else by their addresses`() throws {
        let table: [(address: String, said: String?, name: String)] = [
            ("192.168.1.20", nil, "kitchen"), ("::ffff:192.168.1.20", nil, "kitchen"), ("192.168.1.21", nil, "hall"),
            ("10.0.255.1", nil, "10.0.255.1"), ("2001:db8:0:1::5", nil, "2001:db8:0:1::/64"),
            ("fe80::1%eth0", nil, "fe80:0:0:0::/64%eth0"), ("10.0.255.1", "Attic", "Attic"),
            ("192.168.1.20", "Attic", "Attic"),
            ("10.0.255.2", "", "10.0.255.2"), ("10.0.255.3", "a\u{1B}[2Jb\n", "a?[2Jb?"),
            ("10.0.255.4", String(repeating: "x", count: 100), String(repeating: "x", count: 60)),
        ]
        for (address, said, name) in table {
            let clients = WakeClients(Self.names)
            #expect(clients.join(try Self.peer(address), said: said).name == name)
        }
        #expect(WakeClients().join(.user(1000), said: nil).name == "user 1000")
    }

    @Test func `several streams of an address are told apart, and one that begins again is the same`() throws {
        let clients = WakeClients(Self.names)
        let home = try Self.peer("192.168.1.20")
        let first = clients.join(home, said: nil)
        let second = clients.join(home, said: nil)
        let third = clients.join(home, said: nil)
        #expect([first, second, third].map(\.name) == ["kitchen", "kitchen (2)", "kitchen (3)"])
        second.leave()
        #expect(clients.list.map(\.isStreaming) == [true, true, false])
        #expect(clients.join(home, said: nil) === second)
        // One that says its name is one client, whatever it opens.
        let attic = clients.join(home, said: "Attic")
        #expect(clients.join(home, said: "Attic") === attic && attic !== first)
        attic.leave()
        #expect(attic.isOpen)
        // The same name at another address is another client.
        #expect(clients.join(try Self.peer("10.0.0.1"), said: "Attic") !== attic)
    }

    @Test func `a name that is given by hand is kept, and taken back`() throws {
        let folder = try TestFolder()
        let clients = WakeClients(Self.names)
        let client = clients.join(try Self.peer("10.0.0.1"), said: nil)
        let names = try #require(clients.rename(client.number, to: "bath"))
        #expect(client.name == "bath" && clients.rename(99, to: "x") == nil)
        try ClientNames.write(names, to: folder.path)
        let again = WakeClients(Self.names, given: ClientNames.read(in: folder.path))
        #expect(again.join(try Self.peer("10.0.0.1"), said: nil).name == "bath")
        #expect(clients.rename(client.number, to: "") == [:] && client.name == "10.0.0.1")
        try folder.write("clients.json", bytes: Array("[1, 2".utf8))
        #expect(ClientNames.read(in: folder.path) == [:] && ClientNames.read(in: "/nonexistent") == [:])
    }

    @Test func `clients that went are forgotten when there are many, and those that stay are not`() throws {
        let clients = WakeClients()
        let stays = clients.join(try Self.peer("10.0.0.1"), said: "stays")
        for number in 0..<2000 { clients.join(try Self.peer("10.0.0.2"), said: "\(number)").leave() }
        #expect(clients.list.count == 64 && clients.list.first?.number == stays.number)
        #expect(clients[stays.number] === stays && clients[2] == nil && clients[2001] != nil)
    }

    @Test func `audio and scores are there from the first look on, and gone a while after the last`() throws {
        let client = WakeClients().join(try Self.peer("10.0.0.1"), said: nil)
        let hop = [Float](repeating: 0.5, count: AudioFormat.hopSamples)
        #expect(!client.isWatched)
        let (history, scores) = client.watch(for: .seconds(60))
        #expect(client.isWatched && history.count == 0 && scores.isEmpty)
        client.add(hop, [0.25, 0.75])
        #expect(history.count == AudioFormat.hopSamples && history.samples(0..<1) == [0.5])
        #expect(client.watch(for: .zero).scores == [0.25, 0.75])
        let other = WakeClients().join(try Self.peer("10.0.0.1"), said: nil)
        _ = other.watch(for: .zero)
        other.add(hop, [1])
        #expect(!other.isWatched && other.watch(for: .seconds(60)).history.count == 0)
    }

    @Test func `words of real clients come with what they are called, and are heard by those who look`() throws {
        var settings = WyomingServer.Settings(listen: [.tcp(host: "127.0.0.1", port: 0)])
        settings.recent = .init()
        settings.recent?.names = ["127.0.0.2": "kitchen"]
        let heard = Mutex<[DetectionEvent]>([])
        let server = try WyomingServer(ConversationTests.words(), settings, log: ServiceLog { _, _ in }) { event in
            heard.withLock { $0.append(event) }
        }
        defer { server.stop() }
        let address = try #require(server.addresses.first)
        let audio = try ConversationTests.recording("Rear_Left")
        let run = ConversationTests.run(audio, 48_000, chunk: 4800)
        let kitchen = try Peer(address, from: "127.0.0.2")
        #expect(kitchen.send(run))
        #expect(try kitchen.nextType() == "detection")
        #expect(comesTrue(within: 10) { server.clients?.map(\.name) == ["kitchen"] })
        // Its second stream while the first is open, and one that says what it is called.
        let second = try Peer(address, from: "127.0.0.2")
        let attic = try Peer(address, from: "127.0.0.3")
        #expect(second.send(run) && attic.send(ConversationTests.event("info", ["satellite": ["name": "Attic"]]) + run))
        #expect(try second.nextType() == "detection" && attic.nextType() == "detection")
        #expect(comesTrue(within: 10) { heard.withLock { $0.count } == 3 })
        let events = heard.withLock { $0 }
        #expect(
            Set(events.compactMap(\.client)) == ["kitchen", "kitchen (2)", "Attic"]
                && Set(events.map(\.sequence)) == [1, 2, 3]
        )
        #expect(
            events.allSatisfy { $0.name == "left" && $0.confidence > 0.5 && $0.json.description.contains("\"client\"") }
        )
        // Who looks gets what comes from then on.
        let number = try #require(server.clients?.first { $0.name == "Attic" }).number
        let history = try #require(server.watch(number, for: .seconds(60))).sound.history
        #expect(history.count == 0 && server.watch(99, for: .seconds(1)) == nil)
        #expect(attic.send(run))
        #expect(try attic.nextType() == "detection")
        #expect(comesTrue(within: 10) { history.count >= 16_000 })
        #expect(server.watch(number, for: .seconds(1))?.sound.scores.contains { $0 > 0 } == true)
        #expect(history.samples(0..<history.count).contains { abs($0) > 0.05 })
    }
}
