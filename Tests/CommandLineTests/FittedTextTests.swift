import Core
import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// Text on terminals of any width.
struct FittedTextTests {
    @Test func `lines that are too wide are broken at spaces, and others stay as they are`() {
        let table: [(String, Int, hanging: Int, String)] = [
            ("one two\n", 80, 2, "one two\n"), ("", 10, 2, ""), ("a\n\nb\n", 10, 2, "a\n\nb\n"),
            ("one two three four\n", 10, 2, "one two\n  three\n  four\n"),
            ("one two three four", 10, 0, "one two\nthree\nfour"),
            ("NAME   text that is long\n", 20, 7, "NAME   text that is\n       long\n"),
            ("  in the middle of it\n", 16, 2, "  in the middle\n    of it\n"),
            ("averyverylongwordalone\n", 10, 2, "averyverylongwordalone\n"),
            ("a averyverylongword b\n", 10, 2, "a\n  averyverylongword\n  b\n"),
            ("            deep indents are short", 20, 2, "            deep\n  indents are short"),
            ("計算機 計算機 計算機", 14, 0, "計算機 計算機\n計算機"), ("ends in spaces        ", 16, 2, "ends in spaces"),
        ]
        for (text, width, hanging, wanted) in table {
            #expect(fitted(text, columns: width, hanging: hanging) == wanted, "\(text) \(width)")
            #expect(fitted(text, columns: nil, hanging: hanging) == text)
        }
    }

    /// What a command shows on a terminal of so many columns.
    private static func screen(_ arguments: [String], columns: Int, in folder: TestFolder) throws -> String {
        let terminal = try PseudoTerminal(columns: columns, rows: 60)
        let end = try terminal.open()
        let process = Process()
        process.executableURL = Program.beckonFile
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        let own = [
            "BECKON_WORDS": "/nonexistent/words", "TERM": "xterm", "NO_COLOR": "1", "HOME": folder.path,
            "ALSA_CONFIG_PATH": "/nonexistent/asound.conf", "BECKON_SOCKET": folder.file("none.socket"),
        ]
        process.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (end, end, end)
        try process.run()
        let hasEnded = comesTrue(within: 60) {
            terminal.update()
            return !process.isRunning
        }
        if !hasEnded { process.terminate() }
        #expect(hasEnded)
        terminal.update()
        return terminal.written.replacing("\r\n", with: "\n")
    }

    @Test(arguments: [40, 60, 80, 120])
    func `no command's text is broken within a word`(_ width: Int) throws {
        let folder = try TestFolder()
        try folder.folder("clips/stopp")
        try FileManager.default.copyItem(atPath: Voices.path("Front_Left"), toPath: folder.file("clips/stopp/1.wav"))
        try folder.write("bad.json5", bytes: Array("{ mode: 'comand', sensitivity: 0.5 }".utf8))
        let commands: [[String]] = [
            ["help"], ["help", "evaluate"], ["status"], ["listen", "--keywords", "alexa"],
            ["config", "check", "bad.json5"],
            ["config", "check"], ["evaluate", "clips"], ["evaluate", "--stream", "clips"], ["evaluate", "clips/stopp"],
            ["model", "list"], ["words"], ["classify", "clips/none.wav"], ["devices"], ["events", "--since", "1h"],
            // Lines of the log, also above the panel.
            ["listen", "--seconds", "0.5"], ["listen", "--seconds", "0.5", "--json"],
            ["serve", "--listen", "tcp://192.0.2.1:1"],
            [
                "listen", "--file", Voices.path("Front_Left"), "--mode", "spot", "--phrase",
                "left right left right left right",
            ],
        ]
        for arguments in commands {
            let text = try Self.screen(arguments, columns: width, in: folder)
            for line in text.split(separator: "\n") where !line.contains("\u{1B}") && columns(String(line)) > width {
                let isOneWord = !line.trimmingCharacters(in: .whitespaces).contains(" ")
                #expect(isOneWord, "\(arguments) \(width): \(line)")
            }
        }
    }

    @Test func `a row of a matrix that does not fit leaves zeros out`() {
        var table = TextTable(["SAID", "YES", "NO", "STOP"])
        table.add(["yes", "12", TextTable.none, "3"])
        table.add(["no", TextTable.none, TextTable.none, TextTable.none])
        #expect(table.text(columns: 80).contains("·"))
        #expect(table.text(columns: 15) == "yes\n  yes 12,\n  stop 3\nno\n")
    }
}
