import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// The manual page explains every command and every option, and no others.
struct ManualTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/../../man/beckon.1"

    private static func text() throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: page)), as: UTF8.self)
    }

    @Test func `the option lists are those of the commands' declarations`() throws {
        let text = try Self.text()
        #expect(try ManualLists(CommandLineTool.declarations).renew(text) == text, "make generate renews them")
        #expect(try Program.beckon(["generate", "manual", Self.page]).output == text)
    }

    @Test func `the manual page has every option list`() throws {
        let lists = try Self.text().matches(of: /\n\.\\" Generated: (.*)/).map { String($0.1) }
        #expect(
            lists
                == ManualLists(CommandLineTool.declarations).names.sorted { left, right in
                    (lists.firstIndex(of: left) ?? .max) < (lists.firstIndex(of: right) ?? .max)
                }
        )
    }

    @Test func `the synopsis has every command and every task`() throws {
        let text = try Self.text()
        let start = try #require(text.range(of: ".Sh SYNOPSIS\n")?.upperBound)
        let end = try #require(text[start...].range(of: "\n.Sh ")?.lowerBound)
        let words = Set(text[start..<end].split(whereSeparator: \.isWhitespace).map(String.init))
        for name in CommandLineTool.declarations.flatMap(\.names) {
            #expect(words.contains(name.name), "\(name.name)")
            for task in name.tasks { #expect(words.contains(task.name), "\(name.name) \(task.name)") }
        }
    }

    @Test func `source lines fit 80 columns`() throws {
        for line in try Self.text().split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }

    @Test(arguments: [
        ".\\\" Generated: options of nothing\n.\\\" End\n", ".\\\" Generated: options listen\n.Bl -tag -width Ds\n",
    ])
    func `a comment that names no list, or has no end, is an error`(page: String) {
        #expect(throws: Failure.self) { try ManualLists(CommandLineTool.declarations).renew(page) }
    }

    /// Command lines of the page's examples, as a shell reads them.
    private static func examples() throws -> [String] {
        let page = try text()
        let roff = ["\\(dq": "\"", "\\(aq": "'", "\\&": ""]
        return page.matches(of: /\n\.Dl (.*)/).map { match in
            roff.reduce(String(match.1)) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
        }
    }

    @Test func `the commands of all examples are valid`() throws {
        let examples = try Self.examples() + CommandLineTool.declarations.flatMap(\.examples)
        #expect(examples.count > 25)
        let folder = try TestFolder()
        for name in [".zfunc", ".config/fish/completions"] { try folder.folder(name) }
        for example in examples {
            // Each command of beckon is one line of words, written at once: both ends of a pipe write. Other programs do nothing.
            let others = ["find", "ffmpeg", "arecord", "systemctl", "journalctl", "grep", "xdg-open"].map {
                "\($0)() { :; }; "
            }
            .joined()
            let script = """
                beckon() { local IFS=$'\\x1f'; printf '%s\\n' "$*" >> "$HOME/called"; }
                ssh() { shift; "$@"; }
                sudo() { "$@"; }
                \(others)
                cd "$HOME"
                \(example)
                """
            try folder.write("called", bytes: [])
            let shell = try Program.run(
                URL(fileURLWithPath: "/bin/bash"),
                ["-c", script],
                environment: ["HOME": folder.path]
            )
            #expect(shell.error == "", "\(example): \(shell.error)")
            let calls = String(decoding: try folder.bytes("called"), as: UTF8.self).split(separator: "\n")
            #expect(
                !calls.isEmpty || ["echo", "journalctl", "systemctl"].contains { example.hasPrefix($0) },
                "\(example)"
            )
            for call in calls {
                let words = try InstanceOption.moved(
                    call.split(separator: "\u{1f}", omittingEmptySubsequences: false).map(String.init)
                )
                let name = try #require(words.first)
                let declaration = try #require(
                    CommandLineTool.declarations.first { $0.name(name) != nil },
                    "\(example)"
                )
                #expect(throws: Never.self, "\(example)") {
                    let arguments = try Arguments(name, words.dropFirst(), declaration)
                    let command = CommandLineTool.commands.first { $0.declaration.name(name) != nil }
                    // A file that is not there is no mistake of the command line.
                    do { _ = try command?.init(arguments) } catch let error where !(error is UsageError) {}
                }
            }
        }
    }

    @Test(arguments: ["beckon.1", "beckon.conf.5"])
    func `mandoc finds nothing wrong with the page`(_ name: String) throws {
        let mandoc = URL(fileURLWithPath: "/usr/bin/mandoc")
        guard FileManager.default.isExecutableFile(atPath: mandoc.path) else {
            print("mandoc is not installed: \(name) was not checked")
            return
        }
        let folder = URL(fileURLWithPath: Self.page).deletingLastPathComponent().path
        let program = try Program.run(mandoc, ["-T", "lint", "-W", "style", "\(folder)/\(name)"])
        // Whether other pages are installed here is not the page's business.
        let findings = (program.lines + program.error.split(separator: "\n")).filter {
            !$0.contains("referenced manual not found") && !$0.contains("mandoc.db")
        }
        #expect(findings == [])
    }

    @Test func `the page explains every option where it belongs`() throws {
        let page = try Self.text()
        /// The options that a part of the page explains, with their letters.
        func explained(_ title: String) -> Set<String> {
            guard let start = page.range(of: title)?.upperBound else { return [] }
            let part = page[start...]
            let end = part.firstRange(of: /\n\.S[hs]\s/)?.lowerBound ?? part.endIndex
            return Set(part[..<end].matches(of: /\.It Fl (?:(\w) , Fl )?-([a-z-]+)/).map { "\($0.1 ?? "") --\($0.2)" })
        }
        let shared = explained(".Sh OPTIONS FOR LISTENING\n")
        #expect(shared.count == 11)
        for command in CommandLineTool.declarations {
            let own = explained(".Ss beckon \(command.title)\n")
            let known = Set(command.options.map { "\($0.short?.dropFirst() ?? "") \($0.name)" })
            #expect(own.isSubset(of: known), "\(command.title): \(own.subtracting(known))")
            let missing = known.subtracting(own).subtracting(shared)
            #expect(missing.isEmpty, "\(command.title): \(missing)")
        }
    }
}
