import Core
import Foundation
import Glibc
import TestSupport
import Testing

/// `beckon listen` on a pseudo-terminal.
struct LiveTerminalTests {
    private static let left = "/usr/share/sounds/alsa/Front_Left.wav"
    private static let variables = ["TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": ""]

    private func isStopped(_ process: Int32) -> Bool {
        let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        return text.split(separator: ")").last?.split(separator: " ").first == "T"
    }

    @Test(arguments: [20, 40, 60, 80, 140])
    func `a file is played at any width, and only its lines remain`(_ width: Int) throws {
        let terminal = try PseudoTerminal(columns: width, rows: 24)
        let end = try terminal.open()
        let process = Process()
        process.executableURL = Program.beckonFile
        process.arguments = ["listen", "--file", Self.left, "--mode", "spot"]
        process.environment = ProcessInfo.processInfo.environment.merging(
            Self.variables.merging(["BECKON_WORDS": "/nonexistent/words", "XDG_CONFIG_HOME": "/nonexistent"]) { $1 }
        ) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (end, end, end)
        try process.run()
        #expect(
            comesTrue(within: 60) {
                terminal.update()
                return !process.isRunning
            }
        )
        terminal.update()
        let screen = terminal.screen
        #expect(terminal.written.contains("level") && screen.cut == 0 && screen.unknown == [], "\(screen.unknown)")
        #expect(screen.showsCursor && terminal.echoes)
        // The word with its time in the file, and the summary, which may take several rows.
        #expect(screen.all.first?.contains(/^0:0[01]\.[0-9]{2}  left  [0-9]+ %$/) == true, "\(screen.all)")
        let rest = screen.all.dropFirst().joined()
        #expect(
            rest.hasPrefix(Self.left) && rest.replacing(" ", with: "").hasSuffix(":0:01.48ofaudio;words:1(left1)"),
            "\(rest)"
        )
        #expect(process.terminationStatus == 0)
    }

    @Test func `the panel follows the size, messages stay above it, and the terminal is restored`() throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 12)
        let end = try terminal.open()
        let live = try LiveProgram(playing: Self.left, output: end, error: end, variables: Self.variables)
        /// Waits until the screen is as it should be, however long the program takes for it.
        func comes(_ condition: ([String]) -> Bool) -> Bool {
            live.waits {
                terminal.update()
                return condition(terminal.screen.rows)
            }
        }
        func shows(_ text: String) -> Bool { comes { $0.contains { $0.contains(text) } } }
        /// Waits for a message, which may have scrolled out since.
        func says(_ text: String) -> Bool { comes { _ in terminal.written.contains(text) } }
        func rows(_ text: String) -> Int { terminal.screen.rows.count { $0.contains(text) } }
        #expect(shows("mic  ·  48000 Hz  ·  spot mode  ·  10 words") && shows("left"))
        #expect(says("listening to mic, 48000 Hz"))
        for (columns, height) in [(60, 12), (30, 12), (20, 6), (100, 4), (140, 20), (41, 12)] {
            terminal.resize(columns: columns, rows: height)
            live.send(SIGWINCH)
            // The level takes the whole width and ends with its unit, so a panel of the new size can be told from an old
            // one, cut or not. Rows that scrolled out do not count: a picture may be on its way while the terminal shrinks.
            #expect(
                comes { shown in
                    func count(_ text: String) -> Int { shown.count { $0.contains(text) } }
                    return shown.contains {
                        $0.hasPrefix("level") && Core.columns($0) == columns && $0.contains(/(dB|too loud)$/)
                    } && count("level") == 1 && count("spot mode") <= 1 && count("last ") <= 1
                },
                "\(columns): \(terminal.screen.all)"
            )
        }
        // A picture that was on its way while the terminal shrank may have been cut; none is cut from here on.
        let cut = terminal.screen.cut
        try live.fail("gone")
        #expect(shows("waiting for it"))
        // The message is above the panel.
        #expect(
            comes { rows in
                let message = rows.firstIndex { $0.contains("lost (") } ?? .max
                return message < rows.firstIndex { $0.hasPrefix("level") } ?? -1
            }
        )
        try live.fail("")
        #expect(says("listening to mic again"))
        #expect(try live.ask("mute").status == 0)
        #expect(says("muted: the device is closed") && shows("muted"))
        #expect(shows("level") && !terminal.echoes)
        live.send(SIGTSTP)
        #expect(live.waits { isStopped(live.identifier) })
        terminal.update()
        #expect(terminal.echoes && terminal.screen.showsCursor && rows("level") == 0 && rows("last ") == 0)
        live.send(SIGCONT)
        #expect(shows("level"))
        #expect(!terminal.echoes)

        #expect(live.end(SIGINT) == 130)
        terminal.update()
        #expect(terminal.echoes && terminal.screen.showsCursor && rows("level") == 0 && rows("last ") == 0)
        #expect(
            rows("█") == 0 && rows("listened for") == 1 && terminal.screen.cut == cut && terminal.screen.unknown == []
        )
    }

    @Test(arguments: [
        (["TERM": "dumb"], false, false), (["TERM": "xterm", "LC_ALL": "C"], true, false),
        (["TERM": "xterm", "LC_ALL": "C", "NO_COLOR": "1"], true, false),
        (["TERM": "xterm", "LC_ALL": "de_DE.UTF-8"], true, true),
    ])
    func `the environment chooses panel, characters and colours`(
        _ variables: [String: String],
        hasPanel: Bool,
        isUnicode: Bool
    ) throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let end = try terminal.open()
        let own = ["NO_COLOR": "", "LC_ALL": "C.UTF-8"].merging(variables) { $1 }
        let live = try LiveProgram(playing: Self.left, output: end, error: end, variables: own)
        #expect(
            live.waits {
                terminal.update()
                return terminal.screen.rows.contains { $0.contains(/[0-9]  left  [0-9]+ %$/) }
            }
        )
        #expect(live.end() == 0)
        terminal.update()
        #expect(terminal.written.contains("level") == hasPanel)
        #expect(
            terminal.written.contains("█") == isUnicode && terminal.written.contains("###") == (hasPanel && !isUnicode)
        )
        let hasColour = hasPanel && own["NO_COLOR"] == ""
        #expect(terminal.written.contains("\u{1B}[1m") == hasColour && terminal.written.contains("\u{1B}") == hasPanel)
    }
}
