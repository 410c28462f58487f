public import Configuration
private import Core
public import Enrollment
public import Events
import Spotting

/// Reads a service's settings: a file, the overrides of the command line, the model and the taught words.
///
/// Settings are parsed, then resolved to a model and its words, then validated against these.
public struct SettingsLoader: Sendable {
    /// Nil for the defaults.
    public var path: String?
    /// Finds the model and the user's own words; a model that the configuration names comes first.
    public var vocabulary: VocabularyLoader
    /// Puts what the command line says in place of what the file says.
    public var overrides: @Sendable (inout Configuration) -> Void
    private let log: ServiceLog

    public init(
        path: String?,
        vocabulary: VocabularyLoader,
        log: ServiceLog,
        overrides: @escaping @Sendable (inout Configuration) -> Void = { _ in }
    ) {
        self.path = path
        self.vocabulary = vocabulary
        self.overrides = overrides
        self.log = log
    }

    /// Reads the configuration, and the model and the words that it is about.
    ///
    /// - Parameter leavesOut: whether words that are not known any more, as one that was just forgotten, are left out with
    ///   a warning; else they are mistakes.
    /// - Throws: everything that is wrong, in a form that is a line for each mistake.
    public func load(leavingOutUnknownWords leavesOut: Bool = false) throws -> ServiceSettings {
        var configuration = Configuration()
        var loaded: (model: String?, vocabulary: Vocabulary)?
        if let path {
            let valid = try ParsedConfiguration(path: path).validated { configuration in
                let vocabulary = try load(configuration.model)
                loaded = (configuration.model, vocabulary)
                let words = Labels(vocabulary.labels).words
                return leavesOut ? words + configuration.namedWords : words
            }
            for warning in valid.warnings { log.write(.warning, "\(warning)") }
            configuration = valid.configuration
        }
        overrides(&configuration)
        let isLoaded = loaded.map { $0.model == configuration.model } ?? false
        let vocabulary = try (isLoaded ? loaded?.vocabulary : nil) ?? load(configuration.model)
        if leavesOut {
            for word in configuration.leaveOut(wordsBeside: vocabulary.labels) {
                log.write(.warning, "the configuration names '\(printable(word))', which is not known any more")
            }
        }
        return try ServiceSettings(configuration, vocabulary)
    }

    private func load(_ model: String?) throws -> Vocabulary {
        var loader = vocabulary
        loader.modelFolder = model ?? loader.modelFolder
        let (vocabulary, lost) = try loader.load()
        for name in lost { log.write(.warning, TaughtWords.lostLine(name)) }
        return vocabulary
    }
}
