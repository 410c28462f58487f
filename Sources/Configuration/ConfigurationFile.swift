private import Glibc
import System

/// Where the configuration is found and how it is read, with everything that is wrong with it.
public struct ConfigurationFile: Sendable {
    /// The system's configuration.
    public static let systemPath = "/etc/beckon/config.json5"
    /// A larger file is none.
    private static let largest = 1 << 20

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
    /// What works all the same, in the order of the lines.
    public let warnings: [ConfigurationProblem]

    /// Reads a file.
    ///
    /// - Parameter words: the words that the model of a configuration knows; what it throws is said of the key `model`.
    /// - Throws: everything that is wrong, not only the first.
    public init(path: String, words: (Configuration) throws -> [String]) throws(ConfigurationError) {
        let (text, isOpenToAll) = try Self.contents(of: path)
        try self.init(text: text, file: path, isOpenToAll: isOpenToAll, words: words)
    }

    /// - Parameters:
    ///   - text: JSON5.
    ///   - file: what the text is called in messages.
    ///   - isOpenToAll: everybody may write it.
    public init(
        text: String,
        file: String,
        isOpenToAll: Bool = false,
        words: (Configuration) throws -> [String]
    ) throws(ConfigurationError) {
        var findings = Findings(file: file)
        if isOpenToAll {
            findings.add("everybody may write this file, which names programs to run; try chmod o-w", isWarning: true)
        }
        var configuration = Configuration()
        do {
            let node = try JSON5Parser.parse(text)
            configuration = SettingKind.configuration.read(node, "", &findings) ?? configuration
            let known = Result { try words(configuration) }
            ConfigurationCheck(configuration: configuration, words: known).run(&findings)
        } catch {
            findings.add(error.reason, line: error.line)
        }
        let problems = findings.sorted
        guard problems.allSatisfy(\.isWarning) else { throw ConfigurationError(problems: problems) }
        self.configuration = configuration
        warnings = problems
    }

    /// Only regular files are read: a pipe could block for ever.
    private static func contents(of path: String) throws(ConfigurationError) -> (text: String, isOpenToAll: Bool) {
        func refuse(_ reason: String) -> ConfigurationError {
            ConfigurationError(problems: [
                ConfigurationProblem(file: path, line: nil, key: "", message: reason, isWarning: false)
            ])
        }
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            throw refuse(
                "cannot open the configuration: \(SystemError.text(errno)); check name and permissions"
            )
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw refuse("is not a file; name the configuration itself")
        }
        guard status.st_size <= largest else { throw refuse("is too large for a configuration (1 MiB at most)") }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress.map { $0 + count }, $0.count - count) }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw refuse("cannot read the configuration: \(SystemError.text(errno))") }
            if got == 0 { break }
            count += got
        }
        guard let text = String(validating: bytes.prefix(count), as: UTF8.self) else {
            throw refuse("is not UTF-8 text; save it as such")
        }
        return (text, status.st_mode & S_IWOTH != 0)
    }
}
