import Core
import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// The texts of `beckon help`, compared with snapshots, so that every change is deliberate.
struct HelpTests {
    /// Each command line with the snapshot that it prints.
    static let snapshots: [(arguments: [String], snapshot: String)] = [
        (["help"], "help"), (["help", "listen"], "help-listen"), (["help", "classify"], "help-classify"),
        (["help", "evaluate"], "help-evaluate"),
        (["help", "inspect"], "help-inspect"), (["help", "devices"], "help-devices"),
        (["help", "config"], "help-config"), (["help", "web"], "help-web"), (["help", "esphome"], "help-esphome"),
        (["help", "bench"], "help-bench"),
        (["help", "doctor"], "help-doctor"),
        (["help", "mute"], "help-control"), (["help", "enroll"], "help-enroll"), (["help", "forget"], "help-words"),
        (["help", "misses"], "help-misses"), (["help", "record"], "help-record"), (["help", "serve"], "help-serve"),
        (["help", "completions"], "help-completions"), (["help", "model"], "help-model"),
        (["help", "backup"], "help-backup"),
    ]

    @Test(arguments: snapshots)
    func `help prints its snapshot`(_ arguments: [String], snapshot: String) throws {
        let program = try Program.beckon(arguments)
        #expect(program.status == 0 && program.error == "")
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Snapshots/\(snapshot).txt"
        let expected = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        #expect(
            program.output == expected,
            "if the change is meant: beckon \(arguments.joined(separator: " ")) > \(path)"
        )
    }

    @Test func `every command has a snapshot`() {
        let topics = Set(Self.snapshots.compactMap { $0.arguments.dropFirst().first })
        for declaration in CommandLineTool.declarations {
            #expect(declaration.names.contains { topics.contains($0.name) }, "\(declaration.title)")
        }
    }

    @Test func `help fits 80 columns`() {
        let texts = CommandLineTool.declarations.map(HelpPage.text)
        for line in ([HelpPage.overview(CommandLineTool.declarations)] + texts).joined().split(separator: "\n") {
            #expect(line.count <= 80, "\(line)")
            #expect(line.last != " ", "\(line)")
        }
    }

    @Test(arguments: [40, 60, 80, 120])
    func `help fits a terminal, and no word is broken`(_ width: Int) {
        let pages =
            [HelpPage.overview(CommandLineTool.declarations, room: width)]
            + CommandLineTool.declarations.map { HelpPage.text($0, room: width) }
        for line in pages.joined().split(separator: "\n") where columns(String(line)) > min(80, width) {
            // A longer word has a line of its own.
            #expect(!line.trimmingCharacters(in: .whitespaces).contains(" "), "\(width): \(line)")
        }
        func words(_ text: String) -> [Substring] { text.split(whereSeparator: \.isWhitespace) }
        for declaration in CommandLineTool.declarations {
            #expect(words(HelpPage.text(declaration, room: width)) == words(HelpPage.text(declaration)))
        }
    }

    @Test(arguments: CommandLineTool.declarations.map(\.title))
    func `every option is in the help, and every option of the help exists`(_ title: String) throws {
        let command = try #require(CommandLineTool.declarations.first { $0.title == title })
        let explained = Set(HelpPage.text(command).matches(of: /--[a-z][a-z-]*/).map { String($0.output) })
        let known = Set(command.options.map(\.name))
        #expect(known.subtracting(explained) == ["--help"])
        #expect(explained.subtracting(known) == [])
        #expect(known.count == command.options.count, "each option once")
        let letters = command.options.compactMap(\.short)
        #expect(Set(letters).count == letters.count, "each letter once")
    }

    @Test(arguments: CommandLineTool.declarations.map(\.title))
    func `an option's description in the shells is short`(_ title: String) throws {
        let command = try #require(CommandLineTool.declarations.first { $0.title == title })
        for option in command.options {
            #expect((5...64).contains(option.summary.count), "\(option.name): \(option.summary)")
            let manual = ManualLists.item(option)
            #expect(manual.count > 1 && manual.last?.hasSuffix(".") == true, "\(option.name): \(manual)")
        }
    }

    @Test func `the same help under every name`() throws {
        let help = try Program.beckon(["help"]).output
        #expect(try Program.beckon(["--help"]).output == help)
        #expect(try Program.beckon(["-h"]).output == help)
        for command in CommandLineTool.names {
            let own = try Program.beckon([command, "--help"]).output
            #expect(try Program.beckon(["help", command]).output == own)
        }
    }

    @Test func `the version is one line`() throws {
        let program = try Program.beckon(["--version"])
        #expect(program.output == "beckon \(version)\n" && program.status == 0)
    }

    @Test func `lines break between words`() {
        #expect(wrapped("one two three four", width: 9) == ["one two", "three", "four"])
        #expect(wrapped("incomprehensible is it", width: 5) == ["incomprehensible", "is it"])
        #expect(wrapped("", width: 5) == [])
    }
}
