private import Core
public import Inference
public import KernelInterface
public import Spotting

/// Finds and loads the vocabulary of a detector: a model, and the taught words prepared for it.
public struct VocabularyLoader: Sendable {
    /// Nil for the model that came with the program.
    public var modelFolder: String?
    /// Whether to load the model's confirming networks, if it has some.
    public var confirms: Bool
    /// The file of the taught words.
    public var words: TaughtWords

    public init(modelFolder: String?, confirms: Bool = true, words: TaughtWords) {
        self.modelFolder = modelFolder
        self.confirms = confirms
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

    /// The model with the taught words.
    ///
    /// - Parameters:
    ///   - model: the model of the folder, if it was loaded before; nil to load it.
    ///   - stores: whether to store words that were learnt anew; see ``TaughtWords/load(for:folder:stores:)``.
    /// - Returns: the vocabulary, and the words of the file as far as they concern the user.
    public func load(
        _ model: Model? = nil,
        stores: Bool = false
    ) throws -> (vocabulary: Vocabulary, taught: TaughtWords.Loaded) {
        let model = try model ?? Self.model(in: modelFolder, confirms: confirms)
        let taught = try words.load(for: model, folder: ModelFolder.find(modelFolder), stores: stores)
        return (Vocabulary(model, taught: taught.words), taught)
    }
}
