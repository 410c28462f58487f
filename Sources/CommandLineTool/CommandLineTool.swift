private import FoundationEssentials
private import Service

/// The program: understands the command line, runs the command, gives the exit status.
public enum CommandLineTool {
    /// - Parameter words: the command line without the program's name.
    public static func run(_ words: [String]) -> Int32 {
        do {
            return try dispatch(words)
        } catch let error as UsageError {
            Terminal.tell(.error, "\(error); see beckon help")
            return 2
        } catch let error as Misconfiguration {
            Terminal.tell(.error, error.description)
            return Misconfiguration.status
        } catch {
            Terminal.tell(.error, "\(error)")
            return 1
        }
    }

    private static func dispatch(_ words: [String]) throws -> Int32 {
        guard let command = words.first else {
            Terminal.error(HelpText.overview)
            return 2
        }
        let rest = words.dropFirst()
        switch command {
        case "classify":
            let arguments = try Arguments(rest, options: ClassifyOptions.options)
            if arguments.has("--help") { return try help(command) }
            return try Classify(ClassifyOptions(arguments, processors: processors)).run()
        case "enroll":
            let arguments = try Arguments(rest, options: EnrollOptions.options)
            if arguments.has("--help") { return try help(command) }
            return try Enroll(EnrollOptions(arguments)).run()
        case "record":
            let arguments = try Arguments(rest, options: Record.options)
            if arguments.has("--help") { return try help(command) }
            return try Record(arguments).run()
        case "words", "forget":
            let arguments = try Arguments(rest, options: WordsCommand.options)
            if arguments.has("--help") { return try help("words") }
            return try WordsCommand(command, arguments).run()
        case "evaluate":
            let arguments = try Arguments(rest, options: EvaluateOptions.options)
            if arguments.has("--help") { return try help(command) }
            return try Evaluate(EvaluateOptions(arguments, processors: processors)).run()
        case "inspect":
            let arguments = try Arguments(rest, options: InspectOptions.options)
            if arguments.has("--help") { return try help(command) }
            return try Inspect(InspectOptions(arguments)).run()
        case "devices":
            let arguments = try Arguments(rest, options: Devices.options)
            if arguments.has("--help") { return try help(command) }
            return try Devices(arguments).run()
        case "doctor":
            let arguments = try Arguments(rest, options: Doctor.options)
            if arguments.has("--help") { return try help(command) }
            return try Doctor(arguments).run()
        case "bench":
            let arguments = try Arguments(rest, options: BenchOptions.options)
            if arguments.has("--help") { return try help(command) }
            let options = try BenchOptions(arguments)
            switch options.kind {
            case .stages: return try Bench(options).run()
            case .endToEnd(let setting): return try EndToEnd(options, setting).run()
            case .compare(let first, let second): return try BenchCompare(first, second).run()
            case .firstScore:
                Terminal.output(try FirstScore(options).json)
                return 0
            }
        case "config":
            let arguments = try Arguments(rest, options: ConfigCommand.options)
            if arguments.has("--help") { return try help(command) }
            return try ConfigCommand(arguments).run()
        case _ where ControlVerb.names.contains(command):
            let arguments = try Arguments(rest, options: ControlVerb.options)
            if arguments.has("--help") { return try help(command) }
            return try ControlVerb(command, arguments).run()
        case "listen":
            let arguments = try Arguments(rest, options: ListenOptions.options)
            if arguments.has("--help") { return try help(command) }
            return try Listen(ListenOptions(arguments)).run()
        case "help", "--help", "-h":
            return try help(rest.first)
        case "--version", "version":
            Terminal.output("beckon \(version)\n")
            return 0
        default:
            let kind = command.hasPrefix("-") ? "option" : "command"
            throw UsageError(
                "unknown \(kind) \(command)",
                near: command,
                of: topics + ["help", "--version", "--help"]
            )
        }
    }

    private static var processors: Int { ProcessInfo.processInfo.activeProcessorCount }

    /// Commands that have options and a help text.
    static let topics =
        [
            "listen", "classify", "enroll", "words", "forget", "record", "evaluate", "inspect", "devices", "config",
            "doctor", "bench",
        ] + ControlVerb.names

    private static func help(_ topic: String?) throws -> Int32 {
        switch topic {
        case nil: Terminal.output(HelpText.overview)
        case "listen": Terminal.output(HelpText.listen)
        case "classify": Terminal.output(HelpText.classify)
        case "enroll": Terminal.output(HelpText.enroll)
        case "record": Terminal.output(HelpText.record)
        case "words", "forget": Terminal.output(HelpText.words)
        case "evaluate": Terminal.output(HelpText.evaluate)
        case "inspect": Terminal.output(HelpText.inspect)
        case "devices": Terminal.output(HelpText.devices)
        case "config": Terminal.output(HelpText.config)
        case "doctor": Terminal.output(HelpText.doctor)
        case "bench": Terminal.output(HelpText.bench)
        case let topic? where ControlVerb.names.contains(topic): Terminal.output(HelpText.control)
        case "help": Terminal.output(HelpText.overview)
        case let topic?: throw UsageError("no help on \(topic)", near: topic, of: topics)
        }
        return 0
    }
}
