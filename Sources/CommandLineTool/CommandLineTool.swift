private import Core
private import Glibc
private import System

/// The program: finds the command, runs it and returns the exit status.
public enum CommandLineTool {
    /// In the order of `beckon help`.
    static let commands: [any Command.Type] = [
        Listen.self, Classify.self, Enroll.self, WordsCommand.self, Record.self, Evaluate.self, Inspect.self,
        Devices.self, ConfigCommand.self, Doctor.self, Bench.self, ControlVerb.self,
    ]

    static var declarations: [CommandDeclaration] { commands.map { $0.declaration } }

    /// The names of all commands.
    static var names: [String] { declarations.flatMap { $0.names.map(\.name) } }

    /// Runs the command of this process's command line. Returns the exit status.
    public static func main() -> Int32 {
        StandardStreams.reserve()
        // Swift's own list would replace bytes that are not UTF-8, which names of files may contain.
        let words = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            CommandLine.unsafeArgv[index].map { word in
                FileName.text(UnsafeBufferPointer(start: word, count: strlen(word)).map(UInt8.init(bitPattern:)))
            }
        }
        return run(words)
    }

    /// - Parameter words: the command line without the program's name.
    public static func run(_ words: [String]) -> Int32 {
        let status = runCommand(words)
        guard let failure = Output.failure else { return status }
        Output.tellAnyway(.error, failure.description)
        return 1
    }

    private static func runCommand(_ words: [String]) -> Int32 {
        do {
            return try dispatch(words)
        } catch let error as UsageError {
            let topic = words.first.flatMap { names.contains($0) ? " " + $0 : nil } ?? ""
            Output.tell(.error, "\(error); see beckon help\(topic)")
            return 2
        } catch let error as Misconfiguration {
            Output.tell(.error, error.description)
            return Misconfiguration.status
        } catch {
            Output.tell(.error, "\(error)")
            return 1
        }
    }

    private static func dispatch(_ words: [String]) throws -> Int32 {
        guard let name = words.first else {
            Output.writeError(HelpPage.overview(declarations))
            return 2
        }
        let rest = words.dropFirst()
        if let command = command(name) {
            let arguments = try Arguments(name, rest, command.declaration)
            return try arguments.has("--help") ? help(name) : command.init(arguments).run()
        }
        switch name {
        case "help", "--help", "-h": return try help(rest.first)
        case "--version", "version":
            Output.write("beckon \(version)\n")
            return 0
        case "generate": return try Generate(rest).run()
        default:
            let kind = name.hasPrefix("-") ? "option" : "command"
            throw UsageError(
                "unknown \(kind) \(printable(name))",
                near: name,
                of: names + ["help", "--version", "--help"]
            )
        }
    }

    private static func command(_ name: String) -> (any Command.Type)? {
        commands.first { $0.declaration.name(name) != nil }
    }

    private static func help(_ topic: String?) throws -> Int32 {
        guard let topic, topic != "help" else {
            Output.write(HelpPage.overview(declarations))
            return 0
        }
        guard let command = command(topic) else {
            throw UsageError("no help on \(printable(topic))", near: topic, of: names)
        }
        Output.write(HelpPage.text(command.declaration))
        return 0
    }
}
