import Configuration
private import Core
private import Enrollment
import JSON
private import Spotting
private import System

/// `beckon config check`, `show` and `init`: checks, prints or writes the configuration; needs no running service.
struct ConfigCommand {
    private enum Task: String { case check, show, `init` }

    private let task: Task
    private let path: String?
    private let yes: Bool
    private let isForSystem: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        guard let task = arguments.task.flatMap(Task.init) else { throw UsageError("config needs check, show or init") }
        guard arguments.operands.count <= 1 else { throw UsageError("config \(task.rawValue) takes one file") }
        yes = arguments.has("--yes")
        isForSystem = arguments.has("--system")
        guard !yes || task == .`init` else { throw UsageError("--yes goes with config init, which asks questions") }
        guard !isForSystem || task == .`init` else { throw UsageError("--system goes with config init") }
        self.task = task
        path = arguments.operands.first
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        if task == .`init` { return try ConfigInit(file: path, isForSystem: isForSystem, yes: yes).run() }
        let environment = OwnEnvironment.variables
        guard let path = try path ?? InstanceOption.configuration(environment) else {
            return report(
                Configuration(),
                source: "no configuration file at \(places(environment)): the defaults apply"
            )
        }
        do {
            let file = try ParsedConfiguration(path: path).validated(resolving: words)
            for warning in file.warnings { Output.report(.warning, "\(warning)") }
            return report(file.configuration, source: "\(printable(path)): this configuration is sound")
        } catch {
            for problem in error.problems { Output.report(.error, "\(problem)") }
            return 1
        }
    }

    private func report(_ configuration: Configuration, source: String) -> Int32 {
        if task == .check { Output.writeText(source + "\n") } else { Output.write(configuration.json.indented) }
        return 0
    }

    private func places(_ environment: [String: String]) -> String {
        [ConfigurationFile.userPath(environment: environment), ConfigurationFile.systemPath].compactMap { $0 }
            .joined(separator: " or ")
    }

    /// The words of the configuration's model (by default the one that comes with the program), and the taught words.
    private func words(_ configuration: UncheckedConfiguration) throws -> KnownWords {
        var loader = VocabularyLoader(
            modelFolder: configuration.model,
            confirms: configuration.confirms(),
            words: TaughtWords(nil),
            wakeWords: configuration.wakeWords()
        )
        loader.optionalWakeWords = Set(loader.wakeWords)
        loader.typed = configuration.typedNames()
        do {
            let (vocabulary, taught) = try loader.load()
            return KnownWords(
                Labels(vocabulary.labels).words,
                gone: taught.gone,
                missing: vocabulary.missing,
                vocabulary: vocabulary
            )
        } catch let error as EnrollmentError where error != .model {
            throw ConfigurationProblem.ofOtherFile(error.description)
        }
    }
}
