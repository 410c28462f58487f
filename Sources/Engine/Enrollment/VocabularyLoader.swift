private import Core
public import Inference
public import KernelInterface
public import Spotting
private import System
import WakeWords

/// Finds and loads the vocabulary of a detector: a model, and the taught words prepared for it.
public struct VocabularyLoader: Sendable {
    /// Nil for the model that came with the program.
    public var modelFolder: String?
    /// Whether to load what confirms: the model's confirming networks, if it has some, and the network of sounds for wake words.
    public var confirms: Bool
    /// The file of the taught words.
    public var words: TaughtWords
    /// Wake words with models of their own: names of those that came with the program or were added, files, or folders of files.
    public var wakeWords: [String]
    /// Those of ``wakeWords`` that are left out where they cannot be loaded; the others are needed.
    public var optionalWakeWords: Set<String> = []
    /// Words that are made from their names.
    public var typed: [TypedName] = []
    /// How many of the newest probabilities of a model of openWakeWord must be above the threshold; nil for what its manifest says.
    public var triggerLevel: Int?

    public init(modelFolder: String?, confirms: Bool = true, words: TaughtWords, wakeWords: [String] = []) {
        self.modelFolder = modelFolder
        self.confirms = confirms
        self.wakeWords = wakeWords
        self.words = words
    }

    /// The model alone.
    ///
    /// - Parameters:
    ///   - folder: nil for the default model.
    ///   - kernels: the kernels that run the model; nil for the model's choice.
    ///   - confirms: whether to load its confirming networks, if it has some.
    /// - Throws: ``EnrollmentError/model`` if no model is found or its sample rate, window or hop is not the
    ///   detector's; a `ModelError` if it is damaged.
    public static func model(in folder: String?, kernels: InstructionSet? = nil, confirms: Bool = true) throws -> Model
    {
        guard let folder = ModelFolder.find(folder) else {
            throw EnrollmentError.model.saying("no model found; name its folder with --model DIR or in BECKON_MODEL")
        }
        if let problem = ModelFolder.problem(folder) { throw EnrollmentError.model.saying(problem) }
        if let shortage = AddressSpace.shortage(for: room) {
            throw EnrollmentError.model.saying("no memory for the model \(printable(folder)): \(shortage)")
        }
        let model = try Model(folder: folder, kernels: kernels, confirms: confirms)
        guard model.sampleRate == AudioFormat.sampleRate, model.windowSamples == AudioFormat.windowSamples,
            model.hopSamples == AudioFormat.hopSamples
        else {
            throw EnrollmentError.model.saying(
                "\(folder): this model does not use windows of one second at 16 kHz and hops of 100 ms"
            )
        }
        return model
    }

    /// What a model takes at most, and with it the buffers of one that listens.
    private static let room = 64 << 20

    /// The model with the taught words and the wake words.
    ///
    /// - Parameters:
    ///   - model: the model of the folder, if it was loaded before; nil to load it.
    ///   - wakeWords: the wake words, if they were loaded before; nil to load them.
    ///   - stores: whether to store words that were learnt anew; see ``TaughtWords/load(for:folder:stores:)``.
    /// - Returns: the vocabulary, and the words of the file as far as they concern the user.
    public func load(
        _ model: Model? = nil,
        wakeWords: WakeWords? = nil,
        stores: Bool = false
    ) throws -> (vocabulary: Vocabulary, taught: TaughtWords.Loaded) {
        let model = try model ?? Self.model(in: modelFolder, confirms: confirms)
        let taught = try words.load(for: model, folder: ModelFolder.find(modelFolder), stores: stores)
        let vocabulary = try vocabulary(
            model,
            taught: taught.words,
            stored: taught.typed,
            wakeWords: wakeWords,
            stores: stores
        )
        return (vocabulary, taught)
    }

    /// The model with these taught words, the typed words, and the wake words.
    ///
    /// - Parameters:
    ///   - stored: words with sounds that the user stored.
    ///   - stores: whether to store them where they were calibrated anew.
    public func vocabulary(
        _ model: Model,
        taught: [TaughtWord],
        stored: [WordStore.Word] = [],
        wakeWords: WakeWords? = nil,
        stores: Bool = false
    ) throws -> Vocabulary {
        let labels = Labels(model.labels).words
        let (typed, hearing) = try loadTyped(stored, beside: labels, taught: taught, stores: stores)
        let known = Vocabulary(model, taught: taught, typed: typed, hearing: hearing).labels
        let wakeWords = try wakeWords ?? loadWakeWords(beside: known)
        let (pronunciations, ofWakeWords) =
            confirms ? try self.pronunciations(of: wakeWords.loaded, hearing) : ([:], nil)
        if !taught.isEmpty { try model.loadEmbedding() }
        let looks = taught.contains { $0.speech != nil }
        return Vocabulary(
            model,
            taught: taught,
            wakeWords: wakeWords.loaded,
            typed: typed,
            hearing: hearing ?? ofWakeWords,
            pronunciations: pronunciations,
            missing: wakeWords.missing,
            speech: looks ? SpeechEmbedding.ofTakes ?? .beside(ModelFolder.find(modelFolder)) : nil
        )
    }
}

extension SpeechEmbedding {
    /// The one that came with the program, for the second look at taught words; nil where it is missing. It is read once.
    static let ofTakes: SpeechEmbedding? = try? shipped()

    /// The one beside a model's folder, for a program that is not Beckon's own, such as Python; nil where there is none.
    fileprivate static func beside(_ folder: String?) -> SpeechEmbedding? {
        folder.flatMap { try? SpeechEmbedding(path: "\($0)/../\(ModelFolder.speechEmbedding)") }
    }

    /// The speech embedding that came with the program.
    ///
    /// - Throws: `WakeWordError`.
    static func shipped() throws(WakeWordError) -> SpeechEmbedding {
        guard let path = ModelFolder.shippedSpeechEmbedding else {
            throw .missingEmbedding(ModelFolder.speechEmbedding)
        }
        return try SpeechEmbedding(path: path)
    }
}
