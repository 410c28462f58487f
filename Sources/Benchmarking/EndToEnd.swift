import Actions
public import Audio
private import Capture
private import Configuration
private import Core
private import Daemon
private import Evaluation
public import Events
private import FoundationEssentials
private import Glibc
public import Inference
public import Spotting
private import Synchronization
private import System

/// Latency from the end of a word in the audio to the start of its action, through the whole service.
///
/// The device plays a recording from its first sample on as soon as it is opened, as a test's card does, and a label track
/// says when the words in it end.
public struct EndToEnd {
    public struct Settings: Sendable {
        /// Name of the capture device.
        public let device: String
        /// File of the label track: the words that the device plays.
        public let track: String
        /// Full path of a program that notes when it was started.
        public let stamp: String
        /// How the channels of the device become one.
        public let mix: ChannelMix
        public let gate: GateSettings
        public let thresholds: Thresholds

        public init(
            device: String,
            track: String,
            stamp: String,
            mix: ChannelMix,
            gate: GateSettings,
            thresholds: Thresholds
        ) {
            self.device = device
            self.track = track
            self.stamp = stamp
            self.mix = mix
            self.gate = gate
            self.thresholds = thresholds
        }
    }

    public struct Result: Sendable {
        /// Words that the device played.
        public let words: Int
        /// Words detected, whose latencies are in `times`.
        public let heard: Int
        /// Detections that are none of the words.
        public let others: Int
        public let times: StageTimes
    }

    private let settings: Settings
    private let model: Model
    private let labels: LabelSet
    private let words: [SpokenWord]

    /// Seconds after its end in which a word may still be decided.
    private static let tolerance = 1.0

    /// - Throws: ``BenchmarkError`` or `EvaluationError` where the track cannot be used, or the program not be run.
    public init(_ settings: Settings, model: Model) throws {
        self.settings = settings
        self.model = model
        labels = LabelSet(model.labels)
        let name = printable(settings.track)
        guard let track = FileManager.default.contents(atPath: settings.track) else {
            throw BenchmarkError.endToEnd("\(name): cannot read this label track")
        }
        words = try LabelTrack(String(decoding: track, as: UTF8.self), file: name).words(of: labels)
        guard !words.isEmpty else { throw BenchmarkError.endToEnd("\(name): there is no word of the model in it") }
        guard FileManager.default.isExecutableFile(atPath: settings.stamp) else {
            throw BenchmarkError.endToEnd(
                "\(settings.stamp): no program that can be run; make bench-end-to-end builds it"
            )
        }
    }

    /// Listens to the whole recording.
    ///
    /// - Parameters:
    ///   - environment: of the actions.
    ///   - log: gets the messages of the actions, from any thread.
    public func run(
        environment: [String: String],
        log: ServiceLog
    ) throws -> Result {
        let file = FileManager.default.temporaryDirectory.path + "/beckon-bench-\(getpid())"
        defer { unlink(file) }
        var microphone = Microphone.Settings()
        microphone.selection.device = .named(settings.device)
        microphone.selection.mix = settings.mix
        let length = (words.last?.end ?? 0) + Self.tolerance + 0.3
        let source = StampedSource(try Microphone(microphone), seconds: length + 5)
        let events = EventCollector()
        var configuration = Configuration()
        configuration.gate = settings.gate
        configuration.actions = [Action(.run([settings.stamp, file], directory: "/"))]
        let actions = try ActionRunner(
            configuration,
            environment: environment,
            log: log
        )
        defer { actions.stop() }
        let dispatcher = try EventDispatcher(
            configuration,
            labels: model.labels,
            device: settings.device,
            sinks: [actions, events]
        )
        defer { dispatcher.stop() }
        let detectorSettings = DetectorSettings(
            vocabulary: Vocabulary(model),
            gate: configuration.gate,
            thresholds: settings.thresholds,
            phrases: [],
            generation: dispatcher.generation
        )
        let detector = try DetectorThread(
            source: source,
            settings: detectorSettings,
            queue: dispatcher.queue,
            history: AudioHistory()
        )
        defer {
            source.microphone.stop()
            detector.stop()
        }
        try source.microphone.start()
        try waitForEnd(of: source.microphone, detector, seconds: length)
        var times = StageTimes(blocks: source.blocks)
        let detected = events.all
        let heard = match(detected, try Self.starts(in: file), &times)
        return Result(words: words.count, heard: heard, others: detected.count - heard, times: times)
    }

    /// Waits for the recording's end. Lost audio would make the times wrong.
    private func waitForEnd(of microphone: Microphone, _ detector: DetectorThread, seconds: Double) throws {
        let deadline = Clock.now + .seconds(seconds + 10)
        while Double(detector.status.hops) * AudioFormat.hopSeconds < seconds {
            let status = microphone.status
            guard status.counts.gaps == 0, detector.status.droppedBlocks == 0 else {
                throw BenchmarkError.endToEnd(
                    "\(settings.device): audio was lost, so that nothing was measured; is the machine too busy?"
                )
            }
            guard status.problem.isEmpty, Clock.now < deadline else {
                let text = status.problem.isEmpty ? "\(settings.device): no audio comes" : status.problem
                throw BenchmarkError.endToEnd(text)
            }
            usleep(100_000)
        }
    }

    /// Start times of actions by the number of their event, in nanoseconds on the monotonic clock.
    private static func starts(in file: String) throws(BenchmarkError) -> [UInt64: Instant] {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw .endToEnd("no word was heard, or its action left no sign; is it the right recording?")
        }
        var starts: [UInt64: Instant] = [:]
        for line in text.split(separator: "\n") {
            let numbers = line.split(separator: " ")
            guard numbers.count == 2, let sequence = UInt64(numbers[0]), let time = Int64(numbers[1]) else { continue }
            starts[sequence] = Instant(nanoseconds: time)
        }
        return starts
    }

    /// Gives each word the first event that is its own. Returns how many have one.
    private func match(_ events: [DetectionEvent], _ starts: [UInt64: Instant], _ times: inout StageTimes) -> Int {
        var free = events
        var count = 0
        for word in words {
            let found = free.firstIndex {
                $0.name == labels.name(of: word.label) && $0.time > word.start && $0.time <= word.end + Self.tolerance
            }
            guard let found else { continue }
            let event = free.remove(at: found)
            guard let start = starts[event.sequence] else { continue }
            count += times.add(end: word.end, decided: event.time, started: start) ? 1 : 0
        }
        return count
    }
}

/// Keeps all events.
private final class EventCollector: EventSink {
    private let events = Mutex<[DetectionEvent]>([])

    var all: [DetectionEvent] { events.withLock { $0 } }

    func receive(_ event: DetectionEvent) { events.withLock { $0.append(event) } }
}
