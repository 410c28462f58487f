import Events
import Foundation
import JSON
import System
import TestSupport
import Testing

@testable import CommandLineTool

/// `beckon events --since`, and the times that it takes.
struct PastEventsTests {
    @Test func `times before now are read as people write them`() {
        // Noon of a Sunday, by the local clock.
        var date = tm()
        (date.tm_year, date.tm_mon, date.tm_mday, date.tm_hour) = (126, 2, 1, 12)
        date.tm_isdst = -1
        let noon = Timestamp(microseconds: Int64(mktime(&date)) * 1_000_000)
        let table: [(text: String, hours: Double?)] = [
            ("2h", -2), ("90min", -1.5), ("1h30m", -1.5), ("30 min ago", -0.5), ("-2h", -2), ("2d", -48),
            ("1 day ago", -24),
            ("10:30", -1.5), ("10:30:36", -1.49), ("13:00", -23), ("today", -12), ("yesterday", -36),
            ("Yesterday", -36),
            ("2026-02-28", -36), ("2026-02-28 11:00", -25), ("2026-02-28t11:00", -25), ("2026-02-28T11:00:36", -24.99),
            ("90", nil), ("", nil), ("5x", nil), ("24:00", nil), ("10:60", nil), ("10:5:5:5", nil), ("2026-02-30", nil),
            ("2026-13-01", nil), ("26-02-28", nil), ("tomorrow", nil), ("10:30 10:30", nil), ("2026-02-28 noon", nil),
            ("-", nil),
            ("1e3h", nil),
        ]
        for (text, hours) in table {
            let wanted = hours.map { noon.adding(seconds: ($0 * 3600).rounded()) }
            #expect(Timestamp(past: text, now: noon) == wanted, "\(text)")
        }
        #expect(Timestamp(past: "2026-03-01T09:30:05.250Z", now: noon)?.text == "2026-03-01T09:30:05.250Z")
    }

    private static func event(_ word: String, _ date: String) -> String {
        "{\"event\": \"word\", \"word\": \"\(word)\", \"confidence\": 0.9, \"date\": \"\(date)\"}"
    }

    /// A folder with a `journalctl` that prints these lines, and notes its arguments.
    private static func fake(_ lines: [String], status: Int = 0) throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write("lines", bytes: Array(lines.map { $0 + "\n" }.joined().utf8))
        let script =
            "#!/bin/sh\necho \"$@\" > \(folder.file("arguments"))\ncat \(folder.file("lines"))\nexit \(status)\n"
        chmod(try folder.write("journalctl", bytes: Array(script.utf8)), 0o755)
        return folder
    }

    private static func events(_ arguments: [String], _ folder: TestFolder, instance: String? = nil) throws -> Program {
        var environment = ["PATH": "\(folder.path):/usr/bin:/bin", "BECKON_SOCKET": folder.file("none")]
        environment["BECKON_INSTANCE"] = instance
        return try Program.beckon(["events", "--since"] + arguments, environment: environment)
    }

    @Test func `events of the journal are printed as they were, each once, without what is older or none`() throws {
        let new = [Self.event("left", "2026-03-01T12:30:05.250Z"), Self.event("right", "2026-03-01T12:30:06.000Z")]
        let lines = [
            Self.event("old", "2026-03-01T12:30:05.249Z"), new[0], new[0], "no JSON \u{1B}[2J", "{}", "[1]", new[1],
        ]
        let folder = try Self.fake(lines)
        let since = "2026-03-01T12:30:05.250Z"
        let all = try Self.events([since], folder)
        #expect(all.status == 0 && all.lines.map(String.init) == new, "\(all)")
        #expect(all.error.contains("2 events since") && all.error.contains("from the journal"))
        let asked = String(decoding: try folder.bytes("arguments"), as: UTF8.self)
        #expect(
            asked.contains("--since=@1772368205 MESSAGE_ID=\(DetectionEvent.messageID)") && !asked.contains("UNIT"),
            "\(asked)"
        )
        #expect(try Self.events([since, "--words", "right"], folder).output == new[1] + "\n")
        #expect(try Self.events([since, "--once"], folder).output == "left\n")
        let none = try Self.events(["2026-03-02T00:00:00.000Z", "--once"], folder)
        #expect(none.status == 3 && none.output == "" && none.error.contains("0 events"))
        _ = try Self.events([since], folder, instance: "kitchen")
        let ofInstance = String(decoding: try folder.bytes("arguments"), as: UTF8.self)
        #expect(ofInstance.contains("_SYSTEMD_UNIT=beckon@kitchen.service + MESSAGE_ID="), "\(ofInstance)")
    }

    @Test func `without a journal the words that a service keeps are printed, and it is said`() throws {
        let folder = try Self.fake([], status: 1)
        let none = try Self.events(["1h"], folder)
        #expect(none.status == 1 && none.error.contains("no record of events"), "\(none)")
        let kept = try TestFolder()
        let live = try LiveProgram(
            playing: Voices.path("Rear_Left"),
            configuration: "{device: 'mic', misses: {dir: '\(kept.file("misses"))'}}"
        )
        var environment = ["PATH": "\(folder.path):/usr/bin:/bin"]
        environment["BECKON_SOCKET"] = live.folder.file("control.socket")
        var program: Program?
        #expect(
            comesTrue(within: 30) {
                program = try? Program.beckon(["events", "--since", "1h"], environment: environment)
                return program?.lines.isEmpty == false
            }
        )
        #expect(
            program?.error.contains("from the service's recent words (misses): there is no journal") == true,
            "\(program as Any)"
        )
        #expect(program?.output.contains("\"word\": \"left\"") == true)
    }

    @Test(arguments: [["--reconnect"], ["--seconds", "3"]])
    func `what is past does not wait`(_ more: [String]) throws {
        let program = try Program.beckon(["events", "--since", "1h"] + more)
        #expect(program.status == 2 && program.error.contains("--since prints what was heard, and ends"))
    }

    /// Whether this user may start a journald with a folder `/run` of its own.
    private static let hasJournald: Bool = {
        guard geteuid() == 0, access("/lib/systemd/systemd-journald", X_OK) == 0 else { return false }
        let trial = try? Program.run(
            URL(fileURLWithPath: "/usr/bin/unshare"),
            ["--mount", "sh", "-c", "mount -t tmpfs tmpfs /run && python3 -c 'import socket'"]
        )
        return trial?.status == 0
    }()

    @Test(.enabled(if: hasJournald))
    func `a word is an entry of the real journal with its fields, which the command prints again`() throws {
        let folder = try TestFolder()
        let tool = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Journal/with-journald"
        let beckon = Program.beckonFile.path
        let program = try Program.run(
            URL(fileURLWithPath: "/usr/bin/unshare"),
            [
                "--mount", tool, folder.path, "\(beckon) listen --mode spot --file \(Voices.path("Front_Left"))",
                "journalctl -o json MESSAGE_ID=\(DetectionEvent.messageID) BECKON_WORD=left; \(beckon) events --since 10m --once --words left",
            ],
            environment: ["HOME": folder.path, "XDG_CONFIG_HOME": folder.path]
        )
        let entry = try JSONNode.parse(String(program.lines.first ?? ""))
        #expect(
            entry["MESSAGE"]?.text?.contains("left") == true && entry["SYSLOG_IDENTIFIER"]?.text == "beckon",
            "\(program)"
        )
        #expect(
            entry["BECKON_EVENT"]?.text == "word"
                && entry["BECKON_SCORE"]?.text.flatMap(Double.init).map { $0 > 0.5 } == true
        )
        #expect(program.lines.last == "left" && program.error.contains("1 event since"), "\(program)")
    }
}
