import Audio
import Configuration
import Daemon
import Inference
import KernelInterface
import Spotting

/// What commands that listen to files have in common: model, thresholds, gate, channel, files at a time.
struct ListeningOptions {
    var modelFolder: String?
    /// The file of the user's own words, "none" for none; nil for the usual place.
    var words: String?
    var threshold: Float?
    var wordThresholds: [(word: String, threshold: Float)] = []
    /// Nil where the user left the choice to the command.
    var mode: GateSettings.Mode?
    var trigger: GateSettings.Trigger?
    var channels: Configuration.Channels?
    var jobs: Int

    /// Reads those of the shared options that the command declares.
    init(_ arguments: Arguments, processors: Int = 1) {
        jobs = arguments.whole("--jobs") ?? processors
        words = arguments.value("--words")
        modelFolder = arguments.value("--model")
        mode = arguments.choice("--mode")
        trigger = arguments.choice("--trigger")
        threshold = arguments.value("--threshold").flatMap { Float($0) }
        wordThresholds = arguments.all("--word").compactMap { text in
            let parts = text.split(separator: "=")
            return parts.last.flatMap { Float($0) }.map { (String(parts[0]), $0) }
        }
        channels = arguments.value("--channel").flatMap { Configuration.Channels($0) }
    }

    var mix: ChannelMix { ChannelMix(channels ?? .mix) }

    /// The gate as the user wants it, the rest by default.
    var gate: GateSettings {
        var settings = GateSettings()
        if let mode { settings.mode = mode }
        if let trigger { settings.trigger = trigger }
        return settings
    }

    /// The model that was asked for, or the one that came with the program.
    ///
    /// - Parameter kernels: what runs it; nil leaves the choice to the model.
    func loadModel(kernels: InstructionSet? = nil) throws -> Model {
        guard let folder = ModelFolder.find(modelFolder) else {
            throw Failure("no model found; name its folder with --model DIR or in BECKON_MODEL")
        }
        let model = try Model(folder: folder, kernels: kernels)
        guard model.sampleRate == FileBlocks.sampleRate, model.windowSamples == BlockRing.windowLength,
            model.hopSamples == BlockRing.blockLength
        else {
            throw Failure("\(folder): this model's window or rate is not one second at 16 kHz in hops of 100 ms")
        }
        return model
    }

    /// The model with the user's own words.
    func loadVocabulary() throws -> Vocabulary {
        let model = try loadModel()
        let folder = ModelFolder.find(modelFolder)
        return Vocabulary(model, personal: try TaughtWords(words).load(for: model, folder: folder))
    }

    /// The thresholds of model and words, with those that the user gave in their place.
    func thresholds(for vocabulary: Vocabulary) throws(SpottingError) -> Thresholds {
        var thresholds = Thresholds(labels: vocabulary.labels, defaults: vocabulary.thresholds)
        if let all = threshold { thresholds.setAll(all) }
        for (word, threshold) in wordThresholds { try thresholds.set(word, to: threshold) }
        return thresholds
    }
}
