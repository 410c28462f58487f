public import Configuration
private import Core
public import Enrollment
public import Events
private import Inference
import Spotting
private import Synchronization
private import System
private import WakeWords

/// Reads a service's settings: configuration file, overrides of the command line, model and taught words.
///
/// Parses the configuration, loads its model and words, then validates the configuration against these words.
public struct SettingsLoader: Sendable {
    /// The configuration file; nil for the defaults.
    public var path: String?
    /// Finds the model and the taught words; a model named in the configuration takes precedence.
    public var vocabulary: VocabularyLoader
    /// Applies the options of the command line on top of the file.
    public var overrides: @Sendable (inout Configuration) -> Void
    private let log: ServiceLog
    private let newest = Newest()

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

    /// Reads the configuration, its model and the taught words. Warnings go to the log.
    ///
    /// A taught word that is gone is left out, with a warning.
    ///
    /// - Parameter leavesOut: whether all other unknown words are left out too; if false, they are errors.
    /// - Throws: an error whose description has one line for each mistake.
    public func load(leavingOutUnknownWords leavesOut: Bool = false) throws -> ServiceSettings {
        var configuration = Configuration()
        var loaded: (model: String?, confirms: Bool, wakeWords: [String], typed: [TypedName], vocabulary: Vocabulary)?
        if let path {
            let valid = try ParsedConfiguration(path: path).validated { configuration in
                let known: Read
                // With an option that leaves the networks out, they are never loaded.
                let confirms = configuration.confirms(overrides)
                let wakeWords = configuration.wakeWords(overrides)
                let typed = configuration.typedNames(overrides)
                do {
                    known = try load(configuration.model, confirms: confirms, wakeWords, typed, storing: !leavesOut)
                } catch let error as EnrollmentError where error != .model {
                    throw ConfigurationProblem.ofOtherFile(error.description)
                }
                loaded = (configuration.model, confirms, wakeWords, typed, known.vocabulary)
                let words = Labels(known.vocabulary.labels).words
                let missing = known.vocabulary.missing
                return KnownWords(
                    words,
                    gone: known.gone + (leavesOut ? configuration.namedWords(beside: words + known.gone) : []),
                    missing: missing,
                    // Options may replace the file's mode or thresholds: only what is in force must fit the model.
                    vocabulary: configuration.keepsThresholds(overrides) ? known.vocabulary : nil
                )
            }
            for warning in valid.warnings { log.write(.warning, "\(warning)") }
            configuration = valid.configuration
            // What is unknown now is gone: all else was an error.
            if let loaded { configuration.leaveOut(wordsBeside: loaded.vocabulary.labels) }
        }
        overrides(&configuration)
        let isLoaded =
            loaded.map {
                $0.model == configuration.model && $0.confirms == configuration.confirms
                    && $0.wakeWords == configuration.wakeWords && $0.typed == configuration.typedNames
            } ?? false
        let vocabulary =
            try (isLoaded ? loaded?.vocabulary : nil)
            ?? load(
                configuration.model,
                confirms: configuration.confirms,
                configuration.wakeWords,
                configuration.typedNames,
                storing: !leavesOut
            ).vocabulary
        configuration.spell(asIn: Labels(vocabulary.labels).words)
        if leavesOut { configuration.leaveOut(wordsBeside: vocabulary.labels) }
        return try ServiceSettings(configuration, vocabulary)
    }

    /// - Parameter stores: false when the file of taught words has changed: what changed it stores it.
    private func load(
        _ model: String?,
        confirms: Bool,
        _ wakeWords: [String],
        _ typed: [TypedName],
        storing stores: Bool
    ) throws -> Read {
        var loader = vocabulary
        loader.modelFolder = model ?? loader.modelFolder
        loader.confirms = confirms
        // A model that is broken must not keep the service from its other words; but who names one in the command wants that one.
        loader.optionalWakeWords = Set(wakeWords).subtracting(loader.wakeWords)
        loader.wakeWords = wakeWords
        loader.typed = typed
        // Before the files are read, so that a file that changes meanwhile is read again next time.
        let files = Files(loader)
        let known = newest.read.withLock { $0 }
        // What was missing may have been repaired in a file that is not known here.
        let isComplete = known?.vocabulary.missing.isEmpty ?? true
        if let known, known.files == files, isComplete { return known }
        // The model is most of the work, and words change far more often.
        let model = known?.files.model == files.model ? known?.vocabulary.model : nil
        let kept = known?.files.wakeWords == files.wakeWords && isComplete ? known?.vocabulary.wakeWords : nil
        var (vocabulary, taught) = try loader.load(model, wakeWords: kept.map { .init($0) }, stores: stores)
        // Made now, because the files may be written over while the service runs.
        _ = vocabulary.model.identity
        if let note = taught.note { log.write(.notice, note) }
        for name in taught.lost { log.write(.warning, TaughtWords.lostLine(name)) }
        // A file that was written again with the same words: the detector keeps what it has.
        let isSame = known?.files.wakeWords == files.wakeWords && known?.vocabulary.missing == vocabulary.missing
        if let known = known?.vocabulary, known.model === model, isSame, known.taught == vocabulary.taught,
            known.typed == vocabulary.typed
        {
            vocabulary = known
        }
        let read = Read(files: files, vocabulary: vocabulary, gone: taught.gone)
        newest.read.withLock { $0 = read }
        return read
    }

    /// A vocabulary with the files that it was read from: while these do not change, nothing is read or rebuilt.
    private struct Read {
        let files: Files
        let vocabulary: Vocabulary
        /// Taught words that are gone: a configuration may still name them.
        let gone: [String]
    }

    /// The newest one, shared by all copies of this value.
    private final class Newest: Sendable {
        let read = Mutex<Read?>(nil)
    }

    private struct Files: Equatable {
        struct Model: Equatable {
            let folder: String?
            let confirms: Bool
            let files: [FileStatus?]
        }

        let model: Model
        let words: FileStatus?
        let typed: [TypedName]
        /// Names, manifests and models of the wake words.
        let wakeWords: [WakeWordFile]

        struct WakeWordFile: Equatable {
            let path: String
            let files: [FileStatus?]
        }

        init(_ loader: VocabularyLoader) {
            func status(_ path: String) -> FileStatus? { try? FileStatus(path: path) }
            let folder = ModelFolder.find(loader.modelFolder)
            let names =
                ["model.json", "model.safetensors", "background.safetensors"]
                + (loader.confirms ? ["confirm.safetensors"] : [])
            let paths = folder.map { folder in names.map { "\(folder)/\($0)" } } ?? []
            model = Model(folder: folder, confirms: loader.confirms, files: paths.map(status))
            words = loader.words.path.flatMap(status)
            typed = loader.typed
            wakeWords = loader.wakeWords.flatMap { name in
                let paths = (try? loader.wakeWordFiles(of: name).get()) ?? [name]
                return paths.map { path in
                    let stem = PathName(path).withoutEnding
                    return WakeWordFile(
                        path: path,
                        files: [path, stem + ".json", stem + ".tflite", stem + ".onnx"].map(status)
                    )
                }
            }
        }
    }
}
