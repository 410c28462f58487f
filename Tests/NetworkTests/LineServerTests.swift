import Core
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Network
@testable import System

/// The socket that streams events, with clients that misbehave.
struct LineServerTests {
    private let folder: TestFolder
    private var path: String { folder.file("s") }

    init() throws { folder = try TestFolder() }

    private func stream(
        _ change: (inout LineServer.Settings) -> Void = { _ in }
    ) throws -> LineServer {
        var settings = LineServer.Settings()
        settings.listensAtOnce = true
        settings.clients = 3
        change(&settings)
        let snapshot: @Sendable (String?) -> String = { "snapshot \($0 ?? "none")" }
        return try LineServer(path: path, settings: settings, snapshot: snapshot, answer: { _, _ in .listen })
    }

    @Test func `a snapshot first, then every line`() throws {
        let server = try stream()
        defer { server.stop() }
        let first = try Client(path)
        #expect(try first.line() == "snapshot none")
        server.publish("one")
        #expect(try first.line() == "one")
        let second = try Client(path)
        #expect(try second.line() == "snapshot one")
        server.publish("two")
        #expect(try first.line() == "two")
        #expect(try second.line() == "two")
    }

    @Test func `only owner and group may connect, whatever the umask`() throws {
        for mask: mode_t in [0, 0o077] {
            let before = umask(mask)
            let server = try stream()
            umask(before)
            var status = stat()
            #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
            server.stop()
            #expect(access(path, F_OK) != 0, "a service that stops takes its socket away")
        }
    }

    @Test func `a socket left behind is replaced, a live one and other files are not`() throws {
        // A service that crashed leaves a socket file without a listener.
        do { _ = try UnixSocket.listen(path, mode: 0o660) }
        #expect(access(path, F_OK) == 0)
        let server = try stream()
        let live = #expect(throws: SocketError.self) { try stream() }
        #expect(live?.description.contains("listens there already") == true)
        let client = try Client(path)
        #expect(try client.line() == "snapshot none")
        server.stop()

        try folder.write("s", bytes: [65])
        let file = #expect(throws: SocketError.self) { try stream() }
        #expect(file?.description.contains("something else has that name") == true)
        #expect(try folder.bytes("s") == [65])
        #expect(throws: SocketError.self) {
            try LineServer(path: "/nowhere/s", snapshot: { _ in "" }, answer: { _, _ in .listen })
        }
        #expect(throws: SocketError.self) {
            try LineServer(
                path: "/" + String(repeating: "x", count: 200),
                snapshot: { _ in "" },
                answer: { _, _ in .listen }
            )
        }
    }

    @Test func `a reader that never reads is dropped, the others get every line`() throws {
        let server = try stream()
        defer { server.stop() }
        let deaf = try Client(path)
        let good = try Client(path)
        #expect(try good.line() == "snapshot none")
        let text = String(repeating: "x", count: 1000)
        for number in 0..<400 {
            server.publish("\(number) \(text)")
            #expect(try good.line() == "\(number) \(text)")
        }
        #expect(comesTrue { server.counts.slow == 1 })
        #expect(server.counts.overflowed == 0)
        withExtendedLifetime(deaf) {}
    }

    @Test func `a reader that stops reading half-way loses its timeout`() throws {
        let server = try stream { $0.timeout = 0.05 }
        defer { server.stop() }
        let deaf = try Client(path)
        #expect(comesTrue { server.counts.accepted == 1 })
        // More than the kernel's socket buffer holds, less than the server's limit.
        for _ in 0..<50 { server.publish(String(repeating: "x", count: 1000)) }
        #expect(comesTrue { server.counts.slow == 1 })
        withExtendedLifetime(deaf) {}
    }

    @Test func `garbage, endless lines, silent clients and too many clients`() throws {
        let server = try LineServer(
            path: path,
            settings: {
                var settings = LineServer.Settings()
                settings.clients = 4
                settings.reserved = 3
                settings.timeout = 0.2
                return settings
            }(),
            snapshot: { _ in "snapshot" },
            answer: { line, _ in line == "events" ? .listen : .line("heard \(line.utf8.count)") }
        )
        defer { server.stop() }
        var generator = SplitMix(seed: 4)
        let garbage = try Client(path)
        garbage.send((0..<2000).map { _ in UInt8.random(in: 0...255, using: &generator) } + [10])
        #expect(try garbage.line()?.hasPrefix("heard") == true)

        let endless = try Client(path)
        endless.send([UInt8](repeating: 65, count: 10_000))
        #expect(try endless.line() == "{\"ok\": false, \"error\": \"a line has at most 4096 bytes\"}")
        #expect(try endless.line() == nil)
        let silent = try Client(path)
        #expect(comesTrue { server.counts.protocolViolations >= 2 }, "the endless one and the silent one")
        withExtendedLifetime(silent) {}

        // A client that listens to events need not send anything.
        let listener = try Client(path)
        listener.send(Array("events\n".utf8))
        #expect(try listener.line() == "snapshot")
        usleep(250_000)
        server.publish("still there")
        #expect(try listener.line() == "still there")

        // One that says nothing would make room.
        let crowd = try (0..<3).map { _ in
            let client = try Client(path)
            client.send(Array("hello\n".utf8))
            #expect(try client.line() == "heard 5")
            return client
        }
        let late = try Client(path)
        #expect(try late.line()?.contains("4 clients are connected already") == true)
        #expect(try late.line() == nil)
        #expect(server.counts.refused == 1)
        withExtendedLifetime(crowd) {}

        // Many clients that disconnect in the middle of a line.
        #expect(comesTrue { server.counts.protocolViolations >= 5 })
        for _ in 0..<50 { try Client(path).send(Array("half a l".utf8)) }
        #expect(comesTrue { server.counts.accepted + server.counts.refused >= 50 })
        server.publish("and on")
        #expect(try listener.line() == "and on")
    }

    @Test func `event subscribers leave connections for commands`() throws {
        let server = try LineServer(
            path: path,
            settings: {
                var settings = LineServer.Settings()
                settings.clients = 4
                settings.reserved = 2
                return settings
            }(),
            snapshot: { _ in "snapshot" },
            answer: { line, _ in line == "events" ? .listen : .line("done") }
        )
        defer { server.stop() }
        let listeners = try (0..<3).map { _ in try Client(path) }
        var answers: [String?] = []
        for index in listeners.indices {
            listeners[index].send(Array("events\n".utf8))
            answers.append(try listeners[index].line())
        }
        #expect(answers[0] == "snapshot" && answers[1] == "snapshot")
        #expect(answers[2]?.contains("too many clients are subscribed already") == true)
        let commander = try Client(path)
        commander.send(Array("mute\n".utf8))
        #expect(try commander.line() == "done")
    }

    @Test func `a client that sends requests and never reads is dropped`() throws {
        let server = try LineServer(
            path: path,
            snapshot: { _ in "" },
            answer: { _, _ in .line(String(repeating: "y", count: 500)) }
        )
        defer { server.stop() }
        let flood = try Client(path)
        let asks = Array(String(repeating: "status\n", count: 500).utf8)
        #expect(
            comesTrue {
                flood.send(asks)
                return server.counts.slow == 1
            }
        )
    }

    @Test func `one line of a client a turn: no packet of lines keeps the others waiting`() throws {
        let order = Lines()
        let bothAreThere = DispatchSemaphore(value: 0)
        let server = try LineServer(
            path: path,
            snapshot: { _ in "" },
            answer: { line, _ in
                // The first line is held up until the second client has sent its own.
                if line == "flood" && order.all.isEmpty { bothAreThere.wait() }
                order.add(line)
                return .line("done")
            }
        )
        defer { server.stop() }
        let flood = try Client(path)
        flood.send(Array(String(repeating: "flood\n", count: 585).utf8))
        let other = try Client(path)
        #expect(comesTrue { server.counts.accepted >= 1 })
        other.send(Array("other\n".utf8))
        bothAreThere.signal()
        #expect(try other.line() == "done")
        let place = try #require(order.all.firstIndex(of: "other"))
        #expect(place < 5)
        for _ in 0..<585 { #expect(try flood.line() == "done") }
    }

    @Test func `an answer that comes later holds up its own client only`() throws {
        let replies = Mutex<[LineServer.Reply]>([])
        let server = try LineServer(
            path: path,
            settings: {
                var settings = LineServer.Settings()
                settings.timeout = 0.1
                return settings
            }(),
            snapshot: { _ in "" },
            answer: { line, reply in
                guard line == "slow" else { return .line("heard \(line)") }
                replies.withLock { $0.append(reply) }
                return .later
            }
        )
        defer { server.stop() }
        let slow = try Client(path)
        slow.send(Array("slow\nnext\n".utf8))
        #expect(comesTrue { replies.withLock { $0.count } == 1 })
        let other = try Client(path)
        other.send(Array("hello\n".utf8))
        #expect(try other.line() == "heard hello")
        // Longer than the time-out for silent clients: who waits for an answer is not silent.
        usleep(250_000)
        let reply = try #require(replies.withLock { $0.first })
        reply.send("late")
        reply.send("twice")
        #expect(try slow.line() == "late")
        #expect(try slow.line() == "heard next")
        // A client that goes while it waits is closed at once, and its answer does no harm.
        do {
            let gone = try Client(path)
            gone.send(Array("slow\n".utf8))
            #expect(comesTrue { replies.withLock { $0.count } == 2 })
        }
        #expect(comesTrue { server.counts.closed == 1 })
        replies.withLock { $0[1] }.send("for nobody")
        let last = try Client(path)
        last.send(Array("still\n".utf8))
        #expect(try last.line() == "heard still")
    }

    @Test func `clients that say nothing keep nobody out, not of their own user's share either`() throws {
        let server = try LineServer(
            path: path,
            settings: {
                var settings = LineServer.Settings()
                settings.clients = 8
                settings.perUser = 4
                settings.timeout = 600
                return settings
            }(),
            snapshot: { _ in "snapshot" },
            answer: { line, _ in line == "events" ? .listen : .line("heard \(line)") }
        )
        defer { server.stop() }
        let listener = try Client(path)
        listener.send(Array("events\n".utf8))
        #expect(try listener.line() == "snapshot")
        let crowd = try (0..<40).map { _ in try Client(path) }
        let next = try Client(path)
        next.send(Array("hello\n".utf8))
        #expect(try next.line() == "heard hello")
        server.publish("still there")
        #expect(try listener.line() == "still there")
        withExtendedLifetime(crowd) {}
    }

    @Test func `a user has a share of the connections`() throws {
        let server = try stream {
            $0.clients = 10
            $0.perUser = 2
        }
        defer { server.stop() }
        let first = try (0..<2).map { _ in try Client(path) }
        for client in first { #expect(try client.line() == "snapshot none") }
        let third = try Client(path)
        #expect(try third.line()?.contains("2 clients of this user are connected already") == true)
        #expect(try third.line() == nil && server.counts.refused == 1)
        withExtendedLifetime(first) {}
    }

    @Test func `a socket that was deleted is made again, and the clients stay`() throws {
        let server = try stream()
        let old = try Client(path)
        #expect(try old.line() == "snapshot none")
        #expect(try server.restore() == false, "it is there")
        unlink(path)
        #expect(try server.restore())
        let new = try Client(path)
        #expect(try new.line() == "snapshot none")
        server.publish("both")
        let lines = (try old.line(), try new.line())
        #expect(lines.0 == "both" && lines.1 == "both")
        // What somebody else put in its place is not touched.
        unlink(path)
        try folder.write("s", bytes: [1])
        #expect(try server.restore() == false)
        server.stop()
        #expect(try folder.bytes("s") == [1])
    }

    @Test func `a stop waits no longer than it is told`() throws {
        let hangs = DispatchSemaphore(value: 0)
        let server = try LineServer(
            path: path,
            snapshot: { _ in "" },
            answer: { _, _ in
                hangs.wait()
                return .line("done")
            }
        )
        let client = try Client(path)
        client.send(Array("hang\n".utf8))
        usleep(50_000)
        let begun = Clock.now
        #expect(!server.stop(until: Clock.now + .milliseconds(100)))
        #expect(Clock.now - begun < .seconds(2) && access(path, F_OK) != 0)
        hangs.signal()
        #expect(server.stop(until: Clock.now + .seconds(5)))
    }
}
