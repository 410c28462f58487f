import Actions
public import Audio
private import Capture
private import Configuration
private import Core
private import Daemon
private import Evaluation
public import Events
private import Glibc
public import Spotting
private import Synchronization
private import System

/// Latency from the end of a word in the audio to the start of its action, through the whole service.
///
/// The device must play a recording from its first sample when it is opened, as the tests' fake card does. A label
/// track gives the end time of each word in it.
public struct EndToEnd {
    public struct Result: Sendable {
        /// Number of words that the device played.
        public let words: Int
        /// Number of words detected; their latencies are in `times`.
        public let heard: Int
        /// Number of detections that match no word of the track.
        public let others: Int
        public let times: StageTimes
    }

    private let device: String
    private let stamp: String
    private let mix: ChannelMix
    private let detector: DetectorSettings
    private let labels: Labels
    private let words: [SpokenWord]

    /// Latest decision of a word, in seconds after its end.
    private static let tolerance = 1.0

    /// - Parameters:
    ///   - device: name of the capture device.
    ///   - track: path of the label track of the recording.
    ///   - stamp: full path of the program that the action starts; it writes its start time to a file.
    ///   - mix: channels of the device to mix into one.
    /// - Throws: ``BenchmarkError`` or `EvaluationError` where the track cannot be used or the program cannot be run.
    public init(device: String, track: String, stamp: String, mix: ChannelMix, detector: DetectorSettings) throws {
        self.device = device
        self.stamp = stamp
        self.mix = mix
        self.detector = detector
        labels = Labels(detector.vocabulary.labels)
        words = try LabelTrack(path: track).words(of: labels)
        guard !words.isEmpty else {
            throw BenchmarkError("\(printable(track)): there is no word of the model in it")
        }
        guard access(stamp, X_OK) == 0 else {
            throw BenchmarkError("\(stamp): no program that can be run; make bench-end-to-end builds it")
        }
    }

    /// Runs the service on the whole recording; blocks for its length.
    ///
    /// - Parameters:
    ///   - environment: environment variables of the actions.
    ///   - log: gets the messages of the actions, on any thread.
    /// - Throws: ``BenchmarkError`` where audio is lost or no word is detected; errors of the service's start.
    public func run(
        environment: [String: String],
        log: ServiceLog
    ) throws -> Result {
        // A folder of its own: another user may foresee any name in the common one.
        var name = Array(((OwnEnvironment.variables["TMPDIR"] ?? "/tmp") + "/beckon-bench-XXXXXX").utf8CString)
        guard let folder = mkdtemp(&name).map({ String(cString: $0) }) else {
            throw BenchmarkError("cannot make a folder for temporary files: \(SystemError.text(errno))")
        }
        let file = folder + "/start"
        defer {
            unlink(file)
            rmdir(folder)
        }
        var microphone = Microphone.Settings()
        microphone.selection.device = .named(device)
        microphone.selection.mix = mix
        let length = (words.last?.end ?? 0) + Self.tolerance + 0.3
        let source = StampedSource(try Microphone(microphone), seconds: length + 5)
        let events = EventCollector()
        var configuration = Configuration()
        configuration.gate = detector.gate
        configuration.actions = [Action(.run([stamp, file], directory: "/"))]
        let actions = try ActionRunner(
            configuration,
            environment: environment,
            log: log
        )
        defer { actions.stop() }
        let dispatcher = try EventDispatcher(
            configuration,
            labels: detector.vocabulary.labels,
            device: device,
            sinks: [actions, events]
        )
        try dispatcher.start()
        defer { dispatcher.stop() }
        let thread = DetectorThread(
            source: source,
            settings: dispatcher.numbered(detector),
            queue: dispatcher.queue,
            history: AudioHistory()
        )
        try thread.start()
        defer {
            source.microphone.stop()
            thread.stop()
        }
        try source.microphone.start()
        try waitForEnd(of: source.microphone, thread, seconds: length)
        var times = StageTimes(blocks: source.blocks)
        let detected = events.all
        let heard = match(detected, try Self.starts(in: file), &times)
        return Result(words: words.count, heard: heard, others: detected.count - heard, times: times)
    }

    /// Waits for the recording's end. Throws on lost audio, which would make the times wrong.
    private func waitForEnd(of microphone: Microphone, _ detector: DetectorThread, seconds: Double) throws {
        let deadline = Clock.now + .seconds(seconds + 10)
        while Double(detector.status.hops) * AudioFormat.hopSeconds < seconds {
            let status = microphone.status
            guard status.counts.gaps == 0, detector.status.droppedBlocks == 0 else {
                throw BenchmarkError(
                    "\(device): audio was lost, so that nothing was measured; is the machine too busy?"
                )
            }
            guard status.problem.isEmpty, Clock.now < deadline else {
                let text = status.problem.isEmpty ? "\(device): no audio comes" : status.problem
                throw BenchmarkError(text)
            }
            usleep(100_000)
        }
    }

    /// Start time of each action on the monotonic clock, by the sequence number of its event.
    private static func starts(in file: String) throws(BenchmarkError) -> [UInt64: Instant] {
        guard let text = kernelText(file) else {
            throw BenchmarkError("no word was detected, or its action left no sign; is it the right recording?")
        }
        var starts: [UInt64: Instant] = [:]
        for line in text.split(separator: "\n") {
            let numbers = line.split(separator: " ")
            guard numbers.count == 2, let sequence = UInt64(digits: numbers[0]), let time = Int64(digits: numbers[1])
            else { continue }
            starts[sequence] = Instant(nanoseconds: time)
        }
        return starts
    }

    /// Matches each word with its first detection within the tolerance; adds its times; returns the number matched.
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
