private import Glibc
private import System

/// Where the configuration is found, and what it says once it is valid.
public struct ConfigurationFile: Sendable {
    /// The system's configuration.
    public static let systemPath = "/etc/beckon/config.json5"

    /// `$XDG_CONFIG_HOME/beckon/config.json5`, in `~/.config` where that is not set; nil without a home.
    public static func userPath(environment: [String: String]) -> String? {
        // The specification of these folders says to ignore what is not absolute.
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return folder + "/beckon/config.json5" }
        if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.config/beckon/config.json5" }
        return nil
    }

    /// The user's configuration where there is one, else the system's; nil where there is neither.
    public static func find(environment: [String: String], systemPath: String = systemPath) -> String? {
        [userPath(environment: environment), systemPath].compactMap { $0 }.first { access($0, F_OK) == 0 }
    }

    public let configuration: Configuration
    /// Everything that works all the same, in the order of the lines.
    public let warnings: [ConfigurationProblem]
}

/// A configuration as it stands in a file, before it is known which words its model has.
///
/// ``configuration`` tells which model that is; ``validated(words:)`` then holds the rest against the words.
public struct ParsedConfiguration: Sendable {
    /// A larger file is no configuration, in bytes.
    private static let maxSize = 1 << 20

    /// What could be read; only its model is of use before it is validated.
    public let configuration: Configuration
    private let findings: Findings

    /// Reads and parses a file.
    ///
    /// - Throws: where it cannot be read or is no JSON5. All else that is wrong is kept for ``validated(words:)``.
    public init(path: String) throws(ConfigurationError) {
        let (text, isOpenToAll) = try Self.contents(of: path)
        try self.init(text: text, file: path, isOpenToAll: isOpenToAll)
    }

    /// - Parameters:
    ///   - text: JSON5.
    ///   - file: what the text is called in messages.
    ///   - isOpenToAll: everybody may write it.
    public init(text: String, file: String, isOpenToAll: Bool = false) throws(ConfigurationError) {
        var findings = Findings(file: file)
        if isOpenToAll {
            findings.add("everybody may write this file, which names programs to run; try chmod o-w", isWarning: true)
        }
        do throws(JSON5Error) {
            let node = try JSON5Parser.parse(text)
            configuration = SettingKind.configuration.read(node, "", &findings) ?? Configuration()
        } catch {
            findings.add(error.reason, line: error.line)
            throw ConfigurationError(problems: findings.sorted)
        }
        self.findings = findings
    }

    /// The configuration, held against the words that its model and its user know.
    ///
    /// - Throws: everything that is wrong with it, not only the first.
    public func validated(words: [String]) throws(ConfigurationError) -> ConfigurationFile {
        var findings = findings
        ConfigurationCheck(configuration: configuration, words: words).run(&findings)
        let problems = findings.sorted
        guard problems.allSatisfy(\.isWarning) else { throw ConfigurationError(problems: problems) }
        return ConfigurationFile(configuration: configuration, warnings: problems)
    }

    /// Asks for the words that are known under this configuration, and holds it against them.
    ///
    /// - Parameter words: finds the model that the configuration names; what it throws is said of the key `model`.
    public func validated(
        resolving words: (Configuration) throws -> [String]
    ) throws(ConfigurationError) -> ConfigurationFile {
        let known: [String]
        do {
            known = try words(configuration)
        } catch {
            throw refusal(ofModel: "\(error)")
        }
        return try validated(words: known)
    }

    /// Everything that is wrong with a configuration whose model or words cannot be read, for this reason.
    private func refusal(ofModel reason: String) -> ConfigurationError {
        var findings = findings
        findings.add(reason, key: "model")
        ConfigurationCheck(configuration: configuration, words: nil).run(&findings)
        return ConfigurationError(problems: findings.sorted)
    }

    /// Only regular files are read: a pipe could block for ever.
    private static func contents(of path: String) throws(ConfigurationError) -> (text: String, isOpenToAll: Bool) {
        func refuse(_ reason: String) -> ConfigurationError {
            ConfigurationError(problems: [
                ConfigurationProblem(file: path, line: nil, key: "", message: reason, isWarning: false)
            ])
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
            case .notRegularFile: throw refuse("is not a file; name the configuration itself")
            case .tooLarge: throw refuse("is too large for a configuration (1 MiB at most)")
            case .truncated: throw refuse("became shorter while it was read; try again")
            }
        }
        guard let text = String(validating: contents.bytes, as: UTF8.self) else {
            throw refuse("is not UTF-8 text; save it as such")
        }
        return (text, contents.permissions & 0o002 != 0)
    }
}
