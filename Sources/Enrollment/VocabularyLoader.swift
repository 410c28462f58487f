private import Core
public import Inference
public import KernelInterface
public import Spotting

/// Finds and loads what a detector can tell apart: a model, and the user's own words made for it.
public struct VocabularyLoader: Sendable {
    /// Nil for the model that came with the program.
    public var modelFolder: String?
    public var words: TaughtWords

    public init(modelFolder: String?, words: TaughtWords) {
        self.modelFolder = modelFolder
        self.words = words
    }

    /// The model alone.
    ///
    /// - Parameter kernels: what runs it; nil leaves the choice to the model.
    /// - Throws: ``EnrollmentError/model`` where there is none or it is of no use here, a `ModelError` where it is damaged.
    public static func model(in folder: String?, kernels: InstructionSet? = nil) throws -> Model {
        guard let folder = ModelFolder.find(folder) else {
            throw EnrollmentError.model.saying("no model found; name its folder with --model DIR or in BECKON_MODEL")
        }
        let model = try Model(folder: folder, kernels: kernels)
        guard model.sampleRate == AudioFormat.sampleRate, model.windowSamples == AudioFormat.windowSamples,
            model.hopSamples == AudioFormat.hopSamples
        else {
            throw EnrollmentError.model.saying(
                "\(folder): this model does not use windows of one second at 16 kHz and hops of 100 ms"
            )
        }
        return model
    }

    /// The words that may be named: the model's, and the user's own. Those of the user are not made for the model, which is
    /// quicker than ``load()``.
    public func names() throws -> [String] {
        Labels(try Self.model(in: modelFolder).labels).words + words.names
    }

    /// The model with the user's own words.
    ///
    /// - Returns: beside it, names of words that another model was taught and that are lost, as no recordings were kept.
    public func load() throws -> (vocabulary: Vocabulary, lost: [String]) {
        let model = try Self.model(in: modelFolder)
        let (personal, lost) = try words.load(for: model, folder: ModelFolder.find(modelFolder))
        return (Vocabulary(model, personal: personal), lost)
    }
}
