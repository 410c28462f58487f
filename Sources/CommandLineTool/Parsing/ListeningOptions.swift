import Audio
import Configuration
import Core
import Echo
import Enrollment
import Inference
import KernelInterface
import Spotting
private import System

/// The options that several commands share: model, thresholds, gate, channels, number of files at a time.
struct ListeningOptions {
    var modelFolder: String?
    /// Whether the model's confirming networks are loaded, if it has some.
    var confirms: Bool
    /// The file of taught words, or "none" for no taught words; nil for the default file.
    var words: String?
    /// The only words that may fire, as they were given; nil for all.
    var onlyWords: [String]?
    /// Wake words with models of their own: names, or files.
    var wakeWords: [String]
    /// What decides the thresholds of all words; nil without an option for it.
    var choice: ThresholdChoice?
    var wordChoices: [(word: String, choice: ThresholdChoice)] = []
    /// Nil for the command's default.
    var mode: DetectionMode?
    var trigger: GateSettings.Trigger?
    var channels: Configuration.Channels?
    /// Where what a loudspeaker plays comes from; nil where no echo is removed.
    var echoReference: Configuration.Echo.Reference?
    var jobs: Int

    /// Options that the command does not declare keep their defaults.
    ///
    /// - Throws: for options that exclude each other.
    init(_ arguments: Arguments) throws(UsageError) {
        jobs = arguments.whole("--jobs") ?? OwnEnvironment.processors
        // Where it cannot be repeated, it is always a file, also one that is still to be written.
        if arguments.repeats("--words") {
            (words, onlyWords) = try Self.words(arguments.all("--words"))
        } else {
            words = arguments.value("--words")
        }
        wakeWords = arguments.all("--wake-word")
        modelFolder = arguments.value("--model")
        confirms = !arguments.has("--no-confirm")
        mode = arguments.choice("--mode")
        trigger = arguments.choice("--trigger")
        let threshold = arguments.value("--threshold").flatMap { Float(decimal: $0) }
        let sensitivity: Sensitivity? = arguments.choice("--sensitivity")
        if threshold != nil, sensitivity != nil {
            throw UsageError("--threshold replaces the thresholds that --sensitivity selects; give one of them")
        }
        choice = threshold.map(ThresholdChoice.confidence) ?? sensitivity.map(ThresholdChoice.sensitivity)
        wordChoices = arguments.all("--word").compactMap { text in
            let parts = text.split(separator: "=").map(String.init)
            guard parts.count == 2 else { return nil }
            let choice =
                Float(decimal: parts[1]).map(ThresholdChoice.confidence)
                ?? Sensitivity(rawValue: parts[1]).map(ThresholdChoice.sensitivity)
            return choice.map { (parts[0], $0) }
        }
        channels = arguments.value("--channel").flatMap { Configuration.Channels($0) }
        echoReference = arguments.value("--echo-reference").flatMap { Configuration.Echo.Reference($0) }
        if case .channel(let reference) = echoReference, case .only(let numbers) = channels, numbers.contains(reference)
        {
            throw UsageError("--channel \(reference) is the reference of --echo-reference; choose other channels")
        }
        try checkPhrases(arguments.all("--phrase"))
    }

    /// Tells the file of taught words from names of words, with commas between. What looks like a path, `none`, and what a file has
    /// as its name is a file.
    private static func words(_ values: [String]) throws(UsageError) -> (file: String?, only: [String]?) {
        var (file, only): (String?, [String]?) = (nil, nil)
        for value in values {
            guard value == "none" || PathName.mayBeFile(value) else {
                let names = value.split(separator: ",", omittingEmptySubsequences: false).map {
                    WordName.trimmed(String($0))
                }
                guard !names.contains("") else {
                    throw UsageError(
                        "--words takes words with commas between, such as yes,no, or a file, not '\(printable(value))'"
                    )
                }
                only = (only ?? []) + names
                continue
            }
            guard file == nil || file == value else {
                throw UsageError(
                    "--words names two files, '\(printable(file ?? ""))' and '\(printable(value))'; leave one out"
                )
            }
            file = value
        }
        return (file, only)
    }

    /// Phrases of words that may not fire would never be reported.
    private func checkPhrases(_ phrases: [String]) throws(UsageError) {
        guard let onlyWords else { return }
        let kept = onlyWords.map(WordName.folded)
        for phrase in phrases {
            let parts = Phrase.parts(of: WordName.folded(phrase), words: kept)
            guard let missing = parts.first(where: { !kept.contains($0) }) else { continue }
            throw UsageError(
                "--phrase \"\(printable(phrase))\" needs the word '\(printable(missing))', which is not among --words; add it there"
            )
        }
    }

    var mix: ChannelMix {
        var echo = Configuration.Echo()
        echo.reference = echoReference
        return (channels?.mix ?? .mix).cancelling(echo.settings)
    }

    /// The default gate with the mode and the trigger of the command line.
    var gate: GateSettings {
        var settings = GateSettings()
        if let mode { settings.mode = mode }
        if let trigger { settings.trigger = trigger }
        return settings
    }

    /// Where the model and the taught words come from.
    var vocabulary: VocabularyLoader {
        VocabularyLoader(
            modelFolder: modelFolder,
            confirms: confirms,
            words: TaughtWords(words),
            wakeWords: wakeWords
        )
    }

    /// The model of `--model`, else the default one.
    ///
    /// - Parameters:
    ///   - kernels: the instruction set of its kernels; nil for the best one.
    ///   - detects: whether it is to detect words: only then confirming networks are of use.
    func loadModel(kernels: InstructionSet? = nil, detects: Bool = true) throws -> Model {
        try Misconfiguration.check {
            try VocabularyLoader.model(in: modelFolder, kernels: kernels, confirms: detects && confirms)
        }
    }

    /// The model with the taught words. As for `listen`, what is wrong with them is a ``Misconfiguration``.
    func loadVocabulary() throws -> Vocabulary {
        let loader = vocabulary
        let (loaded, taught) = try Misconfiguration.check { try loader.load() }
        for name in taught.lost { Output.report(.warning, TaughtWords.lostLine(name)) }
        return loaded
    }

    /// What a detector of this command detects: the model with the taught words, unless another vocabulary is given.
    func detector(_ vocabulary: Vocabulary? = nil, gate: GateSettings? = nil) throws -> DetectorSettings {
        let (vocabulary, gate) = (try vocabulary ?? loadVocabulary(), gate ?? self.gate)
        let thresholds = try Misconfiguration.check { try choices.thresholds(of: vocabulary, mode: gate.mode) }
        var settings = DetectorSettings(vocabulary, gate: gate, thresholds: thresholds)
        settings.marksOwnSpeech = mix.echo != nil
        return settings
    }

    /// What the command line chooses for the thresholds.
    var choices: ThresholdChoices {
        var choices = ThresholdChoices()
        if let choice { choices.all = choice }
        choices.only = onlyWords
        for (word, choice) in wordChoices { choices.words[word] = choice }
        return choices
    }
}
