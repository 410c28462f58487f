import Foundation
import Glibc
import TestSupport
import Testing

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
        return try LineServer(path: path, settings: settings, snapshot: snapshot, answer: { _ in .listen })
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
            try LineServer(path: "/nowhere/s", snapshot: { _ in "" }, answer: { _ in .listen })
        }
        #expect(throws: SocketError.self) {
            try LineServer(
                path: "/" + String(repeating: "x", count: 200),
                snapshot: { _ in "" },
                answer: { _ in .listen }
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
            answer: { $0 == "events" ? .listen : .line("heard \($0.utf8.count)") }
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

        let crowd = try (0..<3).map { _ in try Client(path) }
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
            answer: { $0 == "events" ? .listen : .line("done") }
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
            answer: { _ in .line(String(repeating: "y", count: 500)) }
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
}
