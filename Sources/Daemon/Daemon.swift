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

/// A change of settings while the daemon runs. It may come from a signal, the control socket or a changed file.
public enum SettingsChange: Equatable, Sendable {
    /// Reads the configuration again, and all files that it names: SIGHUP, `beckon reload`.
    case configuration
    /// Reads the file of the user's taught words again, because it has changed.
    case words
    /// Sets other thresholds: `beckon set`.
    case thresholds(ThresholdChange)
    /// Closes (true) or opens (false) the microphone.
    case mute(Bool)
}

/// The whole service: audio, detector, actions, control socket and signals, from start to stop.
///
/// Threads: the capture thread fills the ring. The detector's thread (``DetectorThread``) reads the ring and queues
/// detections. The dispatcher's thread (``EventDispatcher``) turns them into events for all sinks. The control socket's
/// thread serves clients. The caller of ``run(_:)`` handles signals, the log of the microphone and the watchdog.
public final class Daemon: Sendable {
    /// What a service needs in addition to its settings.
    public struct Setup: Sendable {
        /// A file that is played as if it came from a microphone; nil listens to the microphone.
        public var file: String?
        /// The path of a WAV file to record the audio to; nil for none.
        public var recording: String?
        /// The program's environment variables.
        public var environment: [String: String]

        public init(file: String? = nil, recording: String? = nil, environment: [String: String]) {
            self.file = file
            self.recording = recording
            self.environment = environment
        }
    }

    /// Nil if a file is played instead.
    public let microphone: Microphone?
    private let source: any AudioSource
    private let setup: Setup
    private let loader: SettingsLoader
    private let log: ServiceLog
    private let history = AudioHistory()
    private let settings: Mutex<ServiceSettings>
    /// Held while a change is applied, so that changes from several threads are applied one after the other.
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
    ///   - settings: the initial settings.
    ///   - loader: reads the settings again when they have changed.
    ///   - sinks: further receivers of events, in addition to actions, control socket and clips.
    /// - Throws: if the file, the microphone, a socket or a thread cannot be set up.
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

    /// The detector's counters and newest scores. Any thread.
    public var detectorStatus: DetectorStatus { detector.status }
    /// Counts of events so far. Any thread.
    public var eventCounts: EventDispatcher.Counts { dispatcher.counts }
    /// The model and the taught words in force. Any thread.
    public var vocabulary: Vocabulary { settings.withLock { $0.vocabulary } }

    /// The path of the control socket; nil for none. Outside systemd, `.auto` means a socket in `XDG_RUNTIME_DIR`, and
    /// none while a file is played.
    private static func controlPath(_ configuration: Configuration, _ setup: Setup) -> String? {
        if case .auto = configuration.socket, setup.environment["RUNTIME_DIRECTORY"] == nil {
            guard setup.file == nil, let folder = setup.environment["XDG_RUNTIME_DIR"] else { return nil }
            mkdir(folder + "/beckon", 0o700)
        }
        return ControlServer.path(for: configuration.socket, environment: setup.environment)
    }

    // MARK: - Changes, on any thread

    /// Changes the settings in force. All changes go through this method, one after the other. Each writes one line to
    /// the log, and systemd sees the service as reloading until it is done.
    ///
    /// - Returns: one line about what does not apply, or only after a restart; nil if everything applies now.
    /// - Throws: what is wrong with the new settings; nothing has changed then.
    @discardableResult
    public func apply(_ change: SettingsChange) throws -> String? {
        switch change {
        case .configuration:
            return try apply("the configuration was read again") { try apply(try loader.load()) }
        case .words:
            return try apply("your own words were read again") {
                try apply(try loader.load(leavingOutUnknownWords: true))
            }
        case .thresholds(let change):
            return try apply("thresholds were set: \(printable(change.text))") { try set(change) }
        case .mute(let isMuted):
            guard let microphone else { throw DaemonError("cannot mute: a file is played, not a microphone") }
            // The main thread logs the change when the microphone reports it.
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
        var notes = new.keepChoices(of: old)
        // First, because it is the only step that can fail.
        try actions.apply(new.configuration)
        let generation = dispatcher.apply(
            new.configuration,
            labels: new.vocabulary.labels,
            device: microphone == nil ? nil : new.configuration.device
        )
        settings.withLock { $0 = new }
        log.level = new.configuration.log
        if new.choices.all != old.choices.all { log.write(.info, new.choices.text) }
        clips.apply(new.configuration.clips)
        detector.apply(new.detector(generation: generation))
        microphone?.apply(InputSelection(new.configuration))
        if new.configuration.socket != old.configuration.socket {
            notes.append("socket: the one in use stays until the service is started again")
        }
        return notes.isEmpty ? nil : notes.joined(separator: "; ")
    }

    private func set(_ change: ThresholdChange) throws(SpottingError) -> String? {
        var new = settings.withLock { $0 }
        let others = try new.set(change)
        settings.withLock { $0 = new }
        detector.apply(new.detector(generation: dispatcher.generation))
        return others.isEmpty ? nil : "these keep a choice of their own: \(printable(others.joined(separator: ", ")))"
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
            case .set(let change):
                if let note = try apply(.thresholds(change)) { return .status(["note": .string(note)]) }
            }
            return .done
        } catch {
            return .failed("\(error)")
        }
    }

    private var status: JSON {
        var status: JSON = [:]
        microphone?.status.describe(in: &status)
        let (vocabulary, thresholds, choices) = settings.withLock { ($0.vocabulary, $0.thresholds, $0.choices) }
        status.append(["model": .string(vocabulary.model.name)])
        detector.status.describe(in: &status)
        let (events, actions) = (dispatcher.counts, actions.counts)
        let words = zip(vocabulary.labels, thresholds.values).compactMap { label, threshold in
            threshold.map { JSON.Member(label, .number($0, places: 3)) }
        }
        status.append([
            "events": .number(events.events), "suppressed": .number(events.suppressed),
            "actionsFailed": .number(actions.failed),
        ])
        choices.describe(in: &status)
        status.append(["thresholds": .object(words)])
        return status
    }

    // MARK: - On the main thread

    /// Listens until SIGTERM, SIGINT, ``end()``, or the end of the played file.
    ///
    /// - Parameter signals: must be created, and so block the signals, before the program starts any thread.
    /// - Returns: the program's exit status.
    /// - Throws: if the microphone cannot be started, the file cannot be read or the recording cannot be written.
    public func run(_ signals: Signals) throws -> Int32 {
        defer { stop() }
        let recording = try setup.recording.map { path throws(DaemonError) in
            try Recording(path: path, history: history)
        }
        let choices = settings.withLock { $0.choices }
        if choices.all != ThresholdChoices().all { log.write(.info, choices.text) }
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
            // apply(_:) has logged the error.
            if words.hasChanged(at: Clock.now) { _ = try? apply(.words) }
            watchdog.look(at: self)
            if source.hasEnded || isEnding.load(ordering: .relaxed) { return 0 }
        }
    }

    /// Makes ``run(_:)`` return 0 within 250 ms. Any thread.
    public func end() { isEnding.store(true, ordering: .relaxed) }

    /// Stops listening, dispatches the last detections, then stops the control socket and running actions.
    private func stop() {
        microphone?.stop()
        detector.stop()
        actions.close()
        dispatcher.stop()
        control?.stop()
        actions.stop()
    }
}
