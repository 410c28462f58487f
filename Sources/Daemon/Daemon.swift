import Actions
import Audio
public import Capture
import Configuration
public import Control
import Core
import Enrollment
public import Events
import Glibc
import Inference
public import Spotting
import Synchronization
public import System

/// A change of settings, wherever the request comes from.
public enum SettingsChange: Equatable, Sendable {
    /// The configuration, or a file that it names, may be another one: SIGHUP, `beckon reload`.
    case configuration
    /// The file of the user's own words is another one.
    case words
    /// Other thresholds for some words: `beckon set`.
    case thresholds([WordThreshold])
    /// Whether the microphone is closed.
    case mute(Bool)
}

/// The service as a whole: audio, detector, actions, control socket, signals, from start to stop.
///
/// Threads: the capture thread fills the ring, the detector's thread (``DetectorThread``) reads it and queues detections,
/// the dispatcher's (``EventDispatcher``) makes events of them for all sinks, the control socket's serves clients, and the
/// caller of ``run(_:)`` takes signals and looks after the rest.
public final class Daemon: Sendable {
    /// What a service runs on beside its settings.
    public struct Setup: Sendable {
        /// A file that is played as if it came from a microphone; nil listens to the microphone.
        public var file: String?
        /// A WAV file that gets what is heard.
        public var recording: String?
        /// Of the program.
        public var environment: [String: String]

        public init(file: String? = nil, recording: String? = nil, environment: [String: String]) {
            self.file = file
            self.recording = recording
            self.environment = environment
        }
    }

    /// Nil where a file is played.
    public let microphone: Microphone?
    private let source: any AudioSource
    private let setup: Setup
    private let loader: SettingsLoader
    private let log: ServiceLog
    private let history = AudioHistory()
    private let settings: Mutex<ServiceSettings>
    /// Held while a change is applied, so that changes of several threads come one after the other.
    private let applying = Mutex(())
    private let actions: ActionRunner
    private let clips: ClipSaver
    private let control: ControlServer?
    private let dispatcher: EventDispatcher
    private let detector: DetectorThread
    private let notifier = SystemdNotifier()
    private let isEnding = Atomic<Bool>(false)

    /// Opens what the service needs and starts its threads; the microphone is opened by ``run(_:)``.
    ///
    /// - Parameters:
    ///   - settings: those in force at first.
    ///   - loader: reads the settings again when they have changed.
    ///   - sinks: what gets the events beside actions, control socket and clips.
    public init(
        _ settings: ServiceSettings,
        loader: SettingsLoader,
        setup: Setup,
        log: ServiceLog,
        sinks: [any EventSink] = []
    ) throws {
        let configuration = settings.configuration
        let selection = InputSelection(configuration)
        if let file = setup.file {
            source = try FileSource(path: file, mix: selection.mix)
            microphone = nil
        } else {
            var settings = Microphone.Settings()
            settings.selection = selection
            let microphone = try Microphone(settings)
            source = microphone
            self.microphone = microphone
        }
        self.setup = setup
        self.loader = loader
        self.log = log
        self.settings = Mutex(settings)
        log.level = configuration.log
        actions = try ActionRunner(configuration, environment: setup.environment, log: log)
        clips = ClipSaver(configuration.clips, history: history, log: log)
        control = try Self.controlPath(configuration, setup).map { path throws(ControlError) in
            try ControlServer(path: path)
        }
        var all: [any EventSink] = [actions] + sinks
        if let control { all.append(control) }
        dispatcher = try EventDispatcher(
            configuration,
            labels: settings.vocabulary.labels,
            device: setup.file ?? configuration.device,
            sinks: all + [clips]
        )
        detector = try DetectorThread(
            source: source,
            settings: settings.detector(generation: dispatcher.generation),
            queue: dispatcher.queue,
            history: history
        )
        control?.start { [weak self] command in self?.perform(command) ?? .failed("the service is stopping") }
    }

    public var detectorStatus: DetectorStatus { detector.status }
    public var eventCounts: EventDispatcher.Counts { dispatcher.counts }
    public var vocabulary: Vocabulary { settings.withLock { $0.vocabulary } }

    /// A terminal's user has no service to control, unless they say where its socket is.
    private static func controlPath(_ configuration: Configuration, _ setup: Setup) -> String? {
        if case .auto = configuration.socket, setup.environment["RUNTIME_DIRECTORY"] == nil {
            guard setup.file == nil, let folder = setup.environment["XDG_RUNTIME_DIR"] else { return nil }
            mkdir(folder + "/beckon", 0o700)
        }
        return ControlServer.path(for: configuration.socket, environment: setup.environment)
    }

    // MARK: - Changes, on any thread

    /// Changes the settings in force. Every change comes through here and writes one line to the log; under systemd the
    /// service is reloading meanwhile. Changes are applied one after the other.
    ///
    /// - Returns: what does not apply before the next start, in a line; nil where all does.
    /// - Throws: what is wrong with the new settings; all is then as it was.
    @discardableResult
    public func apply(_ change: SettingsChange) throws -> String? {
        switch change {
        case .configuration:
            return try apply("the configuration was read again") { try apply(try loader.load()) }
        case .words:
            return try apply("your own words were read again") {
                try apply(try loader.load(leavingOutUnknownWords: true))
            }
        case .thresholds(let words):
            let text = words.map { "\($0.word)=\($0.threshold)" }.joined(separator: " ")
            return try apply("thresholds were set: \(printable(text))") {
                try set(words)
                return nil
            }
        case .mute(let isMuted):
            guard let microphone else { throw DaemonError("a file is played, which cannot be muted") }
            // The change of the microphone is logged when it has happened.
            if isMuted { microphone.mute() } else { microphone.unmute() }
            return nil
        }
    }

    private func apply(_ what: String, _ change: () throws -> String?) throws -> String? {
        try applying.withLock { _ in
            try notifier.reloading {
                do {
                    let note = try change()
                    log.write(.notice, what + (note.map { "; \($0)" } ?? ""))
                    return note
                } catch {
                    log.write(.error, "\(error); the configuration in force stays as it was")
                    throw error
                }
            }
        }
    }

    private func apply(_ loaded: ServiceSettings) throws(ActionError) -> String? {
        let old = settings.withLock { $0 }
        var new = loaded
        new.keepThresholds(of: old)
        // The only step that can fail comes first.
        try actions.apply(new.configuration)
        let generation = dispatcher.apply(
            new.configuration,
            labels: new.vocabulary.labels,
            device: microphone == nil ? nil : new.configuration.device
        )
        settings.withLock { $0 = new }
        log.level = new.configuration.log
        clips.apply(new.configuration.clips)
        detector.apply(new.detector(generation: generation))
        microphone?.apply(InputSelection(new.configuration))
        guard new.configuration.socket != old.configuration.socket else { return nil }
        return "socket: the one in use stays until the service is started again"
    }

    private func set(_ words: [WordThreshold]) throws(SpottingError) {
        var new = settings.withLock { $0 }
        try new.set(words)
        settings.withLock { $0 = new }
        detector.apply(new.detector(generation: dispatcher.generation))
    }

    // MARK: - On the control socket's thread

    private func perform(_ command: ControlCommand) -> ControlServer.Reply {
        do {
            switch command {
            case .status, .events: return .status(status)
            case .mute: try apply(.mute(true))
            case .unmute: try apply(.mute(false))
            case .reload:
                if let note = try apply(.configuration) { return .status(["note": .string(note)]) }
            case .set(let words): try apply(.thresholds(words))
            }
            return .done
        } catch {
            return .failed("\(error)")
        }
    }

    private var status: JSON {
        var status: JSON = [:]
        microphone?.status.describe(in: &status)
        let (vocabulary, thresholds) = settings.withLock { ($0.vocabulary, $0.thresholds) }
        status.append(["model": .string(vocabulary.model.name)])
        detector.status.describe(in: &status)
        let (events, actions) = (dispatcher.counts, actions.counts)
        let words = zip(vocabulary.labels, thresholds.values).compactMap { label, threshold in
            threshold.map { JSON.Member(label, .number($0, places: 3)) }
        }
        status.append([
            "events": .number(events.events), "suppressed": .number(events.suppressed),
            "actionsFailed": .number(actions.failed), "thresholds": .object(words),
        ])
        return status
    }

    // MARK: - On the main thread

    /// Listens until a signal ends it, or the file that it plays ends.
    ///
    /// - Parameter signals: blocked before any thread of the program was made.
    /// - Returns: the program's exit status.
    /// - Throws: where the microphone cannot be started, the file cannot be read or the recording not be written.
    public func run(_ signals: Signals) throws -> Int32 {
        defer { stop() }
        let recording = try setup.recording.map { path throws(DaemonError) in
            try Recording(path: path, history: history)
        }
        try microphone?.start()
        let status = try loop(signals, recording)
        try recording?.catchUp()
        if let problem = (source as? FileSource)?.problem { throw problem }
        return status
    }

    private func loop(_ signals: Signals, _ recording: Recording?) throws -> Int32 {
        var watchdog = Watchdog(notifier)
        var words = FileWatch(loader.vocabulary.words.path)
        var gaps = GapReport()
        while true {
            switch signals.next(within: .milliseconds(250)) {
            case SIGTERM:
                notifier.tellStopping()
                return 0
            case SIGINT:
                notifier.tellStopping()
                return 130
            case SIGHUP: _ = try? apply(.configuration)
            case SIGUSR1: _ = try? apply(.mute(microphone?.status.state != .muted))
            default: break
            }
            if let microphone {
                for message in gaps.messages(of: microphone, at: Clock.now) { log.write(message.level, message.text) }
            }
            try recording?.catchUp()
            // The log has told what went wrong.
            if words.hasChanged(at: Clock.now) { _ = try? apply(.words) }
            watchdog.look(at: self)
            if source.hasEnded || isEnding.load(ordering: .relaxed) { return 0 }
        }
    }

    /// Makes ``run(_:)`` return 0 within a quarter of a second. Any thread.
    public func end() { isEnding.store(true, ordering: .relaxed) }

    /// Ends listening, hands over the last detections, then ends running actions and the socket.
    private func stop() {
        microphone?.stop()
        detector.stop()
        actions.close()
        dispatcher.stop()
        control?.stop()
        actions.stop()
    }
}
