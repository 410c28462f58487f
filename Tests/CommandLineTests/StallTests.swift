import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// The running service while something that it talks to stalls: it goes on, and SIGTERM ends it within two seconds.
struct StallTests {
    private static let left = "/usr/share/sounds/alsa/Front_Left.wav"
    /// The time in which SIGTERM must have ended the service, in seconds. A sanitizer takes its own.
    private static let limit = Sanitizer.isPresent ? 9.0 : 2.0

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private var heard: Int { (try? folder.bytes("heard"))?.count(where: { $0 == 10 }) ?? 0 }

    /// A configuration in which the word appends a line to `heard`.
    private func configuration(_ actions: String = "", _ keys: String = "", threshold: Double = 0.6) -> String {
        let tee = "{ run: ['/usr/bin/tee', '-a', '\(folder.file("heard"))'] }"
        return "{ words: { left: { threshold: \(threshold), actions: [\(tee), \(actions)] } }, \(keys) }"
    }

    private func expectEnd(_ live: LiveProgram, status: Int32 = 0, _ place: SourceLocation = #_sourceLocation) {
        let end = live.endInTime()
        #expect(end.status == status, sourceLocation: place)
        #expect(end.seconds < Self.limit, sourceLocation: place)
    }

    @Test func `a reader of standard output that stalls costs lines, and nothing else`() throws {
        let pipe = try StalledPipe()
        let text = String(repeating: "x", count: 90_000)
        let live = try LiveProgram(
            playing: Self.left,
            ["--json"],
            configuration: configuration("{ print: '\(text)' }"),
            output: pipe.file
        )
        // More than 256 KiB of lines: some find no room.
        #expect(live.waits { heard >= 5 })
        let status = try live.status()
        let dropped = status.firstMatch(of: /droppedLines\.output: ([0-9]+)\n/).flatMap { Int($0.1) } ?? 0
        #expect(dropped > 0, "\(status)")
        var read = ""
        #expect(
            live.waits {
                read += pipe.read()
                return live.error.contains(
                    /standard output: [0-9]+ lines were dropped, as its reader did not read them/
                )
            }
        )
        #expect(read.contains("\"word\": \"left\""))
        let before = heard
        #expect(live.waits { heard > before })
        expectEnd(live)
    }

    @Test(arguments: [false, true])
    func `a reader of standard error that stalls, alone or with standard output`(_ isBoth: Bool) throws {
        let pipe = try StalledPipe()
        let live = try LiveProgram(
            playing: Self.left,
            ["--json"],
            configuration: configuration(),
            output: isBoth ? pipe.file : nil,
            error: pipe.file
        )
        #expect(live.waits { heard >= 2 })
        // Each of these writes a line to the log.
        for _ in 0..<5 { #expect(try live.ask("set", "left=0.61").status == 0) }
        let before = heard
        #expect(live.waits { heard > before })
        expectEnd(live)
    }

    @Test func `standard error on a full disk`() throws {
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let live = try LiveProgram(playing: Self.left, configuration: configuration(), error: full)
        #expect(live.waits { heard >= 1 })
        #expect(try live.status().contains(/droppedLines\.log: [1-9]/))
        expectEnd(live)
    }

    @Test func `a folder of clips on a full disk, and one that is not there`() throws {
        // The store writes through no link, so only a missing folder can be tried without mounting.
        let live = try LiveProgram(
            playing: Self.left,
            configuration: configuration("", "clips: { dir: '\(folder.file("nowhere"))' }")
        )
        #expect(live.waits { live.error.contains("cannot save a clip in") })
        let before = heard
        #expect(live.waits { heard > before })
        expectEnd(live)
    }

    @Test func `a limit on the size of files`() throws {
        let clips = folder.file("clips")
        try FileManager.default.createDirectory(atPath: clips, withIntermediateDirectories: false)
        let live = try LiveProgram(
            playing: Self.left,
            configuration: configuration("", "clips: { dir: '\(clips)' }")
        )
        // Less than a clip, more than the output. Once it runs: its ring is a file to the kernel too.
        #expect(live.waits { heard > 0 })
        try live.limit("--fsize=30000")
        #expect(live.waits { live.error.contains("cannot save a clip in") }, "\(live.error)")
        let before = heard
        #expect(live.waits { heard > before })
        #expect(try live.status().contains(/clips\.failed: [1-9]/))
        expectEnd(live)
    }

    @Test func `a program that ignores SIGTERM is gone with the service`() throws {
        let pid = folder.file("pid")
        let live = try LiveProgram(
            playing: Self.left,
            configuration: configuration(
                "{ run: ['/bin/sh', '-c', 'trap \"\" TERM; echo $$ > \(pid); while :; do sleep 1; done'], timeout: 60 }"
            )
        )
        var number: Int32?
        #expect(
            live.waits {
                let text = (try? folder.bytes("pid")).map { String(decoding: $0, as: UTF8.self) } ?? ""
                number = Int32(text.split(separator: "\n").first ?? "")
                return number != nil
            }
        )
        expectEnd(live)
        #expect(kill(try #require(number), 0) != 0)
    }

    @Test func `a name server that does not answer`() throws {
        let live = try LiveProgram(
            playing: Self.left,
            configuration: configuration(
                "{ webhook: 'http://hook.test/', timeout: 0.3 }",
                "webhookHosts: ['hook.test'], limits: { atOnce: 1 }"
            ),
            variables: ["LD_PRELOAD": LiveProgram.fakeSystem, "FAKE_DNS": "hang"]
        )
        #expect(live.waits { live.error.contains("took longer than 0.3 s; the name server does not answer") })
        // The only worker is free again.
        let before = heard
        #expect(live.waits { heard > before })
        expectEnd(live)
    }

    @Test func `a name that is not known, and addresses that need no name server`() throws {
        let unknown = try LiveProgram(
            playing: Self.left,
            configuration: configuration("{ webhook: 'http://hook.test/' }", "webhookHosts: ['hook.test']"),
            variables: ["LD_PRELOAD": LiveProgram.fakeSystem, "FAKE_DNS": "unknown"]
        )
        #expect(unknown.waits { unknown.error.contains("cannot find hook.test; check the name") })
        expectEnd(unknown)
        for host in ["127.0.0.1", "localhost"] {
            let server = try OneShotServer(answer: "HTTP/1.1 204 No Content\r\n\r\n")
            let before = heard
            let live = try LiveProgram(
                playing: Self.left,
                configuration: configuration("{ webhook: 'http://\(host):\(server.port)/' }"),
                variables: ["LD_PRELOAD": LiveProgram.fakeSystem, "FAKE_DNS": "hang-all"]
            )
            #expect(live.waits { heard > before })
            #expect(server.request().hasPrefix("POST / HTTP/1.1\r\nHost: \(host):\(server.port)\r\n"))
            expectEnd(live)
        }
    }

    @Test func `a web server that never answers`() throws {
        let server = try OneShotServer(answer: nil)
        for scheme in ["http", "https"] {
            let hook = "{ webhook: '\(scheme)://127.0.0.1:\(server.port)/', timeout: 600 }"
            let before = heard
            let live = try LiveProgram(playing: Self.left, configuration: configuration(hook))
            #expect(live.waits { heard > before })
            expectEnd(live)
            #expect(live.error.contains("cancelled, the service is stopping"))
        }
    }

    @Test(arguments: ["", "hang"])
    func `a device that hangs, after it was opened or while it is opened`(_ fault: String) throws {
        let live = try LiveProgram(playing: Self.left, configuration: configuration(), fault: fault)
        #expect(live.waits { (try? live.ask("status").status) == 0 })
        if fault.isEmpty {
            #expect(live.waits { heard >= 1 })
            try live.fail("hang")
            Thread.sleep(forTimeInterval: 0.3)
        }
        expectEnd(live)
    }

    @Test func `clients of the control socket that flood it and never read`() throws {
        let live = try LiveProgram(playing: Self.left, configuration: configuration())
        #expect(live.waits { heard >= 1 })
        let path = live.folder.file("control.socket")
        let flood = try Client(path)
        flood.send(Array(String(repeating: "reload\n", count: 585).utf8))
        let deaf = try Client(path)
        deaf.send(Array(String(repeating: "status\n", count: 500).utf8))
        let begun = Date()
        #expect(try live.ask("status").status == 0)
        #expect(Date().timeIntervalSince(begun) < 2, "the others are answered meanwhile")
        let before = heard
        #expect(live.waits { heard > before })
        expectEnd(live)
        withExtendedLifetime((flood, deaf)) {}
    }

    @Test func `changes in quick succession cost no word`() throws {
        let live = try LiveProgram(playing: Self.left, configuration: configuration())
        #expect(live.waits { heard >= 1 })
        let isOver = Atomic<Bool>(false)
        let path = live.folder.file("config.json5")
        let socket = live.folder.file("control.socket")
        let texts = [0.6, 0.61].map { Data(configuration(threshold: $0).utf8) }
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var clients: [Client] = []
        Thread {
            for number in 0... where !isOver.load(ordering: .relaxed) {
                try? texts[number % 2].write(to: URL(fileURLWithPath: path), options: .atomic)
                // A client a reload, because each waits for its answer.
                if clients.count == 6 { clients.removeFirst() }
                if let client = try? Client(socket) {
                    client.send(Array("reload\n".utf8))
                    clients.append(client)
                }
                usleep(40_000)
                if isOver.load(ordering: .relaxed) { break }
            }
            done.signal()
        }.start()
        // The word comes every 1.48 s.
        let before = heard
        Thread.sleep(forTimeInterval: 7.5)
        let words = heard - before
        isOver.store(true, ordering: .relaxed)
        done.wait()
        #expect(words >= 4, "\(words) of 5 words")
        let reloads = live.error.components(separatedBy: "the configuration was read again\n").count - 1
        #expect((4...10).contains(reloads), "\(reloads) in 7.5 s: at most one a second")
        #expect(try live.status().contains(/hopsMissedByChanges: [0-9]+\n/))
        expectEnd(live)
    }

    @Test func `a systemd that does not read its messages`() throws {
        let path = folder.file("notify")
        let manager = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(manager) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(manager, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(result == 0)
        let live = try LiveProgram(
            playing: Self.left,
            configuration: configuration(),
            variables: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "600000"]
        )
        // Every word and every 0.2 s there is a message.
        #expect(live.waits { heard >= 4 })
        expectEnd(live)
    }

    @Test func `the exit status of programs is known, even if SIGCHLD was ignored at the start`() throws {
        let live = try LiveProgram(
            playing: Self.left,
            configuration: configuration("{ run: ['/bin/false'] }"),
            shell: "trap '' CHLD"
        )
        #expect(live.waits { live.error.contains("run /bin/false: exit status 1") }, "\(live.error)")
        expectEnd(live)
    }

    @Test func `a control socket that was deleted is made again`() throws {
        let live = try LiveProgram(playing: Self.left, configuration: configuration())
        #expect(live.waits { (try? live.ask("status").status) == 0 })
        unlink(live.folder.file("control.socket"))
        #expect(live.waits { (try? live.ask("status").status) == 0 })
        #expect(live.error.contains("the control socket was deleted; it was made again"))
        expectEnd(live)
        #expect(access(live.folder.file("control.socket"), F_OK) != 0)
    }

    @Test func `a wall clock that jumps by a day changes dates, and nothing else`() throws {
        let clock = try folder.write("clock", bytes: Array("0".utf8))
        let live = try LiveProgram(
            playing: Self.left,
            ["--json"],
            configuration: configuration("", "cooldown: 1"),
            variables: ["LD_PRELOAD": LiveProgram.fakeSystem, "FAKE_CLOCK": clock]
        )
        struct Event: Decodable {
            var time: Double
            var date: String
        }
        func events() throws -> [Event] {
            try live.output.split(separator: "\n").map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
        }
        var ends: [Int] = []
        for (number, seconds) in [86_400, -86_400, 0].enumerated() {
            #expect(try live.waits { try events().count >= 2 * number + 2 })
            try folder.write("clock", bytes: Array("\(seconds)".utf8))
            ends.append(try events().count)
        }
        #expect(try live.waits { try events().count >= (ends.last ?? 0) + 2 })
        let all = try events()
        // The recording lasts 1.48 s and is played without a pause.
        for (one, next) in zip(all, all.dropFirst()) { #expect(abs(next.time - one.time - 1.48) < 0.25) }
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        let offsets = all.compactMap { formatter.date(from: $0.date)?.timeIntervalSinceNow }
        #expect(offsets.contains { $0 > 80_000 } && offsets.contains { $0 < -80_000 })
        #expect(try live.status().contains("gaps: 0\n"))
        expectEnd(live)
    }
}
