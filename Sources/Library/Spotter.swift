import Audio
private import Core
private import Enrollment
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
        /// Whether the model's confirming networks look at what it finds, if it has some; without, they are not loaded.
        public var confirms = true

        public init() {}
    }

    /// The words of the model, in its order, then the taught ones.
    public let words: [String]
    let detector: DetectorSettings
    private let mix: ChannelMix

    /// Loads a model.
    ///
    /// - Parameter model: its folder, with `model.json`, `model.safetensors` and, for confirming networks, `confirm.safetensors`.
    /// - Throws: ``SpotterError/model`` where the model cannot be used, ``SpotterError/words`` where the taught words cannot,
    ///   ``SpotterError/settings`` where the settings name a word that is not known, a threshold outside 0…1, or a sensitivity that the
    ///   model has no thresholds for.
    public init(model folder: String, settings: Settings = Settings()) throws(SpotterError) {
        ForkGate.enter()
        defer { ForkGate.leave() }
        let vocabulary = try Spotter.vocabulary(folder, settings)
        let thresholds = try Spotter.thresholds(settings, vocabulary)
        words = thresholds.words
        var gate = GateSettings()
        gate.mode = settings.mode == .spot ? .spot : .command
        gate.trigger = settings.trigger == .early ? .early : .end
        detector = DetectorSettings(vocabulary, gate: gate, thresholds: thresholds)
        mix = settings.channel.map { .channel($0) } ?? .mix
    }

    private static func vocabulary(_ folder: String, _ settings: Settings) throws(SpotterError) -> Vocabulary {
        let words = TaughtWords(settings.taughtWords ?? "none")
        do {
            let loaded = try VocabularyLoader(modelFolder: folder, confirms: settings.confirms, words: words).load()
            if let lost = loaded.taught.lost.first {
                throw SpotterError.words.saying("\(settings.taughtWords ?? ""): \(TaughtWords.lostLine(lost))")
            }
            return loaded.vocabulary
        } catch let error as SpotterError {
            throw error
        } catch let error as EnrollmentError where error != .model {
            throw .words.saying(error.description)
        } catch {
            throw .model.saying("\(error)")
        }
    }

    private static func thresholds(
        _ settings: Settings,
        _ vocabulary: Vocabulary
    ) throws(SpotterError) -> Thresholds {
        var choices = ThresholdChoices()
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
                Detection($0, detector.vocabulary.labels)
            }
        } catch {
            throw .audio.saying(error.description)
        }
    }

    /// Begins a stream of audio, such as a microphone's.
    ///
    /// - Parameter sampleRate: sample rate of the audio, in Hz.
    /// - Throws: ``SpotterError/audio`` for a rate that cannot be converted.
    public func stream(sampleRate: Int = 16_000) throws(SpotterError) -> Stream {
        ForkGate.enter()
        defer { ForkGate.leave() }
        do throws(AudioError) {
            return Stream(self, sampleRate: sampleRate, blocks: try BlockMaker(from: sampleRate, echo: nil))
        } catch {
            throw .audio.saying(error.description)
        }
    }
}

/// A word that was detected; times are in seconds from the start of the file or stream.
public struct Detection: Equatable, Sendable {
    public let word: String
    /// Confidence, 0…1.
    public let confidence: Double
    /// Where networks confirmed it: its score in the streaming network, and their posterior, 0…1.
    public let proposed: Double?
    public let confirmed: Double?
    /// Estimated bounds of the word, in seconds.
    public let start: Double
    public let end: Double

    /// - Returns: nil where the detection is not a word.
    init?(_ detection: Spotting.Detection, _ labels: [String], endingBy length: Double = .infinity) {
        guard detection.kind == .word else { return nil }
        word = detection.name(labels: labels, phrases: [])
        confidence = Double(detection.confidence)
        (proposed, confirmed) = (detection.proposed.map(Double.init), detection.confirmed.map(Double.init))
        start = min(detection.start, length)
        end = min(detection.end, length)
    }
}

/// Why a ``Spotter`` cannot be made or used.
///
/// Compare with the constants: two errors are equal when they are of the same kind, whatever their descriptions say.
public struct SpotterError: Error, Equatable, CustomStringConvertible, Sendable {
    private enum Code { case model, words, settings, audio }

    private let code: Code
    /// One line: the object, what is wrong with it, what to do.
    public let description: String

    public static func == (left: SpotterError, right: SpotterError) -> Bool { left.code == right.code }

    /// The model's folder cannot be read, or its files are wrong.
    public static let model = SpotterError(code: .model, description: "the model cannot be used")
    /// The file of taught words cannot be read, is damaged, or has a word that this model cannot find.
    public static let words = SpotterError(code: .words, description: "the taught words cannot be used")
    /// The settings name a word or sensitivity that the model does not have, or a threshold outside 0…1.
    public static let settings = SpotterError(code: .settings, description: "the settings do not fit the model")
    /// Audio cannot be read or converted.
    public static let audio = SpotterError(code: .audio, description: "the audio cannot be used")

    /// The same kind of error with a description of its own.
    func saying(_ description: String) -> SpotterError { SpotterError(code: code, description: description) }
}
