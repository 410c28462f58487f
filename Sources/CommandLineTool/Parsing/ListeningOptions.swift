import Audio
import Configuration
import Core
import Daemon
import Enrollment
import Inference
import KernelInterface
import Spotting

/// The options that several commands share: model, thresholds, gate, channels, number of files at a time.
struct ListeningOptions {
    var modelFolder: String?
    /// The file of taught words, or "none" for no taught words; nil for the default file.
    var words: String?
    var threshold: Float?
    var wordThresholds: [(word: String, threshold: Float)] = []
    /// Nil for the command's default.
    var mode: GateSettings.Mode?
    var trigger: GateSettings.Trigger?
    var channels: Configuration.Channels?
    var jobs: Int

    /// Options that the command does not declare keep their defaults.
    ///
    /// - Parameter processors: the default of `--jobs`.
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

    /// The default gate with the mode and the trigger of the command line.
    var gate: GateSettings {
        var settings = GateSettings()
        if let mode { settings.mode = mode }
        if let trigger { settings.trigger = trigger }
        return settings
    }

    /// Where the model and the taught words come from.
    var vocabulary: VocabularyLoader { VocabularyLoader(modelFolder: modelFolder, words: TaughtWords(words)) }

    /// The model of `--model`, else the default one.
    ///
    /// - Parameter kernels: the instruction set of its kernels; nil for the best one.
    func loadModel(kernels: InstructionSet? = nil) throws -> Model {
        try VocabularyLoader.model(in: modelFolder, kernels: kernels)
    }

    /// The model with the taught words.
    func loadVocabulary() throws -> Vocabulary {
        let (vocabulary, lost) = try vocabulary.load()
        for name in lost { Output.tell(.warning, TaughtWords.lostLine(name)) }
        return vocabulary
    }

    /// The thresholds of the model and of taught words, overridden by those of the command line.
    func thresholds(for vocabulary: Vocabulary) throws(SpottingError) -> Thresholds {
        var thresholds = Thresholds(labels: vocabulary.labels, defaults: vocabulary.thresholds)
        if let all = threshold { thresholds.setAll(all) }
        for (word, threshold) in wordThresholds { try thresholds.set(word, to: threshold) }
        return thresholds
    }
}
