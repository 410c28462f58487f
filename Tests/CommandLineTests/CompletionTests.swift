import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// The shells complete every command and every option, and no others.
struct CompletionTests {
    private static let folder =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/../../completions"

    private static func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")), as: UTF8.self)
    }

    /// Each command with its long options.
    private static let commands: [(name: String, options: Set<String>)] = CommandLineTool.declarations.flatMap {
        command in
        command.names.map { ($0.name, Set(command.options.map(\.name))) }
    }

    @Test(arguments: [("bash", "beckon.bash"), ("zsh", "_beckon"), ("fish", "beckon.fish")])
    func `the files are made from the commands' declarations`(shell: String, file: String) throws {
        let program = try Program.beckon(["completions", shell])
        #expect(program.status == 0 && program.error == "")
        #expect(try program.output == Self.text(file), "make generate renews it")
    }

    @Test func `only existing shells have a completion`() throws {
        for words in [[], ["tcsh"], ["bash", "zsh"]] {
            let program = try Program.beckon(["completions"] + words)
            #expect(program.status == 2 && program.error.contains("bash, zsh, fish"), "\(words)")
        }
        for words in [[], ["bash"], ["manual"]] {
            #expect(try Program.beckon(["generate"] + words).status == 2)
        }
        #expect(try Program.beckon(["generate", "manual", "/nonexistent"]).status == 1)
        #expect(!CommandLineTool.names.contains("generate"))
    }

    /// Completions that bash offers after `words`.
    ///
    /// - Parameter current: the word at the cursor.
    private static func bash(_ words: [String], _ current: String) throws -> [String] {
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        let script = """
            compopt() { :; }
            beckon() {
                case "$1" in
                    generate) [ "$2" = instances ] && echo kitchen && return; '\(Program.beckonFile.path)' "$@" ;;
                    *) printf '%s\\n' '{"word": "hey house", "takes": 3}' '{"word": "lamp", "takes": 4}' ;;
                esac
            }
            source \(folder)/beckon.bash
            COMP_WORDS=(beckon \(list) '\(current)')
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _beckon
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let program = try Program.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
        #expect(program.status == 0 && program.error == "", "\(program.error)")
        return program.lines.map(String.init)
    }

    @Test func `bash completes every command and every option`() throws {
        #expect(try Set(Self.bash([], "")) == Set(CommandLineTool.names + ["help", "--version", "--help"]))
        for (name, options) in Self.commands {
            #expect(try Set(Self.bash([name], "--")) == options, "\(name)")
        }
    }

    @Test func `bash completes values and operands`() throws {
        let table: [(words: [String], current: String, expected: [String])] = [
            (["listen", "--mode"], "", ["spot", "command"]), (["evaluate", "--trigger"], "e", ["early", "end"]),
            (["classify", "-f"], "", ["table", "json", "csv", "records", "audacity"]),
            (["listen", "--channel"], "m", ["mix"]),
            (["bench", "-k"], "avx", ["avx2", "avx512"]), (["classify", "--word"], "st", ["stop="]),
            (["set"], "y", ["yes="]), (["set"], "se", ["sensitivity "]),
            (["set", "sensitivity"], "", ["strict", "balanced", "eager"]),
            (["set", "sensitivity"], "e", ["eager"]), (["completions"], "", ["bash", "zsh", "fish"]),
            (["config"], "", ["check", "show", "init"]), (["config"], "sh", ["show"]),
            (["words"], "", ["export", "import", "rename", "hey house", "lamp"]), (["words"], "l", ["lamp"]),
            (["words", "export", "f"], "", ["hey house", "lamp"]),
            (["words", "export", "f", "lamp"], "h", ["hey house"]), (["words", "rename"], "l", ["lamp"]),
            (["forget"], "l", ["lamp"]),
            (["enroll"], "", []), (["enroll", "--more"], "l", ["lamp"]), (["help"], "cl", ["classify"]),
            (["classify", "--threshold"], "", []), (["inspect", "--from"], "", []),
            (["classify"], "\(Self.folder)/_", ["\(Self.folder)/_beckon"]),
            (["listen", "--file"], "\(Self.folder)/_", ["\(Self.folder)/_beckon"]),
            (["enroll", "x", "--from"], "\(Self.folder)/_", ["\(Self.folder)/_beckon"]),
            (["record"], "\(Self.folder)/../complet", ["\(Self.folder)/../completions"]),
            (["words", "import"], "\(Self.folder)/_", ["\(Self.folder)/_beckon"]),
            (["-i"], "k", ["kitchen"]), (["-i", "kitchen", "listen", "--mode"], "", ["spot", "command"]),
            (["--instance", "kitchen"], "stat", ["status"]),
            (["listen", "--words"], "no", ["none", "no"]), (["evaluate", "--words"], "no", ["none"]),
            (["listen", "--model"], "flat", ["flatspeech"]), (["doctor", "-m"], "comm", ["commands"]),
            (["misses"], "", ["play", "export"]),
            (["misses", "play"], "", []),
            (["misses", "export", "1"], "\(Self.folder)/_", ["\(Self.folder)/_beckon"]),
        ]
        for (words, current, expected) in table {
            #expect(try Self.bash(words, current) == expected, "\(words) \(current)")
        }
    }

    @Test func `zsh completes every command and every option`() throws {
        let file = try Self.text("_beckon")
        let described = file.matches(of: /\n +'([a-z]+):/).map { String($0.1) }
        #expect(described == CommandLineTool.names + ["help"])
        for (name, options) in Self.commands {
            let arm = file.matches(of: /\n {16}([a-z |]+)\)\s([\s\S]*?);;/).first { match in
                match.1.split(separator: " | ").contains { $0 == name }
            }
            let offered = Set((arm?.2 ?? "").matches(of: /--[a-z-]+(?=[,\[)}])/).map { String($0.output) })
            #expect(offered == options, "\(name)")
        }
    }

    /// A folder with a program that answers what the shells ask.
    private static func fakeProgram(in folder: TestFolder) throws -> String {
        let bin = try folder.folder("bin")
        let fake = """
            #!/bin/sh
            case "$1 $2" in
                words*) printf '%s\\n' '{"word": "hey house", "takes": 3}' '{"word": "lamp", "takes": 4}' ;;
                "generate instances") echo kitchen ;;
                generate*) echo commands; echo flatspeech ;;
                devices*) printf '%s\\n' '{"device": "hw:CARD=Mic,DEV=0", "state": "free"}' ;;
            esac

            """
        try folder.write("bin/beckon", bytes: Array(fake.utf8))
        chmod(bin + "/beckon", 0o755)
        return bin
    }

    /// What zsh and fish offer: for tests of both, and of what follows an instance.
    private static let table: [(line: String, expected: Set<String>)] = [
        ("beckon ", Set(CommandLineTool.names + ["help"])), ("beckon li", ["listen"]),
        ("beckon completions ", ["bash", "zsh", "fish"]), ("beckon listen --mode ", ["spot", "command"]),
        ("beckon set se", ["sensitivity"]), ("beckon set sensitivity ", ["strict", "balanced", "eager"]),
        ("beckon set ye", ["yes"]), ("beckon forget ", ["hey house", "lamp"]),
        ("beckon config ", ["check", "show", "init"]), ("beckon listen --model co", ["commands"]),
        ("beckon words ", ["export", "import", "rename", "hey house", "lamp"]), ("beckon words l", ["lamp"]),
        ("beckon words rename ", ["hey house", "lamp"]), ("beckon words export f l", ["lamp"]),
        ("beckon record -d hw", ["hw:CARD=Mic,DEV=0"]), ("beckon -i ", ["kitchen"]),
        ("beckon --instance k", ["kitchen"]),
        ("beckon -i kitchen ", Set(CommandLineTool.names + ["help"])), ("beckon -i kitchen sta", ["status"]),
        ("beckon --instance=kitchen sta", ["status"]), ("beckon -i kitchen listen --mode ", ["spot", "command"]),
        ("beckon -i kitchen words l", ["lamp"]), ("beckon status -i ", ["kitchen"]),
    ]

    /// Completions that zsh offers for a command line, as its own completion system prints them on a pseudo-terminal; nil where
    /// there is no zsh.
    private static func zsh(_ line: String) throws -> [String]? {
        let shell = URL(fileURLWithPath: "/usr/bin/zsh")
        guard FileManager.default.isExecutableFile(atPath: shell.path) else { return nil }
        let folder = try TestFolder()
        let bin = try fakeProgram(in: folder)
        // `compadd` is wrapped to note what is offered, and Tab bound to a widget that prints it.
        let script = """
            zmodload zsh/zpty
            zpty z "cd \(bin); PATH=\(bin):$PATH TERM=dumb zsh -f -i"
            zpty -w z 'PS1=; fpath=(\(Self.folder) $fpath); autoload -U compinit; compinit -u -D'
            zpty -w z 'setopt no_beep no_auto_menu; stty -echo'
            zpty -w z 'compadd() {
                local a; for a; do [[ $a == -[OAD]* ]] && { builtin compadd "$@"; return }; done
                local -a x; builtin compadd -O x "$@"; found+=("${(@)x}"); builtin compadd "$@"
            }'
            zpty -w z 'report() { found=(); zle complete-word; print -rl -- "" "<<<" "${(@)found}" ">>>"; BUFFER= }'
            zpty -w z 'zle -N report; bindkey "^I" report; print REA""DY'
            zpty -r -m z all '*READY*'
            zpty -w -n z "$1"$'\\t'
            zpty -r -m z all '*<<<*>>>*'
            print -r -- $all
            zpty -d z
            """
        let program = try Program.run(shell, ["-f", "-c", script, "zsh", line])
        let lines = program.output.split(whereSeparator: \.isNewline).map(String.init)
        guard let begin = lines.lastIndex(of: "<<<"), let end = lines.lastIndex(of: ">>>"), begin < end else {
            Issue.record("\(program.output) \(program.error)")
            return []
        }
        return lines[(begin + 1)..<end].filter { !$0.isEmpty }
    }

    @Test func `zsh offers commands, options, values and operands`() throws {
        for (line, expected) in Self.table {
            guard let found = try Self.zsh(line) else {
                print("zsh is not installed: its completion was not tried")
                return
            }
            #expect(Set(found) == expected, "\(line): \(found)")
        }
    }

    /// What fish offers for a command line, without descriptions; nil where there is no fish.
    private static func fish(_ line: String) throws -> [String]? {
        let shell = URL(fileURLWithPath: "/usr/bin/fish")
        guard FileManager.default.isExecutableFile(atPath: shell.path) else { return nil }
        let home = try TestFolder()
        let bin = try fakeProgram(in: home)
        let script = "set PATH \(bin) $PATH; source \(folder)/beckon.fish; cd; complete --do-complete \"$line\""
        let program = try Program.run(shell, ["-c", script], environment: ["HOME": home.path, "line": line])
        #expect(program.status == 0 && program.error == "", "\(program.error)")
        return program.lines.map { line in
            let name = line.prefix { $0 != "\t" }
            return String(name.hasSuffix("=") ? name.dropLast() : name)
        }
    }

    @Test func `fish offers commands, options, values and operands`() throws {
        for (line, expected) in Self.table {
            guard let found = try Self.fish(line) else {
                print("fish is not installed: its completion was not tried")
                return
            }
            #expect(Set(found).isSuperset(of: expected), "\(line): \(found)")
            #expect(Set(found).isSubset(of: expected.union(["-h", "--help"])), "\(line): \(found)")
        }
    }

    @Test func `fish completes every command and every option`() throws {
        let file = try Self.text("beckon.fish")
        let described = file.matches(of: /__beckon_needs_command -a ([a-z]+)/).map { String($0.1) }
        #expect(described == CommandLineTool.names + ["help"])
        var known: [Substring: Set<String>] = [:]
        for line in file.split(separator: "\n") {
            guard let match = line.firstMatch(of: /-n '__fish_seen_subcommand_from ([a-z ]+)'.* -l ([a-z-]+)/) else {
                continue
            }
            for command in match.1.split(separator: " ") { known[command, default: []].insert("--\(match.2)") }
        }
        #expect(file.contains("\ncomplete -c beckon -s h -l help "))
        for (name, options) in Self.commands {
            #expect(known[name[...], default: []].union(["--help"]) == options, "\(name)")
        }
    }
}
