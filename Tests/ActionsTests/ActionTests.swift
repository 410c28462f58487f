import Configuration
import Core
import Events
import Foundation
import Glibc
import Playback
import System
import TestSupport
import Testing

@testable import Actions
@testable import Spotting

/// Events, and the actions that the runner starts for them.
struct ActionTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func event(
        _ name: String,
        kind: Detection.Kind = .word,
        time: Double = 1,
        sequence: UInt64 = 1
    ) -> DetectionEvent {
        DetectionEvent(
            Detection(kind: kind, index: 0, confidence: 0.9, start: time - 0.5, end: time - 0.1, time: time),
            sequence: sequence,
            name: name,
            date: Timestamp.now,
            device: "mic"
        )
    }

    private func configuration(_ text: String) throws -> Configuration {
        try ParsedConfiguration(text: text, file: "f").validated(by: KnownWords(["yes", "left"])).configuration
    }

    private func runner(
        _ text: String,
        reports: Lines = Lines(),
        speaker: Speaker? = nil,
        printLine: @escaping @Sendable (String) -> Bool = { _ in false }
    ) throws -> ActionRunner {
        try ActionRunner(
            try configuration(text),
            environment: ["PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": "/x", "BECKON_OLD": "1"],
            journal: Journal(path: folder.file("journal")),
            speaker: speaker,
            log: ServiceLog { _, text in reports.add(text) },
            printLine: printLine
        )
    }

    @Test func `a word runs its program with the event in its environment`() throws {
        let runner = try runner(
            "{words: {left: {actions: [{run: ['/bin/cp', '/proc/self/environ', '\(folder.file("env"))']}]}}}"
        )
        defer { runner.stop() }
        runner.receive(event("yes"))
        runner.receive(event("left", time: 2, sequence: 2))
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

    @Test func `a state of the voice assistant runs its actions alone, with the state in their environment`() throws {
        let reports = Lines()
        let path = folder.file("env")
        let runner = try runner(
            """
            {actions: [{print: 'word'}], esphome: {
                onListening: [{run: ['/bin/cp', '/proc/self/environ', '\(path)']}, {print: '{event} {state} {word}{date}'}],
                onError: [{print: '{state}'}],
            }}
            """
        ) { line in
            reports.add(line)
            return true
        }
        defer { runner.stop() }
        let date = Timestamp(microseconds: 1_800_000_000_000_000)
        for state in [AssistantState.idle, .listening, .error, .muted] {
            runner.receive(AssistantChange(state, date: date))
        }
        #expect(reports.all == ["assistant listening \(date.text)\n", "error\n"])
        #expect(comesTrue { ((try? Data(contentsOf: URL(fileURLWithPath: path)))?.count ?? 0) > 50 })
        let variables = String(decoding: try folder.bytes("env"), as: UTF8.self).split(separator: "\0")
        #expect(variables.contains("BECKON_STATE=listening") && variables.contains("BECKON_EVENT=assistant"))
        #expect(variables.contains("BECKON_TIME=\(date.text)") && !variables.contains { $0.hasPrefix("BECKON_WORD") })
        #expect(runner.counts.started == 3 && runner.counts.failed == 0)
    }

    @Test func `a word plays its sound, never waits for it, and says once where none can be played`() throws {
        let path = try folder.write("ding.wav", format: 0x10002, rate: 48_000, [Float](repeating: 0.25, count: 48_000))
        let text = "{speaker: 'x', words: {left: {actions: [{play: '\(path)'}]}}}"
        let device = try FakeSpeaker(in: folder)
        let reports = Lines()
        let speaker = Speaker { reports.add("\($0) \($1)") }
        try speaker.select(device.name)
        let playing = try runner(text, reports: reports, speaker: speaker)
        let start = Clock.now
        for number in 1...8 { playing.receive(event("left", time: Double(number), sequence: UInt64(number))) }
        #expect((Clock.now - start).seconds < 0.5)
        #expect(playing.counts.started >= 4 && playing.counts.started <= 6)
        #expect(playing.counts.started + playing.counts.dropped == 8)
        #expect(reports.all == ["play \(path): not started, as other sounds wait already"])
        #expect(comesTrue { device.played().contains { abs($0 - 0.25) < 0.001 } })
        #expect(speaker.stop(until: Clock.now + .seconds(5)))
        playing.stop()
        let silent = Lines()
        let without = try runner(text, reports: silent)
        without.receive(event("left"))
        without.receive(event("left", sequence: 2))
        #expect(
            silent.all == ["play \(path): not started, as there is no speaker; name its device with the key speaker"]
        )
        #expect(without.counts.dropped == 2)
        without.stop()
    }

    @Test func `every kind of action, words and phrases`() throws {
        let printed = Lines()
        let server = try OneShotServer(answer: "HTTP/1.1 200 OK\r\n\r\n")
        let reports = Lines()
        let runner = try runner(
            """
            { actions: [{ print: "{sequence} {word}" }, { unix: "\(folder.file("s"))" }, { journal: "info" }],
              words: { yes: { actions: [] } },
              phrases: [{ phrase: "yes  left", actions: [{ webhook: "http://127.0.0.1:\(server.port)/x" }] }] }
            """,
            reports: reports,
            printLine: { line in
                printed.add(line)
                return true
            }
        )
        let client = try Client(folder.file("s"))
        #expect(try client.line() == "{\"event\": \"snapshot\", \"last\": null}")
        runner.receive(event("yes"))
        runner.receive(event("yes left", kind: .phrasePartial, sequence: 2))
        runner.receive(event("left", time: 2, sequence: 3))
        runner.receive(event("yes left", kind: .phrase, time: 2, sequence: 4))
        let line = try #require(try client.line())
        #expect(line.hasPrefix("{\"event\": \"word\", \"word\": \"left\", \"confidence\": 0.9000, \"start\": 1.500"))
        #expect(server.request().contains("{\"event\": \"phrase\", \"phrase\": \"yes left\""))
        #expect(printed.all == ["3 left\n"])
        #expect(comesTrue { reports.all.count == 1 }, "the journal is missing, once")
        #expect(reports.all.first?.contains("No such file or directory") == true)
        runner.stop()
        #expect(access(folder.file("s"), F_OK) != 0)
    }

    @Test func `a failing action is reported once, and delays no other action`() throws {
        let reports = Lines()
        let runner = try runner(
            """
            { limits: { atOnce: 2, queue: 3, timeout: 0.1 }, words: {
                yes: { actions: [{ run: ["/bin/ls", "/no/such/file"] }] },
                left: { cooldown: 0, actions: [{ run: ["/bin/sleep", "100"] }] } } }
            """,
            reports: reports
        )
        let begun = ContinuousClock.now
        for number in 0..<20 { runner.receive(event("left", time: Double(number))) }
        #expect(begun.duration(to: .now) < .seconds(1), "twenty sleepers do not hold up the dispatcher")
        // Two run, three wait, the others are dropped.
        #expect(comesTrue { runner.counts.failed == 5 })
        #expect(runner.counts.started == 5 && runner.counts.dropped == 15)
        for number in 0..<3 { runner.receive(event("yes", time: Double(number))) }
        #expect(comesTrue { runner.counts.failed == 8 })
        let said = reports.all
        #expect(said.count == 3, "\(said)")
        #expect(said.contains { $0 == "run /bin/sleep: took longer than 0.1 s and was ended" })
        #expect(said.contains { $0.hasPrefix("run /bin/sleep: dropped, as too many actions wait already") })
        #expect(said.contains { $0.hasPrefix("run /bin/ls: exit status 2; it said: /bin/ls: cannot access") })
        runner.stop()
    }

    @Test func `a configuration that changes while words are heard`() throws {
        let runner = try runner("{}")
        defer { runner.stop() }
        let path = folder.file("s")
        try runner.update(try configuration("{ actions: [{ unix: '\(path)' }] }"))
        runner.receive(event("left", time: 6))
        let client = try Client(path)
        #expect(try client.line()?.contains("\"word\": \"left\"") == true)

        // A failed change leaves the configuration in force unchanged.
        #expect(throws: ActionError.socket) {
            try runner.update(try configuration("{ actions: [{ unix: '/nowhere/s' }] }"))
        }
        runner.receive(event("left", time: 7))
        #expect(try client.line()?.contains("\"time\": 7.000") == true)
        try runner.update(try configuration("{}"))
        #expect(try client.line() == nil, "its socket is gone")
        #expect(access(path, F_OK) != 0)
    }

    @Test func `a service that stops leaves no program behind, and starts none`() throws {
        let pid = folder.file("pid")
        let runner = try runner("{ actions: [{ run: ['/bin/sh', '-c', 'echo $$ > \(pid); exec sleep 100'] }] }")
        runner.receive(event("yes"))
        func number() -> Int32? {
            (try? String(contentsOfFile: pid, encoding: .utf8)).flatMap { Int32($0.split(separator: "\n").first ?? "") }
        }
        #expect(comesTrue { number() != nil })
        let child = try #require(number())
        runner.close()
        runner.receive(event("yes", time: 2))
        #expect(runner.counts.started == 1)
        let begun = ContinuousClock.now
        runner.stop()
        #expect(begun.duration(to: .now) < .seconds(2))
        #expect(kill(child, 0) != 0)
        runner.stop()
    }

    @Test func `a line that finds no room on standard output is counted`() throws {
        let runner = try runner("{ actions: [{ print: '{word}' }] }") { _ in false }
        for number in 0..<3 { runner.receive(event("yes", time: Double(number))) }
        #expect(runner.counts == ActionRunner.Counts(started: 0, failed: 0, dropped: 3))
        runner.stop()
    }

    @Test func `a program that ignores SIGTERM does not hold up the stop`() throws {
        let pid = folder.file("pid")
        let runner = try runner(
            "{ actions: [{ run: ['/bin/sh', '-c', 'trap \"\" TERM; echo $$ > \(pid); while :; do sleep 1; done'] }] }"
        )
        runner.receive(event("yes"))
        func number() -> Int32? {
            (try? String(contentsOfFile: pid, encoding: .utf8)).flatMap { Int32($0.split(separator: "\n").first ?? "") }
        }
        #expect(comesTrue { number() != nil })
        let begun = Clock.now
        #expect(runner.stop(until: Clock.now + .milliseconds(1200)))
        #expect(Clock.now - begun < .milliseconds(1500))
        #expect(kill(try #require(number()), 0) != 0)
    }

    @Test func `actions that a stop leaves undone are counted and told`() throws {
        let reports = Lines()
        let text = "{ actions: [{ run: ['/bin/sleep', '60'] }], limits: { atOnce: 1, queue: 10 } }"
        let runner = try runner(text, reports: reports)
        for number in 0..<4 { runner.receive(event("yes", time: Double(number))) }
        #expect(comesTrue { runner.counts.started == 4 })
        // One runs; three wait. Those that come after the end has begun are not started.
        #expect(comesTrue { children() == 1 })
        runner.close()
        runner.receive(event("yes", time: 9))
        #expect(runner.stop(until: Clock.now + .seconds(2)))
        #expect(runner.counts == ActionRunner.Counts(started: 4, failed: 0, dropped: 4))
        #expect(reports.all.contains("3 actions that waited were not started, as the service is stopping"))
        #expect(reports.all.contains { $0.hasSuffix("not started, as the service is stopping") && $0.hasPrefix("run") })
    }

    /// Programs with the name `sleep` that this process has started.
    private func children() -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        let all = tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/children", encoding: .utf8) }
        return all.joined(separator: " ").split(separator: " ").count { pid in
            (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)) == "sleep\n"
        }
    }

    @Test func `warnings of a kind come once in a while`() {
        var limit = RateLimit(interval: 60)
        let start = Instant(nanoseconds: 0)
        #expect(limit.admit("a", now: start) == 0)
        #expect(limit.admit("a", now: start + .seconds(1)) == nil && limit.admit("a", now: start + .seconds(59)) == nil)
        #expect(limit.admit("b", now: start + .seconds(1)) == 0)
        #expect(limit.admit("a", now: start + .seconds(60)) == 2)
        #expect(limit.admit("a", now: start + .seconds(61)) == nil)
    }
}
