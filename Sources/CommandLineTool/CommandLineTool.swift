private import Audio
private import Core
private import Enrollment
private import Glibc
private import Inference
private import System

/// The program: finds the command, runs it and returns the exit status.
public enum CommandLineTool {
    /// In the order of `beckon help`.
    static let commands: [any Command.Type] = [
        Listen.self, Classify.self, Enroll.self, WordsCommand.self, ModelCommand.self, Record.self, Evaluate.self,
        Inspect.self,
        Serve.self, WebCommand.self, ESPHomeCommand.self, Devices.self, ConfigCommand.self, Doctor.self, Bench.self,
        CompletionsCommand.self,
        ControlVerb.self, MissesCommand.self, BackupCommand.self,
    ]

    static var declarations: [CommandDeclaration] { commands.map { $0.declaration } }

    /// The names of all commands.
    static var names: [String] { declarations.flatMap { $0.names.map(\.name) } }

    /// Runs the command of this process's command line. Returns the exit status.
    ///
    /// - Parameters: as `main` gets them in C. Swift's own list is found by a search of the memory in which the system left the words. Of
    ///   libraries that move them, such as those that change a process's title, it finds nothing; and it would replace bytes that are not
    ///   UTF-8, which names of files may contain.
    public static func main(_ count: Int32, _ words: UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
        StandardStreams.reserve()
        FreeMemory.share()
        AudioWarnings.send { line in
            // The audio on standard input lies in a file without a name.
            let parts = line.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
            let isInput = parts.count == 3 && parts[0] == "audio file " && parts[1].hasPrefix("/proc/self/fd/")
            Output.report(.warning, isInput ? "the audio on standard input\(parts[2])" : line)
        }
        let words = (1..<max(1, Int(count))).compactMap { index in
            words[index].map { word in
                FileName.text(UnsafeBufferPointer(start: word, count: strlen(word)).map(UInt8.init(bitPattern:)))
            }
        }
        return run(words)
    }

    /// - Parameter words: the command line without the program's name.
    public static func run(_ words: [String]) -> Int32 {
        let status = runCommand(words)
        guard let failure = Output.failure else { return status }
        Output.reportAnyway(.error, failure.description)
        return 1
    }

    private static func runCommand(_ words: [String]) -> Int32 {
        do {
            return try dispatch(words)
        } catch let error as UsageError {
            let topic = (try? InstanceOption.moved(words))?.first.flatMap { names.contains($0) ? " " + $0 : nil } ?? ""
            Output.report(.error, "\(error); see beckon help\(topic)")
            return 2
        } catch let error as Misconfiguration {
            Output.report(.error, error.description)
            return Misconfiguration.status
        } catch {
            Output.report(.error, "\(error)")
            return 1
        }
    }

    private static func dispatch(_ words: [String]) throws -> Int32 {
        let words = try InstanceOption.moved(words)
        guard let name = words.first else {
            Output.writeError(HelpPage.overview(declarations, room: Terminal.errorRoom))
            return 2
        }
        let rest = words.dropFirst()
        if let command = command(name) {
            if let task = rest.first, let meant = synonyms["\(name) \(task)"] {
                throw UsageError("unknown task \(name) \(task); did you mean \(meant)?")
            }
            try InstanceOption.check(rest, name, command.declaration)
            let arguments = try Arguments(name, rest, command.declaration)
            try InstanceOption.use(arguments)
            return try arguments.has("--help") ? help(name) : command.init(arguments).run()
        }
        switch name {
        case "help", "--help", "-h": return try help(rest.first)
        case "--version", "version", "-V", "-v":
            Output.write("beckon \(version)\n")
            return 0
        case "generate": return try Generate(rest).run()
        default: throw unknown(name)
        }
    }

    /// What people call commands that have other names here.
    private static let synonyms = [
        "start": "systemctl start beckon", "stop": "beckon mute, or systemctl stop beckon",
        "restart": "systemctl restart beckon", "enable": "systemctl enable --now beckon",
        "run": "beckon listen", "detect": "beckon listen, or beckon classify FILE", "daemon": "beckon listen",
        "transcribe": "beckon classify", "recognize": "beckon classify", "recognise": "beckon classify",
        "train": "beckon enroll", "learn": "beckon enroll", "teach": "beckon enroll", "add": "beckon enroll",
        "delete": "beckon forget", "remove": "beckon forget", "list": "beckon words, or beckon devices",
        "mics": "beckon devices", "microphones": "beckon devices", "check": "beckon doctor, or beckon config check",
        "test": "beckon doctor", "log": "journalctl --unit beckon", "logs": "journalctl --unit beckon",
        "watch": "beckon events", "info": "beckon status", "threshold": "beckon set WORD=T",
        "sensitivity": "beckon set sensitivity", "words list": "beckon words", "words show": "beckon words",
        "words add": "beckon enroll", "words forget": "beckon forget", "words delete": "beckon forget",
        "words remove": "beckon forget", "models": "beckon model list", "model show": "beckon model list",
        "model delete": "beckon model remove", "model install": "beckon model add", "config list": "beckon config show",
        "config new": "beckon config init",
        "config create": "beckon config init",
        "config edit": "beckon config show, and then an editor", "init": "beckon config init",
        "setup": "beckon config init", "devices list": "beckon devices",
    ]

    private static func unknown(_ name: String) -> UsageError {
        let shown = name.isEmpty ? "''" : printable(name)
        if let meant = synonyms[name.lowercased()] {
            return UsageError("unknown command \(shown); did you mean \(meant)?")
        }
        // A file in place of a command.
        if !name.hasPrefix("-"), fileExists(name) {
            let file = ShellWord.quoted(shown)
            return UsageError("\(shown) is a file, not a command; did you mean beckon classify \(file)?")
        }
        if knowsWord(name) {
            return UsageError("\(shown) is a word, not a command; beckon listen and beckon classify FILE find it")
        }
        let kind = name.hasPrefix("-") ? "option" : "command"
        return UsageError("unknown \(kind) \(shown)", near: name, of: names + ["help", "--version", "--help"])
    }

    /// Whether a name is that of a word, of the default model or taught.
    private static func knowsWord(_ name: String) -> Bool {
        let taught = (try? TaughtWords(nil).read())?.words.map(\.name) ?? []
        let known = (try? VocabularyLoader.model(in: nil, confirms: false)).map { Labels($0.labels).words } ?? []
        return (taught + known).contains(name)
    }

    private static func command(_ name: String) -> (any Command.Type)? {
        commands.first { $0.declaration.name(name) != nil }
    }

    private static func help(_ topic: String?) throws -> Int32 {
        guard let topic, topic != "help" else {
            Output.write(HelpPage.overview(declarations, room: Terminal.outputRoom))
            return 0
        }
        guard let command = command(topic) else {
            throw UsageError("no help on \(printable(topic))", near: topic, of: names)
        }
        Output.write(HelpPage.text(command.declaration, room: Terminal.outputRoom))
        return 0
    }
}
