private import Glibc
import JSON
public import Network
public import Spotting
import System
private import WakeWords

/// A valid configuration file; also finds the file.
public struct ConfigurationFile: Sendable {
    /// The folder of the system's configurations.
    public static let systemFolder = "/etc/beckon"
    /// The path of the system's configuration, of the service without a name.
    public static let systemPath = systemFolder + "/config.json5"

    /// The path of the system's configuration: `config.json5`, or that of the instance that the environment names, `kitchen.json5`.
    public static func systemPath(environment: [String: String]) -> String {
        "\(systemFolder)/\(Instance.named(in: environment).configuration).json5"
    }

    /// `$XDG_CONFIG_HOME/beckon/config.json5`, or `~/.config/beckon/config.json5` if that variable is not set; nil
    /// without a home. Of an instance it is `kitchen.json5`.
    public static func userPath(environment: [String: String]) -> String? {
        let name = Instance.named(in: environment).configuration
        // The XDG Base Directory Specification says to ignore a relative path.
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            return "\(folder)/beckon/\(name).json5"
        }
        if let home = environment["HOME"], home.hasPrefix("/") { return "\(home)/.config/beckon/\(name).json5" }
        return nil
    }

    /// The path of the user's configuration if it exists, else of the system's; nil if neither exists.
    public static func find(environment: [String: String], systemPath: String? = nil) -> String? {
        let system = systemPath ?? Self.systemPath(environment: environment)
        return [userPath(environment: environment), system].compactMap { $0 }.first { fileExists($0) }
    }

    /// The valid configuration.
    public let configuration: Configuration
    /// Problems that do not make the configuration invalid, in the order of its lines.
    public let warnings: [ConfigurationProblem]
}

/// The words that a configuration may name.
public struct KnownWords: Sendable {
    /// The words of the model and the taught words.
    public var names: [String]
    /// Taught words that are gone: naming one is a warning.
    public var gone: [String]
    /// Wake words that are named and cannot be loaded: a warning.
    public var missing: [MissingWakeWord]
    /// Also checks that there are thresholds for the sensitivities; nil skips this.
    public var vocabulary: Vocabulary?

    public init(
        _ names: [String],
        gone: [String] = [],
        missing: [MissingWakeWord] = [],
        vocabulary: Vocabulary? = nil
    ) {
        self.names = names
        self.gone = gone
        self.missing = missing
        self.vocabulary = vocabulary
    }
}

/// Settings that are not validated: only what needs no words can be used.
public struct UncheckedConfiguration: Sendable {
    let settings: Configuration

    /// The folder of the model; nil for the default one.
    public var model: String? { settings.model }
    /// Whether the model's confirming networks are loaded, with other settings in force.
    public func confirms(_ overrides: (inout Configuration) -> Void = { _ in }) -> Bool { inForce(overrides).confirms }
    /// Wake words with models of their own, with other settings in force.
    public func wakeWords(_ overrides: (inout Configuration) -> Void = { _ in }) -> [String] {
        inForce(overrides).wakeWords
    }
    /// Words that are made from their names, with other settings in force.
    public func typedNames(_ overrides: (inout Configuration) -> Void = { _ in }) -> [TypedName] {
        inForce(overrides).typedNames
    }
    private func inForce(_ overrides: (inout Configuration) -> Void) -> Configuration {
        var inForce = settings
        overrides(&inForce)
        return inForce
    }

    /// Where the web server listens.
    public var webListen: [ListenAddress] { settings.web.listen }

    /// As ``Configuration/namedWords(beside:)``.
    public func namedWords(beside known: [String] = []) -> [String] { settings.namedWords(beside: known) }

    /// Whether other settings leave the mode and the choice of thresholds as they are.
    public func keepsThresholds(_ overrides: (inout Configuration) -> Void) -> Bool {
        let inForce = inForce(overrides)
        return inForce.gate.mode == settings.gate.mode && inForce.thresholdChoices == settings.thresholdChoices
    }
}

/// A configuration that is parsed but not yet validated, because the words of its model are not known.
///
/// ``unchecked`` names the model; ``validated(words:)`` then checks the rest against the model's words.
public struct ParsedConfiguration: Sendable {
    /// The largest file that is read, in bytes.
    private static let maxSize = 256 << 10

    /// The settings that could be read.
    public var unchecked: UncheckedConfiguration { UncheckedConfiguration(settings: configuration) }
    let configuration: Configuration
    let findings: Findings

    /// Reads and parses a file.
    ///
    /// - Throws: if the file cannot be read or is not JSON5. ``validated(words:)`` reports all other mistakes.
    public init(path: String) throws(ConfigurationError) {
        let (text, status) = try Self.contents(of: path)
        try self.init(text: text, file: path, doubts: trustDoubts(path, status))
    }

    /// - Parameters:
    ///   - text: the configuration as JSON5.
    ///   - file: the file's name in messages.
    ///   - doubts: who else may change the file; each gives a warning.
    public init(text: String, file: String, doubts: [String] = []) throws(ConfigurationError) {
        var findings = Findings(file: file)
        for doubt in doubts { findings.add(doubt, isWarning: true) }
        do throws(JSONError) {
            let node = try JSONNode.parse(text, .json5)
            configuration = SettingKind.configuration.read(node, "", &findings) ?? Configuration()
        } catch {
            findings.add(error.reason, at: error.place)
            throw ConfigurationError(problems: findings.sorted)
        }
        self.findings = findings
    }

    /// Checks the configuration against the words of its model and the taught words.
    ///
    /// - Throws: all mistakes of the configuration, not only the first.
    public func validated(by words: KnownWords) throws(ConfigurationError) -> ConfigurationFile {
        var findings = findings
        let spelling = WordSpelling(known: words.names + words.gone + words.missing.map(\.word))
        let configuration = spelling.spelled(configuration)
        findings.phrases = findings.phrases.map { ($0.key, spelling.spelled($0.value)) }
        findings.sessions = findings.sessions.map { ($0.key, spelling.spelled($0.value)) }
        ConfigurationCheck(configuration: configuration, words: words).run(&findings)
        let problems = findings.sorted
        guard problems.allSatisfy(\.isWarning) else { throw ConfigurationError(problems: problems) }
        return ConfigurationFile(configuration: configuration, warnings: problems)
    }

    /// Asks for the words that are known under this configuration, and checks it against them.
    ///
    /// - Parameter words: returns the words of the model that the configuration names and the taught words. An error is
    ///   reported for the key `model` or `wakeWords`, unless it is a ``ConfigurationProblem``, or the file does not have the key: an option
    ///   or a variable names the model then.
    /// - Throws: all mistakes of the configuration, not only the first.
    public func validated(
        resolving words: (UncheckedConfiguration) throws -> KnownWords
    ) throws(ConfigurationError) -> ConfigurationFile {
        let known: KnownWords
        do {
            known = try words(unchecked)
        } catch let problem as ConfigurationProblem {
            throw refusal { $0.add(problem) }
        } catch let error as WakeWordError where !configuration.wakeWords.isEmpty {
            throw refusal { $0.add("\(error)", key: "wakeWords") }
        } catch  where configuration.model != nil && !(error is WakeWordError) {
            throw refusal { $0.add("\(error)", key: "model") }
        } catch {
            throw refusal { $0.add(.ofOtherFile("\(error)")) }
        }
        return try validated(by: known)
    }

    /// All mistakes of a configuration whose model or words cannot be read, and the reason that `add` adds.
    private func refusal(_ add: (inout Findings) -> Void) -> ConfigurationError {
        var findings = findings
        add(&findings)
        ConfigurationCheck(configuration: configuration, words: nil).run(&findings)
        return ConfigurationError(problems: findings.sorted)
    }

    /// The text of a file, and its status. Reads regular files only: a pipe could block for ever.
    private static func contents(of path: String) throws(ConfigurationError) -> (text: String, status: FileStatus) {
        func refuse(_ reason: String) -> ConfigurationError {
            ConfigurationError(problems: [ConfigurationProblem(file: path, message: reason)])
        }
        let contents: FileContents
        do throws(ReadFileError) {
            contents = try readFile(path, limit: maxSize)
        } catch {
            switch error {
            case .system(let error) where error.call == "open":
                throw refuse(
                    "cannot open the configuration: \(SystemError.text(error.number)); check name and permissions"
                )
            case .system(let error):
                throw refuse("cannot read the configuration: \(SystemError.text(error.number))")
            case .notRegularFile, .foreign: throw refuse("is not a file; name the configuration file itself")
            case .tooLarge: throw refuse("is too large for a configuration (256 KiB at most)")
            case .truncated: throw refuse("became shorter while it was read; try again")
            }
        }
        guard let text = String(validating: contents.bytes, as: UTF8.self) else {
            throw refuse("is not UTF-8 text; save it as such")
        }
        return (text, contents.status)
    }
}
