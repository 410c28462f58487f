import Configuration
import Core
import Events
import Foundation
import Glibc
import Spotting
import System
import TestSupport
import Testing

@testable import Actions

/// From what the detector heard to what comes of it.
struct ActionTests {
    private static let labels = ["yes", "left", "_silence_"]
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func heard(
        _ index: Int,
        kind: Detection.Kind = .word,
        time: Double = 1,
        generation: UInt32 = 1
    ) -> HeardEvent {
        let detection = Detection(
            kind: kind,
            index: index,
            confidence: 0.9,
            start: time - 0.5,
            end: time - 0.1,
            time: time
        )
        return HeardEvent(detection, decided: Clock.now, generation: generation)
    }

    private func configuration(_ text: String) throws -> Configuration {
        try ConfigurationFile(text: text, file: "f") { _ in ["yes", "left"] }.configuration
    }

    private func runner(
        _ text: String,
        output: Int32 = 1,
        heard: @escaping @Sendable (DetectionEvent) -> Void = { _ in },
        reports: Lines = Lines()
    ) throws -> ActionRunner {
        try ActionRunner(
            try configuration(text),
            labels: Self.labels,
            device: "mic",
            environment: ["PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": "/x", "BECKON_OLD": "1"],
            output: output,
            journal: Journal(path: folder.file("journal")),
            heard: heard
        ) { reports.add($0.text) }
    }

    @Test func `a word runs its program with the event around it`() throws {
        let runner = try runner(
            "{words: {left: {actions: [{run: ['/bin/cp', '/proc/self/environ', '\(folder.file("env"))']}]}}}"
        )
        defer { runner.stop() }
        runner.inbox.offer(heard(0))
        runner.inbox.offer(heard(1, time: 2))
        let env = folder.file("env")
        #expect(comesTrue { ((try? Data(contentsOf: URL(fileURLWithPath: env)))?.count ?? 0) > 100 })
        let pairs = String(decoding: try folder.bytes("env"), as: UTF8.self).split(separator: "\0").map {
            $0.split(separator: "=", maxSplits: 1).map(String.init)
        }
        let variables = Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") })
        #expect(variables["BECKON_WORD"] == "left" && variables["BECKON_CONFIDENCE"] == "0.9000")
        #expect(
            variables["BECKON_EVENT"] == "word" && variables["BECKON_DEVICE"] == "mic"
                && variables["BECKON_SEQUENCE"] == "2"
        )
        #expect(
            variables["PATH"] == "/usr/bin:/bin" && variables["NOTIFY_SOCKET"] == nil && variables["BECKON_OLD"] == nil
        )
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        let times = try ["BECKON_START", "BECKON_END", "BECKON_TIME"].map {
            try #require(formatter.date(from: variables[$0] ?? "")).timeIntervalSince1970
        }
        #expect(abs(times[2] - Date().timeIntervalSince1970) < 6)
        #expect(abs(times[2] - times[0] - 0.5) < 0.0021 && abs(times[2] - times[1] - 0.1) < 0.0021)
    }

    @Test func `every kind of action, words and phrases`() throws {
        let file = folder.file("out")
        let output = open(file, O_CREAT | O_WRONLY | O_APPEND, 0o600)
        defer { close(output) }
        let server = try OneShotServer(answer: "HTTP/1.1 200 OK\r\n\r\n")
        let reports = Lines()
        let seen = Lines()
        let runner = try runner(
            """
            { actions: [{ print: "{sequence} {word}" }, { unix: "\(folder.file("s"))" }, { journal: "info" }],
              words: { yes: { actions: [] } },
              phrases: [{ phrase: "yes  left", actions: [{ webhook: "http://127.0.0.1:\(server.port)/x" }] }] }
            """,
            output: output,
            heard: { seen.add("\($0.kind.key) \($0.name)") },
            reports: reports
        )
        let client = try Client(folder.file("s"))
        #expect(try client.line() == "{\"event\": \"snapshot\", \"last\": null}")
        runner.inbox.offer(heard(0))
        runner.inbox.offer(heard(0, kind: .phrasePartial))
        runner.inbox.offer(heard(1, time: 2))
        runner.inbox.offer(heard(0, kind: .phrase, time: 2))
        runner.inbox.offer(heard(17))
        runner.inbox.offer(heard(-1))
        let line = try #require(try client.line())
        #expect(line.hasPrefix("{\"event\": \"word\", \"word\": \"left\", \"confidence\": 0.9000, \"start\": 1.500"))
        #expect(server.request().contains("{\"event\": \"phrase\", \"phrase\": \"yes left\""))
        #expect(comesTrue { (try? folder.bytes("out")) == Array("3 left\n".utf8) })
        #expect(comesTrue { seen.all == ["word yes", "phrase-partial yes left", "word left", "phrase yes left"] })
        #expect(comesTrue { reports.all.count == 1 }, "the journal is missing, once")
        #expect(reports.all.first?.contains("No such file or directory") == true)
        runner.stop()
        #expect(access(folder.file("s"), F_OK) != 0)
    }

    @Test func `a failing action is told once, and stands in nobody's way`() throws {
        let reports = Lines()
        let seen = Lines()
        let runner = try runner(
            """
            { limits: { atOnce: 2, queue: 3, timeout: 0.1 }, words: {
                yes: { actions: [{ run: ["/bin/ls", "/no/such/file"] }] },
                left: { cooldown: 0, actions: [{ run: ["/bin/sleep", "100"] }] } } }
            """,
            heard: { seen.add($0.name) },
            reports: reports
        )
        let begun = ContinuousClock.now
        for number in 0..<20 { #expect(runner.inbox.offer(heard(1, time: Double(number)))) }
        #expect(comesTrue { seen.all.count == 20 })
        #expect(begun.duration(to: .now) < .seconds(1), "twenty sleepers do not hold up the dispatcher")
        // Two run, three wait, all others are dropped.
        #expect(comesTrue { runner.counts.failed == 5 })
        #expect(runner.counts.started == 5 && runner.counts.dropped == 15 && runner.counts.events == 20)
        for number in 0..<3 { runner.inbox.offer(heard(0, time: Double(number))) }
        #expect(comesTrue { runner.counts.failed == 8 })
        let said = reports.all
        #expect(said.count == 3, "\(said)")
        #expect(said.contains { $0 == "run /bin/sleep: took longer than 0.1 s and was ended" })
        #expect(said.contains { $0.hasPrefix("run /bin/sleep: dropped, as too many actions wait already") })
        #expect(said.contains { $0.hasPrefix("run /bin/ls: exit status 2; it said: /bin/ls: cannot access") })
        runner.stop()
    }

    @Test func `cool-down, and a configuration that changes while words are heard`() throws {
        let seen = Lines()
        let runner = try runner(
            "{ cooldown: 2, words: { yes: { cooldown: 0 } } }",
            heard: { seen.add("\($0.name) \($0.time)") }
        )
        defer { runner.stop() }
        for (index, time) in [(1, 1.0), (1, 2.5), (0, 2.6), (0, 2.7), (1, 3.1)] {
            runner.inbox.offer(heard(index, time: time))
        }
        #expect(comesTrue { seen.all == ["left 1.0", "yes 2.6", "yes 2.7", "left 3.1"] })
        #expect(comesTrue { runner.counts.suppressed == 1 })

        let path = folder.file("s")
        let generation = try runner.apply(
            try configuration("{ actions: [{ unix: '\(path)' }] }"),
            labels: ["left", "yes"]
        )
        #expect(generation == 2 && runner.generation == 2)
        // What the old detector heard keeps its old name.
        runner.inbox.offer(heard(0, time: 4, generation: 1))
        runner.inbox.offer(heard(0, time: 6, generation: 2))
        #expect(comesTrue { seen.all.suffix(2) == ["yes 4.0", "left 6.0"] })
        let client = try Client(path)
        #expect(try client.line()?.contains("\"word\": \"left\"") == true)

        // A change that cannot be made leaves all as it was.
        #expect(throws: ActionError.socket) {
            try runner.apply(try configuration("{ actions: [{ unix: '/nowhere/s' }] }"), labels: Self.labels)
        }
        runner.inbox.offer(heard(0, time: 7, generation: 2))
        #expect(try client.line()?.contains("\"time\": 7.000") == true)
        try runner.apply(try configuration("{}"), labels: Self.labels)
        #expect(try client.line() == nil, "its socket is gone")
        #expect(access(path, F_OK) != 0)
    }

    @Test func `a service that stops leaves no program behind`() throws {
        let pid = folder.file("pid")
        let runner = try runner("{ actions: [{ run: ['/bin/sh', '-c', 'echo $$ > \(pid); exec sleep 100'] }] }")
        runner.inbox.offer(heard(0))
        func number() -> Int32? {
            (try? String(contentsOfFile: pid, encoding: .utf8)).flatMap { Int32($0.split(separator: "\n").first ?? "") }
        }
        #expect(comesTrue { number() != nil })
        let child = try #require(number())
        let begun = ContinuousClock.now
        runner.stop()
        #expect(begun.duration(to: .now) < .seconds(2))
        #expect(kill(child, 0) != 0)
        runner.stop()
    }

    @Test func `a reader of standard output that stalls holds up nothing else`() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        defer { close(writing) }
        let path = folder.file("ran")
        let runner = try runner(
            "{ actions: [{ print: '\(String(repeating: "x", count: 5000))' }, { run: ['/usr/bin/touch', '\(path)'] }] }",
            output: writing
        )
        for number in 0..<100 { runner.inbox.offer(heard(0, time: Double(number))) }
        #expect(comesTrue { access(path, F_OK) == 0 })
        #expect(comesTrue { runner.counts.dropped > 0 }, "the lines that found no room are counted")
        // The reader goes away, which ends the wait; SIGPIPE is for programs, not for a test.
        signal(SIGPIPE, SIG_IGN)
        close(reading)
        #expect(comesTrue { runner.counts.failed > 0 })
        runner.stop()
    }
}
