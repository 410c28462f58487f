import Audio
private import Core
import Enrollment
private import Inference
import Spotting

/// Spots the words of a model in audio files and audio streams.
///
///     import Beckon
///
///     let spotter = try Spotter(model: "Models/commands")
///     for detection in try spotter.detections(inFile: "talk.wav") { print(detection.word, detection.start) }
///
///     var stream = try spotter.stream(sampleRate: 48_000)
///     let second = [Float](repeating: 0, count: 48_000)
///     for detection in try stream.process(second) { print(detection.word) }
///     for detection in try stream.finish() { print(detection.word) }
///
/// One instance may be used from several threads; it holds the model once for all files and streams. No thread outlives a call. After a
/// `fork` the child may use what the parent made, too: a fork waits for the calls of other threads, two seconds at most.
public final class Spotter: Sendable {
    /// Which words are reported.
    public enum Mode: Sendable {
        /// Words anywhere, also within running speech.
        case spot
        /// Words said alone, with a pause before and after.
        case command
    }

    /// When a word is reported.
    public enum Trigger: Sendable {
        /// As soon as the word is certain enough.
        case early
        /// When the word is over, with the highest confidence it had.
        case end
    }

    /// How readily words are reported.
    public enum Sensitivity: Sendable {
        /// At most 0.1 false accepts in an hour of other people's talk.
        case strict
        /// At most 0.5.
        case balanced
        /// At most 5.
        case eager
    }

    /// Settings of the detector.
    public struct Settings: Sendable {
        public var mode = Mode.spot
        public var trigger = Trigger.early
        /// Selects the model's thresholds; not every model has all of them in both modes.
        public var sensitivity = Sensitivity.balanced
        /// Confidence that every word needs, 0…1; overrides `sensitivity`.
        public var threshold: Float?
        /// Confidence that individual words need, 0…1; overrides `threshold` and `sensitivity`.
        public var thresholds: [String: Float] = [:]
        /// The channel of a file to listen to, from 0; nil for the mean of all channels.
        public var channel: Int?
        /// A file of taught words, as `beckon enroll --words FILE` or `beckon words export FILE` writes it; nil for none. Their thresholds
        /// follow `sensitivity`, too.
        public var taughtWords: String?
        /// The only words that may be reported, however they are written, beside `wakeWords` and `typedWords`; nil for all.
        public var words: [String]?
        /// Wake words with models of their own: names of those that are beside the model, such as "okay_nabu", or files.
        public var wakeWords: [String] = []
        /// Words that are made from their names, such as "hey house": of each how it is said, in IPA or ARPAbet; none for what its spelling gives.
        public var typedWords: [String: [String]] = [:]
        /// Phrases of two or more words, such as "go left", which are reported after their words.
        public var phrases: [String] = []
        /// Whether the model's confirming networks look at what it finds, if it has some; without, they are not loaded.
        public var confirms = true

        public init() {}
    }

    /// The words that may be reported: those of the model, in its order, then the taught ones, wake words and typed words.
    public let words: [String]
    /// The phrases that are reported.
    public let phrases: [String]
    let detector: DetectorSettings
    let folder: String
    let settings: Settings
    /// The taught words with their takes, where some were taught by this library; nil for those of the file.
    let store: WordStore?
    private let mix: ChannelMix

    /// What has a score in each hop: all words, then `_unknown_` and `_silence_`.
    public var labels: [String] { detector.vocabulary.labels }

    /// Loads a model.
    ///
    /// - Parameter model: its folder, with `model.json`, `model.safetensors` and, for confirming networks, `confirm.safetensors`.
    /// - Throws: ``SpotterError/model`` where the model or a wake word cannot be used, ``SpotterError/words`` where the taught words
    ///   cannot, ``SpotterError/settings`` where the settings name a word that is not known, a threshold outside 0…1, or a sensitivity that
    ///   the model has no thresholds for.
    public convenience init(model folder: String, settings: Settings = Settings()) throws(SpotterError) {
        ForkGate.enter()
        defer { ForkGate.leave() }
        try self.init(try Spotter.vocabulary(folder, settings), folder, settings, nil)
    }

    init(
        _ vocabulary: Vocabulary,
        _ folder: String,
        _ settings: Settings,
        _ store: WordStore?
    ) throws(SpotterError) {
        let thresholds = try Spotter.thresholds(settings, vocabulary)
        let phrases = try Spotter.phrases(settings, vocabulary, thresholds)
        (words, self.phrases) = (thresholds.words, phrases.map(\.name))
        var gate = GateSettings()
        gate.mode = settings.mode == .spot ? .spot : .command
        gate.trigger = settings.trigger == .early ? .early : .end
        detector = DetectorSettings(vocabulary, gate: gate, thresholds: thresholds, phrases: phrases)
        mix = settings.channel.map { .channel($0) } ?? .mix
        (self.folder, self.settings, self.store) = (folder, settings, store)
    }

    static func loader(_ folder: String, _ settings: Settings) -> VocabularyLoader {
        var loader = VocabularyLoader(
            modelFolder: folder,
            confirms: settings.confirms,
            words: TaughtWords(settings.taughtWords ?? "none"),
            wakeWords: settings.wakeWords
        )
        loader.typed = settings.typedWords.sorted { $0.key < $1.key }.map { TypedName($0.key, sounds: $0.value) }
        return loader
    }

    private static func vocabulary(_ folder: String, _ settings: Settings) throws(SpotterError) -> Vocabulary {
        do {
            let loaded = try loader(folder, settings).load()
            if let lost = loaded.taught.lost.first {
                throw SpotterError.words.saying("\(settings.taughtWords ?? ""): \(TaughtWords.lostLine(lost))")
            }
            return loaded.vocabulary
        } catch {
            throw SpotterError(error)
        }
    }

    /// The phrases; their words must be among those that may be reported.
    private static func phrases(
        _ settings: Settings,
        _ vocabulary: Vocabulary,
        _ thresholds: Thresholds
    ) throws(SpotterError) -> [Phrase] {
        var phrases: [Phrase] = []
        for text in settings.phrases {
            do throws(SpottingError) {
                phrases.append(try Phrase(text, words: vocabulary.labels))
            } catch {
                throw .settings.saying(error.description)
            }
            for word in phrases.last?.labels.map({ vocabulary.labels[$0] }) ?? [] where !thresholds.words.contains(word)
            {
                throw .settings.saying(
                    "the phrase '\(printable(text))' needs the word '\(printable(word))', which is not among the words; add it there"
                )
            }
        }
        return phrases
    }

    private static func thresholds(
        _ settings: Settings,
        _ vocabulary: Vocabulary
    ) throws(SpotterError) -> Thresholds {
        var choices = ThresholdChoices()
        let besides = vocabulary.wakeWords.map(\.name) + settings.typedWords.keys
        choices.only = settings.words.map { $0 + besides }
        switch settings.sensitivity {
        case .strict: choices.all = .sensitivity(.strict)
        case .balanced: choices.all = .sensitivity(.balanced)
        case .eager: choices.all = .sensitivity(.eager)
        }
        func checked(_ threshold: Float) throws(SpotterError) -> Float {
            guard (0...1).contains(threshold) else {
                throw .settings.saying("a threshold is a confidence from 0 to 1, not \(threshold)")
            }
            return threshold
        }
        if let threshold = settings.threshold { choices.all = .confidence(try checked(threshold)) }
        for (word, threshold) in settings.thresholds { choices.words[word] = .confidence(try checked(threshold)) }
        do throws(SpottingError) {
            return try choices.thresholds(of: vocabulary, mode: settings.mode == .spot ? .spot : .command)
        } catch {
            throw .settings.saying(error.description)
        }
    }

    /// Detects the words of an audio file, in order; any format that libsndfile reads, 8 to 192 kHz.
    ///
    /// - Parameter threads: threads to use, including the calling one. More than one helps with recordings of minutes.
    /// - Throws: ``SpotterError/audio`` where the file cannot be opened or is damaged; what was detected before is lost.
    public func detections(inFile path: String, threads: Int = 1) throws(SpotterError) -> [Detection] {
        ForkGate.enter()
        defer { ForkGate.leave() }
        let files = FileDetector(detector)
        do throws(AudioError) {
            return try files.detections(in: path, mix: mix, spare: SpareWorkers(max(1, threads) - 1)).compactMap {
                Detection($0, detector)
            }
        } catch {
            throw .audio.saying(error.description)
        }
    }

    /// Begins a stream of audio, such as a microphone's.
    ///
    /// - Parameters:
    ///   - sampleRate: sample rate of the audio, in Hz.
    ///   - history: how many of the newest seconds keep their scores in ``Stream/scores``.
    /// - Throws: ``SpotterError/audio`` for a rate that cannot be converted, ``SpotterError/settings`` for a history without a hop, or of
    ///   more than a day.
    public func stream(sampleRate: Int = 16_000, history: Double = 60) throws(SpotterError) -> Stream {
        ForkGate.enter()
        defer { ForkGate.leave() }
        guard (0.1...86_400).contains(history) else {
            throw .settings.saying("the history is \(history) s; it has from 0.1 s to 86400 s, which is a day")
        }
        let scores = ScoreHistory(labels: labels.count, hops: Int((history * 10).rounded(.up)))
        do throws(AudioError) {
            return Stream(self, blocks: try BlockMaker(from: sampleRate, echo: nil), sampleRate: sampleRate, scores)
        } catch {
            throw .audio.saying(error.description)
        }
    }
}

/// A word or phrase that was detected; times are in seconds from the start of the file or stream.
public struct Detection: Equatable, Sendable {
    /// The word, or the words of the phrase with spaces between.
    public let word: String
    public let isPhrase: Bool
    /// Confidence, 0…1; of a phrase the lowest of its words.
    public let confidence: Double
    /// Where networks confirmed it: its score in the streaming network, and their posterior, 0…1.
    public let proposed: Double?
    public let confirmed: Double?
    /// Estimated bounds of the word, in seconds.
    public let start: Double
    public let end: Double

    /// - Returns: nil where the detection is neither a word nor a phrase.
    init?(_ detection: Spotting.Detection, _ settings: DetectorSettings, endingBy length: Double = .infinity) {
        guard detection.kind == .word || detection.kind == .phrase else { return nil }
        word = settings.name(of: detection)
        isPhrase = detection.kind == .phrase
        confidence = Double(detection.confidence)
        (proposed, confirmed) = (detection.proposed.map(Double.init), detection.confirmed.map(Double.init))
        start = min(detection.start, length)
        end = min(detection.end, length)
    }
}
