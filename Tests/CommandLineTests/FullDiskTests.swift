import CSndFile
import Control
import Core
import Foundation
import JSON
import Synchronization
import TestSupport
import Testing

@testable import CommandLineTool

/// Standard output to a full disk: `> /dev/full`.
struct FullDiskTests {
    private static func beckon(
        _ arguments: [String],
        output: String = "/dev/full",
        input: String? = nil
    ) throws -> Program {
        let script = #"output=$1; shift; exec "$0" "$@" > "$output""#
        let words = ["-c", script, Program.beckonFile.path, output] + arguments
        return try Program.run(URL(fileURLWithPath: "/bin/sh"), words, input: input)
    }

    private static let voice = Voices.path("Side_Left")
    private static let line = "beckon: cannot write to standard output: No space left on device\n"

    static let commands: [[String]] = [
        ["classify", "--json", voice], ["classify", voice, voice], ["classify", "--clips", "--json", voice],
        ["listen", "--file", voice, "--json"], ["listen", "--file", voice, "--once", "--mode", "spot"],
        ["classify", "--csv", voice], ["config", "init", "--yes", "-"], ["generate", "models"],
        ["inspect", "--json", voice, voice], ["inspect", "--json", voice], ["inspect", "--output", "-", voice],
        ["words"], ["help"], ["help", "listen"], ["listen", "--help"], ["--version"], ["config", "show"],
        ["completions", "bash"], ["completions", "zsh"], ["completions", "fish"], ["generate", "manual", manual],
        ["config", "check"], ["evaluate", "--help"], ["record", "--help"], ["set", "--help"],
        ["serve", "--help"], ["backup", "--help"], ["restore", "--help"], ["esphome", "--help"], ["misses", "--help"],
        ["talk", "--help"],
        ["web", "--help"], ["model", "list"],
        ["bench", "--first-score"],
    ]

    private static let manual = Checkout.path + "/man/beckon.1"

    /// Commands of which every one that prints is in a test of this file.
    private static let printing = [
        "listen", "classify", "words", "inspect", "config", "completions", "evaluate", "devices", "doctor", "enroll",
        "forget", "record", "status", "mute", "unmute", "reload", "set", "serve", "events", "bench",
        "misses", "web", "model", "esphome", "backup", "restore", "talk",
    ]

    @Test func `every command has a test`() { #expect(Set(CommandLineTool.names) == Set(Self.printing)) }

    @Test(arguments: ["devices", "doctor"])
    func `ends what looks at devices too`(_ command: String) throws {
        let program = try Self.beckon([command])
        #expect(
            program.status == 1 && program.error.hasSuffix(Self.line) || program.error.contains("no capture device")
        )
    }

    @Test func `ends what changes words too`() throws {
        let folder = try TestFolder()
        let words = ["--words", folder.file("words")]
        func takes() throws -> [String] {
            try [1, 0.7, 0.4].map { gain in
                try folder.write(
                    "\(gain).wav",
                    format: SF_FORMAT_WAV | SF_FORMAT_FLOAT,
                    rate: Voices.rate,
                    try Voices.samples("Rear_Center").map { $0 * Float(gain) }
                )
            }
        }
        let takes = try takes()
        let taught = try Self.beckon(["enroll", "center"] + words + ["--from"] + takes, output: "/dev/null")
        #expect(taught.status == 0, "\(taught.error)")
        for arguments in [
            ["enroll", "center", "--words", folder.file("others"), "--from"] + takes, ["words"] + words,
            ["words", "--json"] + words, ["words", "export", "-"] + words,
            ["words", "export", folder.file("all")] + words,
            ["words", "import", "--replace", folder.file("all")] + words,
            ["record", "--label", "a", "--speaker", "b", "--file", Voices.path("Front_Left"), folder.file("data")],
            ["forget", "center"] + words,
        ] {
            let program = try Self.beckon(arguments)
            #expect(program.status == 1 && program.error.hasSuffix(Self.line), "\(arguments): \(program.error)")
        }
    }

    @Test(arguments: [
        ["status"], ["status", "--json"], ["mute", "--json"], ["set", "yes=0.7"], ["reload"], ["events"],
    ])
    func `ends what talks to the service too`(_ arguments: [String]) throws {
        let folder = try TestFolder()
        let server = try ControlServer(path: folder.file("s")) { command in
            [.status, .events].contains(command) ? .status(ServiceStatus()) : .note("words")
        }
        let isOver = Atomic<Bool>(false)
        Thread {
            // Events are written from the second on.
            while !isOver.load(ordering: .relaxed) {
                server.publish("{}")
                usleep(20_000)
            }
        }.start()
        let program = try Self.beckon(arguments + ["--socket", folder.file("s")])
        isOver.store(true, ordering: .relaxed)
        #expect(program.status == 1 && program.error == Self.line, "\(program.error)")
        server.stop()
    }

    @Test(arguments: commands)
    func `ends the command with one line and status 1`(_ arguments: [String]) throws {
        let program = try Self.beckon(arguments)
        #expect(program.status == 1)
        #expect(program.error == Self.line)
    }

    @Test func `ends long work early`() throws {
        // Minutes of work: the same file, 20 000 times.
        let list = Array(repeating: Self.voice, count: 20_000).joined(separator: "\n")
        let program = try Self.beckon(["classify", "--json", "--files-from", "-"], input: list)
        #expect(program.status == 1 && program.error == Self.line)
    }

    @Test func `is reported beside a failure of the command itself`() throws {
        let program = try Self.beckon(["classify", "--json", Self.voice, "/nonexistent.wav"])
        #expect(program.status == 1 && program.error.hasSuffix(Self.line))
    }

    @Test func `does not matter to a command that prints nothing`() throws {
        let program = try Self.beckon(["classify", "--json", "--threshold", "0.9999", Self.voice])
        #expect(program.status == 0 && program.error == "")
        #expect(try Self.beckon(["classify", "--json", Self.voice], output: "/dev/null").status == 0)
    }
}

/// Standard output that is closed: `>&-`.
struct ClosedOutputTests {
    private static let voice = Voices.path("Side_Left")
    private static let line = "beckon: cannot write to standard output: Bad file descriptor\n"

    private static func beckon(_ arguments: [String]) throws -> Program {
        let words = ["-c", #"exec "$0" "$@" >&-"#, Program.beckonFile.path] + arguments
        return try Program.run(URL(fileURLWithPath: "/bin/sh"), words)
    }

    @Test func `a file that a command writes does not become standard output`() throws {
        let folder = try TestFolder()
        // The recording would be the first file that is opened.
        let listen = try Self.beckon(["listen", "--file", Self.voice, "--json", "--record", folder.file("closed.wav")])
        #expect(listen.status == 1 && listen.error == Self.line)
        let open = try Program.beckon(["listen", "--file", Self.voice, "--json", "--record", folder.file("open.wav")])
        #expect(open.status == 0)
        let (closed, whole) = (try folder.bytes("closed.wav"), try folder.bytes("open.wav"))
        // The service may end before the file does, but what it recorded is audio.
        #expect(closed.count >= 44 && closed[44...].elementsEqual(whole[44..<closed.count]))
        let inspect = try Self.beckon(["inspect", "--output", folder.file("page.html"), Self.voice])
        #expect(inspect.status == 1 && inspect.error == Self.line)
        // The mark by which `inspect` knows its own page comes last.
        let page = String(decoding: try folder.bytes("page.html").suffix(60), as: UTF8.self)
        #expect(page.contains("</html>\n<!-- recording ") && page.hasSuffix(" -->\n"))
    }

    @Test func `a command that prints nothing succeeds`() throws {
        let program = try Self.beckon(["classify", "--json", "--threshold", "0.9999", Self.voice])
        #expect(program.status == 0 && program.error == "")
    }
}
