import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// The manual page and the shells' completions know every command and every option, and no others.
struct ManualTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/../.."

    /// Each command with its long options.
    static let commands: [(name: String, options: [Arguments.Option])] =
        [
            ("listen", ListenOptions.options), ("classify", ClassifyOptions.options), ("enroll", EnrollOptions.options),
            ("words", WordsCommand.options), ("forget", WordsCommand.options), ("record", Record.options),
            ("evaluate", EvaluateOptions.options), ("inspect", InspectOptions.options), ("devices", Devices.options),
            ("config", ConfigCommand.options), ("doctor", Doctor.options), ("bench", BenchOptions.options),
        ] + ControlVerb.names.map { ($0, ControlVerb.options) }

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: root + "/" + path)), as: UTF8.self)
    }

    @Test func `all commands are looked at`() {
        #expect(Self.commands.map(\.name) == CommandLineTool.topics)
    }

    @Test func `the manual page explains every option where it belongs`() throws {
        let page = try Self.text("man/beckon.1")
        /// The options that a part of the page explains, with their letters.
        func explained(_ title: String) -> Set<String> {
            guard let start = page.range(of: title)?.upperBound else { return [] }
            let part = page[start...]
            let end = part.firstRange(of: /\n\.S[hs]\s/)?.lowerBound ?? part.endIndex
            return Set(part[..<end].matches(of: /\.It Fl (?:(\w) , Fl )?-([a-z-]+)/).map { "\($0.1 ?? "") --\($0.2)" })
        }
        let shared = explained(".Sh OPTIONS FOR LISTENING\n")
        #expect(shared.count == 7)
        for (name, options) in Self.commands {
            let group = [ControlVerb.names, ["words", "forget"]].first { $0.contains(name) } ?? [name]
            let heading = group.joined(separator: ", ")
            let own = explained(".Ss beckon \(heading)\n")
            let known = Set(options.map { "\($0.short?.dropFirst() ?? "") \($0.name)" })
            #expect(own.isSubset(of: known), "\(name): \(own.subtracting(known))")
            #expect(known.isSubset(of: own.union(shared)), "\(name): \(known.subtracting(own).subtracting(shared))")
        }
    }

    @Test func `bash completes every command and every option`() throws {
        func completions(_ words: String) throws -> Set<String> {
            let script = """
                compopt() { :; }
                source \(Self.root)/completions/beckon.bash
                COMP_WORDS=(beckon \(words) '\(words.isEmpty ? "" : "--")')
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                _beckon
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let program = try Program.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
            #expect(program.status == 0 && program.error == "")
            return Set(program.lines.map(String.init))
        }
        #expect(try completions("") == Set(CommandLineTool.topics + ["help", "--version", "--help"]))
        for (name, options) in Self.commands {
            #expect(try completions(name) == Set(options.map(\.name)), "\(name)")
        }
    }

    @Test func `zsh completes every command and every option`() throws {
        let file = try Self.text("completions/_beckon")
        let described = file.matches(of: /\n +'([a-z]+):/).map { String($0.1) }
        #expect(described == CommandLineTool.topics + ["help"])
        /// Options that stand in arrays, by the array's name.
        var arrays: [Substring: Set<String>] = [:]
        for match in file.matches(of: /local -a (\w+)=\(([\s\S]*?)\n? *\)\n/) {
            arrays[match.1] = Self.options(in: match.2, arrays)
        }
        for (name, options) in Self.commands {
            let arm = file.matches(of: /\n {16}([a-z |]+)\)\s([\s\S]*?);;/).first { match in
                match.1.split(separator: " | ").contains { $0 == name }
            }
            #expect(Self.options(in: arm?.2 ?? "", arrays) == Set(options.map(\.name)), "\(name)")
        }
    }

    private static func options(in text: Substring, _ arrays: [Substring: Set<String>]) -> Set<String> {
        let own = Set(text.matches(of: /--[a-z-]+/).map { String($0.output) })
        return text.matches(of: /\$(\w+)/).reduce(into: own) { $0.formUnion(arrays[$1.1] ?? []) }
    }

    @Test func `fish completes every command and every option`() throws {
        let file = try Self.text("completions/beckon.fish")
        let described = file.matches(of: /__fish_use_subcommand -a ([a-z]+)/).map { String($0.1) }
        #expect(described == CommandLineTool.topics + ["help"])
        var variables: [Substring: Set<Substring>] = [:]
        var known: [Substring: Set<String>] = [:]
        for line in file.split(separator: "\n") {
            if let match = line.wholeMatch(of: /set -l (\w+) '__fish_seen_subcommand_from ([a-z ]+)'/) {
                variables[match.1] = Set(match.2.split(separator: " "))
            } else if let match = line.firstMatch(
                of: /-n (?:\$(\w+)|'__fish_seen_subcommand_from ([a-z]+)').* -l ([a-z-]+)/
            ) {
                let commands = match.1.flatMap { variables[$0] } ?? Set([match.2].compactMap { $0 })
                for command in commands { known[command, default: []].insert("--\(match.3)") }
            }
        }
        #expect(file.contains("\ncomplete -c beckon -s h -l help "))
        for (name, options) in Self.commands {
            #expect(known[name[...], default: []].union(["--help"]) == Set(options.map(\.name)), "\(name)")
        }
    }
}
