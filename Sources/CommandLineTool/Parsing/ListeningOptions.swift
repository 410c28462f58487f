import Audio
import Inference
import KernelInterface
private import Live
import Service
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

    static let options: [Arguments.Option] = [
        .init("--model", short: "-m", takesValue: true), .init("--threshold", short: "-t", takesValue: true),
        .init("--word", short: "-w", takesValue: true), .init("--mode", takesValue: true),
        .init("--trigger", takesValue: true), .init("--channel", takesValue: true),
        .init("--jobs", short: "-j", takesValue: true), .init("--help", short: "-h"),
    ]

    /// For the commands that hear the user's own words too.
    static let wordsOption = Arguments.Option("--words", takesValue: true)

    init(_ arguments: Arguments, processors: Int) throws(UsageError) {
        jobs = processors
        words = arguments.value("--words")
        modelFolder = arguments.value("--model")
        if let text = arguments.value("--mode") { mode = try arguments.choice(text, "--mode") }
        if let text = arguments.value("--trigger") { trigger = try arguments.choice(text, "--trigger") }
        if let text = arguments.value("--threshold") { threshold = try Self.threshold(text, of: "--threshold") }
        for text in arguments.all("--word") {
            let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw UsageError("--word takes WORD=THRESHOLD, such as yes=0.7, not '\(text)'")
            }
            wordThresholds.append((parts[0], try Self.threshold(parts[1], of: "--word")))
        }
        if let text = arguments.value("--channel") {
            channels = Configuration.Channels(text)
            guard channels != nil else {
                throw UsageError("--channel takes a number from 0 to 63, a list such as 0,1, or mix, not '\(text)'")
            }
        }
        if let text = arguments.value("--jobs") {
            guard let number = Int(text), (1...256).contains(number) else {
                throw UsageError("--jobs takes a number from 1 to 256, not '\(text)'")
            }
            jobs = number
        }
    }

    private static func threshold(_ text: String, of option: String) throws(UsageError) -> Float {
        guard let value = Float(text), value > 0, value < 1 else {
            throw UsageError("\(option) takes a confidence between 0 and 1, such as 0.7, not '\(text)'")
        }
        return value
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
