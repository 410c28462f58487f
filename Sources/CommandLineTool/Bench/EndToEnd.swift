import Actions
private import Capture
import Configuration
private import Core
import Daemon
import Evaluation
import Events
private import FoundationEssentials
private import Glibc
import Inference
private import Spotting
private import Synchronization
import System

/// `beckon bench --end-to-end`: from the end of a word in the audio to the start of its action, through all of the service.
///
/// The device plays a recording from its first sample on as soon as it is opened, as a test's card does, and a label track
/// says when the words in it end.
struct EndToEnd {
    /// The device, and what is known of what it plays.
    struct Setting {
        let device: String
        /// The words that the device plays, as a label track.
        let track: String
        /// The program that tells when it was started.
        let stamp: String

        init(_ arguments: Arguments) throws(UsageError) {
            func needed(_ name: String) throws(UsageError) -> String {
                guard let value = arguments.value(name) else { throw UsageError("bench --end-to-end needs \(name)") }
                return value
            }
            device = try needed("--device")
            track = try needed("--track")
            stamp = try needed("--stamp")
            guard stamp.hasPrefix("/") else {
                throw UsageError("--stamp takes a program's full path, not '\(stamp)'")
            }
        }
    }

    private let options: BenchOptions
    private let setting: Setting
    private let model: Model
    private let labels: LabelSet
    private let words: [SpokenWord]

    /// Seconds after its end in which a word may still be decided.
    private static let tolerance = 1.0

    init(_ options: BenchOptions, _ setting: Setting) throws {
        self.options = options
        self.setting = setting
        model = try options.listening.loadModel()
        labels = LabelSet(model.labels)
        guard let track = FileManager.default.contents(atPath: setting.track) else {
            throw Failure("\(printable(setting.track)): cannot read this label track")
        }
        words = try LabelTrack(String(decoding: track, as: UTF8.self), file: printable(setting.track)).words(of: labels)
        guard !words.isEmpty else { throw Failure("\(printable(setting.track)): there is no word of the model in it") }
        guard FileManager.default.isExecutableFile(atPath: setting.stamp) else {
            throw Failure("\(setting.stamp): no program that can be run; make bench-end-to-end builds it")
        }
    }

    /// Listens to the whole recording and prints what it took. Returns the exit status.
    func run() throws -> Int32 {
        let file = FileManager.default.temporaryDirectory.path + "/beckon-bench-\(getpid())"
        defer { unlink(file) }
        var settings = Microphone.Settings()
        settings.selection.device = .named(setting.device)
        settings.selection.mix = options.listening.mix
        let length = (words.last?.end ?? 0) + Self.tolerance + 0.3
        let source = StampedSource(try Microphone(settings), seconds: length + 5)
        let events = Mutex<[DetectionEvent]>([])
        let configuration = self.configuration(file)
        let actions = try ActionRunner(
            configuration,
            labels: model.labels,
            device: setting.device,
            environment: ProcessInfo.processInfo.environment,
            heard: { event in events.withLock { $0.append(event) } },
            report: { report in Terminal.tell(report.priority, report.text) }
        )
        defer { actions.stop() }
        let rules = Rules(
            vocabulary: Vocabulary(model),
            gate: configuration.gate,
            thresholds: try options.listening.thresholds(for: Vocabulary(model)),
            phrases: [],
            generation: actions.generation
        )
        let detector = try DetectorThread(source: source, rules: rules, events: actions.inbox)
        defer {
            source.microphone.stop()
            detector.stop()
        }
        try source.microphone.start()
        try listen(to: source.microphone, detector, seconds: length)
        var times = StageTimes(blocks: source.blocks)
        let heard = match(events.withLock { $0 }, try Self.starts(in: file), &times)
        report(times, heard: heard, others: events.withLock { $0.count } - heard, configuration)
        return heard > 0 ? 0 : 1
    }

    private func configuration(_ file: String) -> Configuration {
        var configuration = Configuration()
        configuration.gate = options.gate
        configuration.actions = [Action(.run([setting.stamp, file], directory: "/"))]
        return configuration
    }

    /// Waits for the recording's end. Lost audio would make the times wrong.
    private func listen(to microphone: Microphone, _ detector: DetectorThread, seconds: Double) throws {
        let deadline = Clock.now + Int64((seconds + 10) * 1e9)
        while Double(detector.status.hops) * StageTimes.hop < seconds {
            let status = microphone.status
            guard status.counts.gaps == 0, detector.status.droppedBlocks == 0 else {
                throw Failure(
                    "\(setting.device): audio was lost, so that nothing was measured; is the machine too busy?"
                )
            }
            guard status.problem.isEmpty, Clock.now < deadline else {
                throw Failure(status.problem.isEmpty ? "\(setting.device): no audio comes" : status.problem)
            }
            usleep(100_000)
        }
    }

    /// When the action of which event was started.
    private static func starts(in file: String) throws -> [UInt64: Int64] {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw Failure("no word was heard, or its action left no sign; is it the right recording?")
        }
        var starts: [UInt64: Int64] = [:]
        for line in text.split(separator: "\n") {
            let numbers = line.split(separator: " ")
            guard numbers.count == 2, let sequence = UInt64(numbers[0]), let time = Int64(numbers[1]) else { continue }
            starts[sequence] = time
        }
        return starts
    }

    /// Each word with the first event that is its own; how many there were.
    private func match(_ events: [DetectionEvent], _ starts: [UInt64: Int64], _ times: inout StageTimes) -> Int {
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

    private func report(_ times: StageTimes, heard: Int, others: Int, _ configuration: Configuration) {
        let (mode, trigger) = (configuration.gate.mode.rawValue, configuration.gate.trigger.rawValue)
        guard !options.json else {
            Terminal.output(
                """
                {"benchmark": "end-to-end", "mode": "\(mode)", "trigger": "\(trigger)", "words": \(words.count), \
                "heard": \(heard), "others": \(others), "milliseconds": \(times.json)}

                """
            )
            return
        }
        Terminal.output(times.table)
        Terminal.output("\(heard) of \(words.count) words heard, \(others) others; mode \(mode), trigger \(trigger)\n")
    }
}
