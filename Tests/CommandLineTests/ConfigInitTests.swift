import Core
import Foundation
import Glibc
import System
import TestSupport
import Testing

@testable import CommandLineTool
@testable import Configuration

/// `beckon config init`: a configuration after three questions.
struct ConfigInitTests {
    private static let environment = [
        "BECKON_WORDS": "/nonexistent/words", "ALSA_CONFIG_PATH": "/nonexistent/asound.conf", "TERM": "xterm",
    ]

    /// Answers on a terminal.
    ///
    /// - Returns: the exit status, negative for a signal, and what was on the screen.
    private func answer(
        _ arguments: [String],
        _ answers: [String],
        columns: Int = 80,
        in folder: TestFolder
    ) throws -> (status: Int32, screen: String, cut: Int) {
        let terminal = try PseudoTerminal(columns: columns, rows: 40)
        let end = try terminal.open()
        let process = Process()
        process.executableURL = Program.beckonFile
        process.arguments = ["config", "init"] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.environment = ProcessInfo.processInfo.environment.merging(Self.environment) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (end, end, end)
        try process.run()
        for (number, answer) in answers.enumerated() {
            let isAsked = comesTrue(within: 60) {
                terminal.update()
                return terminal.written.components(separatedBy: "?").count > number + 1 || !process.isRunning
            }
            #expect(isAsked)
            terminal.type(answer)
        }
        let hasEnded = comesTrue(within: 60) {
            terminal.update()
            return !process.isRunning
        }
        if !hasEnded { process.terminate() }
        terminal.update()
        return (process.terminationStatus, terminal.written, terminal.screen.cut)
    }

    private func configuration(_ folder: TestFolder, _ name: String) throws -> Configuration {
        let words = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]
        let file = try ParsedConfiguration(path: folder.file(name)).validated(by: KnownWords(words))
        return file.configuration
    }

    @Test func `three answers become a configuration that is valid and has comments`() throws {
        let folder = try TestFolder()
        let said = try answer(["a/b.json5"], ["plughw:CARD=Mic\n", "Yes, no\n", "/bin/true\n"], in: folder)
        #expect(said.screen.hasPrefix("This writes a/b.json5, after three questions."), "\(said.screen)")
        let end = "a/b.json5\r\nNext: beckon listen --config a/b.json5\r\n"
        #expect(said.status == 0 && said.screen.hasSuffix(end), "\(said.screen)")
        let configuration = try configuration(folder, "a/b.json5")
        #expect(configuration.device == "plughw:CARD=Mic")
        #expect(
            configuration.words.filter { !$0.value.enabled }.keys.sorted() == [
                "down", "go", "left", "off", "on", "right", "stop", "up",
            ]
        )
        #expect(configuration.actions == [Action(.run(["/bin/true"], directory: "/"))])
        let text = String(decoding: try folder.bytes("a/b.json5"), as: UTF8.self)
        #expect(text.components(separatedBy: "\n").count { $0.contains("// ") } > 8)
    }

    @Test func `an answer that cannot be used is asked for again, also on a narrow terminal`() throws {
        let folder = try TestFolder()
        let answers = ["77\n", "\n", "yess\n", "\n", "~/bin/x\n", "broker.lan\n"]
        let said = try answer(["c.json5"], answers, columns: 30, in: folder)
        #expect(said.status == 0 && said.cut == 0, "\(said.screen)")
        for part in ["there is no microphone 77", "did you mean yes?", "no such program"] {
            #expect(said.screen.replacing("\r\n", with: " ").contains(part), "\(said.screen)")
        }
        let configuration = try configuration(folder, "c.json5")
        #expect(
            configuration.device == "auto" && configuration.words.isEmpty && configuration.mqtt.host == "broker.lan"
        )
    }

    @Test func `an end of the answers, or Ctrl-C, writes nothing`() throws {
        let folder = try TestFolder()
        let said = try answer(["c.json5"], ["\n", "\u{4}"], in: folder)
        #expect(said.status == 1 && said.screen.contains("there was no answer; nothing was written"), "\(said.screen)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func `with --yes it asks nothing, and the result has the default values`() throws {
        let folder = try TestFolder()
        // Root's own is the system's, which a test does not write.
        if geteuid() != 0 {
            let home = ["XDG_CONFIG_HOME": folder.path]
            let program = try Program.beckon(["config", "init", "--yes"], environment: home)
            #expect(program.status == 0 && program.output == folder.file("beckon/config.json5\n"), "\(program.error)")
        }
        let written = try Program.beckon(["config", "init", "-y", folder.file("c.json5")])
        #expect(written.status == 0 && written.output == folder.file("c.json5\n"))
        #expect(try configuration(folder, "c.json5") == Configuration())
        let before = try folder.bytes("c.json5")
        let again = try Program.beckon(["config", "init", "-y", folder.file("c.json5")])
        #expect(again.status == 1 && again.error.contains("exists already and is not replaced"))
        #expect(try folder.bytes("c.json5") == before)
        let printed = try Program.beckon(["config", "init", "-y", "-"])
        #expect(printed.status == 0 && Array(printed.output.utf8) == before)
    }

    /// Nobody writes the whole system's file by accident.
    @Test func `without a terminal, one line says what to give`() throws {
        let folder = try TestFolder()
        let environment = Self.environment.merging(["HOME": folder.path, "XDG_CONFIG_HOME": folder.path]) { $1 }
        let isRoot = geteuid() == 0
        let table: [([String], says: [String])] = [
            (["init"], isRoot ? ["--yes", "--system", "/etc/beckon/config.json5", "a file"] : ["--yes"]),
            (["init", "a.json5"], ["--yes"]),
            (["init", "--system", "a.json5"], ["--system writes /etc/beckon/config.json5", "file"]),
            (["init", "--yes", "--system", "-"], ["--system writes", "file"]),
            (["check", "--system"], ["--system goes with config init"]),
        ]
        for (arguments, says) in table {
            let program = try Program.beckon(["config"] + arguments, environment: environment, folder: folder.path)
            #expect(program.status == 2 && program.output == "", "\(arguments): \(program.error)")
            #expect(program.error.split(separator: "\n").count == 1, "\(arguments): \(program.error)")
            for part in says { #expect(program.error.contains(part), "\(arguments): \(program.error)") }
        }
        for arguments in [["config", "init", "--yes"], ["-i", "kitchen", "config", "init", "-y"]] where isRoot {
            let program = try Program.beckon(arguments, environment: environment)
            #expect(program.status == 2 && program.error.contains("give --system if that is meant"))
            #expect(program.error.contains("/etc/beckon/\(arguments.contains("kitchen") ? "kitchen" : "config").json5"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test(.enabled(if: geteuid() == 0), arguments: ["\n", "n\n", "x\nNO\n", "\u{4}"])
    func `root is asked before the system's file is written`(_ answer: String) throws {
        guard !FileManager.default.fileExists(atPath: "/etc/beckon/config.json5") else { return }
        let said = try self.answer([], [answer], in: try TestFolder())
        let text = said.screen.replacing("\r\n", with: " ")
        #expect(text.contains("configuration of the whole system, /etc/beckon/config.json5"), "\(text)")
        #expect(said.status == 1 && text.contains("nothing was written"), "\(text)")
        #expect(!FileManager.default.fileExists(atPath: "/etc/beckon/config.json5"))
    }

    @Test func `root is told which words a command changes, unless they were named`() {
        let table: [(String?, [String: String], isRoot: Bool, path: String?)] = [
            (nil, [:], true, "/var/lib/beckon-words/words"), (nil, [:], false, nil), ("words", [:], true, nil),
            ("none", [:], true, nil), (nil, ["BECKON_WORDS": "/a"], true, nil),
            (nil, ["STATE_DIRECTORY": "/var/lib/beckon"], true, nil),
        ]
        for (named, environment, isRoot, path) in table {
            let note = SystemWords.note(named, environment, isRoot: isRoot) { $0 == "/var/lib/beckon-words" }
            #expect((note == nil) == (path == nil) && (path.map { note?.contains($0) == true } ?? true))
        }
        let own = SystemWords.note(nil, ["HOME": "/root"], isRoot: true) { _ in false }
        #expect(own == nil || FileManager.default.fileExists(atPath: "/var/lib/beckon"))
    }

    @Test func `on a full disk nothing stays`() throws {
        let folder = try TestFolder()
        let script = #"ulimit -f 0; trap '' XFSZ; exec "$0" config init --yes "$1""#
        let program = try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", script, Program.beckonFile.path, folder.file("c.json5")]
        )
        #expect(program.status == 1 && !FileManager.default.fileExists(atPath: folder.file("c.json5")))
    }

    @Test func `examples in the text are valid, whatever was answered`() throws {
        for receiver in [StarterConfiguration.Receiver.nobody, .program("/a\"b\\"), .broker("h")] {
            let starter = StarterConfiguration(
                device: "hw:\"x\n\"",
                disabled: ["hey \"you\"", "up"],
                receiver: receiver
            )
            // The lines that begin with // and no space are examples.
            let text = starter.text.replacing(/(?m)^( *)\/\/(?=[^ \n])/) { $0.output.1 }
            let words = KnownWords(["hey \"you\"", "up", "stop"])
            let file = try ParsedConfiguration(text: text, file: "f").validated(by: words)
            #expect(file.configuration.device == "hw:\"x\n\"" && file.configuration.words["up"]?.enabled == false)
            #expect(file.configuration.words["stop"]?.sensitivity == .strict)
        }
    }
}

/// What `beckon config init` leaves to start.
struct ServiceStartTests {
    private func start(_ present: Set<String>, isRoot: Bool = false, _ instance: String? = nil) -> ServiceStart {
        ServiceStart(
            instance.flatMap { Instance($0) },
            isRoot: isRoot,
            environment: ["HOME": "/home/ann", "XDG_RUNTIME_DIR": "/run/user/7"],
            program: "/opt/beckon",
            exists: present.contains
        )
    }

    @Test func `the next command is one that starts something`() {
        let (user, system) = ("/run/user/7/systemd", "/run/systemd/system")
        let table: [(Set<String>, isRoot: Bool, instance: String?, command: String)] = [
            ([], false, nil, "beckon listen"), ([], true, nil, "beckon listen"),
            ([system, user], true, nil, "beckon listen"), ([user], false, "desk", "beckon -i desk listen"),
            ([user, "/usr/lib/systemd/user/beckon.service"], false, nil, "systemctl --user enable --now beckon"),
            (
                [user, "/home/ann/.config/systemd/user/beckon.service"], false, nil,
                "systemctl --user enable --now beckon"
            ),
            (
                [user, "/usr/lib/systemd/user/beckon@.service"], false, "desk",
                "systemctl --user enable --now beckon@desk"
            ),
            (
                [system, "/lib/systemd/system/beckon.service"], true, nil,
                "systemctl enable beckon && systemctl restart beckon"
            ),
        ]
        for row in table {
            let start = start(row.0, isRoot: row.isRoot, row.instance)
            #expect(start.command == row.command && start.unit == nil, "\(row)")
        }
        let own = start([user])
        #expect(own.command == "systemctl --user daemon-reload && systemctl --user enable --now beckon")
        #expect(own.unit?.path == "/home/ann/.config/systemd/user/beckon.service")
    }

    @Test func `the unit is the package's, with the program where it lies`() throws {
        let packaged = try String(contentsOfFile: Checkout.path + "/systemd/user/beckon.service", encoding: .utf8)
        #expect(ServiceStart.text("/usr/bin/beckon") == packaged)
        #expect(ServiceStart.text("/my files/100%/beckon").contains(#"ExecStart="/my files/100%%/beckon" listen"#))
    }
}
