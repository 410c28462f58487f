import Actions
import Audio
public import Capture
public import Configuration
import Control
import Core
import Enrollment
public import Events
import Glibc
import IntegrationInterface
import JSON
import Spotting
import Synchronization
public import System

/// The whole service: audio, detector, actions, control socket and signals, from start to stop.
///
/// Threads: the capture thread fills the ring. The detector's thread (``DetectorThread``) reads the ring and queues
/// detections. The dispatcher's thread (``EventDispatcher``) turns them into events for all sinks. The control socket's
/// thread serves clients. A thread of its own reads and applies changed settings. The caller of ``run(_:)`` handles
/// signals, the log of the microphone and the watchdog; it waits for none of the others, so that a signal always ends
/// the service.
public final class Daemon: Sendable {
    /// Nil if a file or a stream is played instead.
    public let microphone: Microphone?
    let source: any AudioSource
    let setup: Setup
    let loader: SettingsLoader
    let log: ServiceLog
    let history = AudioHistory()
    let settings: Mutex<ServiceSettings>
    let changes: ChangeQueue
    let actions: ActionRunner
    let clips: ClipSaver
    let misses: RecentWords
    let control: ControlServer?
    /// Whether another service has the control socket, and with it what only one can have: sockets, ports, names at brokers,
    /// the list of misses.
    let isBesideAnother: Bool
    let integrations: Integrations
    let dispatcher: EventDispatcher
    let detector: DetectorThread
    let notifier: SystemdNotifier
    private let isEnding = Atomic<Bool>(false)
    private let stuck = Atomic<Bool>(false)
    /// Whether the log has said that the control socket cannot be made again.
    let socketProblem = Atomic<Bool>(false)
    /// The setting that the control socket was made by.
    let configuredSocket: Configuration.Socket

    /// The time to end everything in, so that the process ends within 2 s.
    private static let stopTime = Duration.milliseconds(1300)

    /// Opens what the service needs and starts its threads; the microphone is opened by ``run(_:)``.
    ///
    /// - Parameters:
    ///   - settings: the initial settings.
    ///   - loader: reads the settings again when they have changed.
    ///   - signals: those of ``run(_:)``. They end the program at once while a file is opened, whose disk may not answer.
    ///   - sinks: further receivers of events, in addition to actions, control socket and clips.
    /// - Throws: if the file, the microphone, a socket or a thread cannot be set up.
    public init(
        _ settings: ServiceSettings,
        loader: SettingsLoader,
        setup: Setup,
        signals: Signals,
        log: ServiceLog,
        sinks: [any EventSink] = []
    ) throws {
        let configuration = settings.configuration
        let selection = InputSelection(configuration)
        switch setup.input {
        case .file(let path):
            source = try signals.interruptible { try FileSource(path: path, mix: selection.mix) }
            microphone = nil
        case .stream(let descriptor, let format):
            source = try PipeSource(descriptor, raw: format, mix: selection.mix)
            microphone = nil
        case .microphone:
            var settings = Microphone.Settings()
            settings.selection = selection
            let microphone = try Microphone(settings)
            source = microphone
            self.microphone = microphone
        }
        self.setup = setup
        self.loader = loader
        self.log = log
        notifier = SystemdNotifier(environment: setup.environment)
        changes = try ChangeQueue()
        self.settings = Mutex(settings)
        configuredSocket = configuration.socket
        log.level = configuration.log
        (control, isBesideAnother) = try Self.openControl(configuration, setup, log)
        integrations = Integrations(isBesideAnother ? [] : Integrations.besideDetector)
        let (output, isJSON) = (setup.output, setup.outputIsJSON)
        actions = try ActionRunner(
            configuration,
            environment: setup.environment,
            leavesOutSocketsInUse: isBesideAnother,
            log: log
        ) { line in output.write(isJSON ? Self.printEvent(line).line : line) }
        clips = ClipSaver(configuration.clips, history: history, log: log)
        misses = RecentWords(
            isBesideAnother ? Configuration.Misses() : configuration.misses,
            history: history,
            log: log
        )
        var all: [any EventSink] = [actions] + sinks
        if let control { all.append(control) }
        all.append(integrations)
        let microphone = microphone
        dispatcher = try EventDispatcher(
            configuration,
            labels: settings.vocabulary.labels,
            device: setup.input.name ?? configuration.device,
            deviceInUse: { microphone?.deviceInUse },
            history: history,
            sinks: all + [clips, misses]
        )
        detector = try DetectorThread(
            source: source,
            settings: dispatcher.numbered(settings.detector),
            queue: dispatcher.queue,
            history: history
        )
        if let problem = integrations.update(settings, service).first {
            stop(nil)
            throw DaemonError(problem)
        }
        let words = Mutex(FileWatch(loader.vocabulary.words.path))
        try changes.start(
            make: { [weak self] change in try self?.apply(change) ?? ChangeQueue.Outcome() },
            look: { [weak self] in self?.lookAtFiles(words) }
        )
        control?.start { [weak self] command, later in
            guard let self else { return .failed("the service is stopping") }
            return perform(command, later)
        }
    }

    /// The detector's counters and newest scores. Any thread.
    public var detectorStatus: DetectorStatus { detector.status }
    /// Counts of events so far. Any thread.
    public var eventCounts: EventDispatcher.Counts { dispatcher.counts }
    /// The settings in force. Any thread.
    public var currentSettings: ServiceSettings { settings.withLock { $0 } }
    /// How far a file or a stream was played; nil for a microphone. Any thread.
    public var progress: AudioProgress? { source.progress }
    /// Whether the writer of a stream gives no audio. Any thread.
    public var isInputSilent: Bool { (source as? PipeSource)?.isSilent ?? false }

    /// Opens the control socket, if there shall be one. Where another service has it, or a user's folder gives no place for the one that
    /// nobody asked for, this one does without it, and says so.
    private static func openControl(
        _ configuration: Configuration,
        _ setup: Setup,
        _ log: ServiceLog
    ) throws(ControlError) -> (server: ControlServer?, isBesideAnother: Bool) {
        guard let path = controlPath(configuration, setup) else { return (nil, false) }
        do throws(ControlError) {
            return (try ControlServer(path: path), false)
        } catch {
            guard error == .inUse else {
                guard case .auto = configuration.socket, setup.environment["RUNTIME_DIRECTORY"] == nil else {
                    throw error
                }
                log.write(.warning, "\(error); listening without a control socket")
                return (nil, false)
            }
            let isCut = Integrations.areConfigured(Integrations.besideDetector, in: configuration)
            let off = isCut ? "; this one's integrations stay off" : ""
            log.write(
                .notice,
                "another beckon has the control socket \(printable(path)): listening without one, so beckon status, set and mute "
                    + "go to that one\(off)"
            )
            return (nil, true)
        }
    }

    /// The path of the control socket; nil for none. Outside systemd, `.auto` means a socket in `XDG_RUNTIME_DIR`, and
    /// none while a file or a stream is played.
    private static func controlPath(_ configuration: Configuration, _ setup: Setup) -> String? {
        if case .auto = configuration.socket, setup.environment["RUNTIME_DIRECTORY"] == nil {
            guard setup.input == .microphone, let folder = setup.environment["XDG_RUNTIME_DIR"] else { return nil }
            mkdir(folder + "/beckon", 0o700)
        }
        return ControlServer.path(for: configuration.socket, environment: setup.environment)
    }

    // MARK: - On the main thread

    /// Listens until SIGTERM, SIGINT, ``end()``, or the end of the played file.
    ///
    /// - Parameter signals: must be created, and so block the signals, before the program starts any thread.
    /// - Returns: the program's exit status.
    /// - Throws: if the microphone cannot be started, the file cannot be read or the recording cannot be written.
    public func run(_ signals: Signals) throws -> Int32 {
        let recording = try setup.recording.map { path throws(DaemonError) in
            try Recording(path: path, history: history)
        }
        let choices = settings.withLock { $0.choices }
        if choices.all != ThresholdChoices().all { log.write(.info, choices.text) }
        do {
            try microphone?.start()
        } catch {
            stop(recording)
            throw error
        }
        let status = loop(signals, recording)
        stop(recording)
        if let problem = recording?.problem { throw problem }
        if let problem = source.problem { throw problem }
        return status
    }

    /// Whether ``run(_:)`` left a thread behind that waits for a device or a disk, so that only `_exit` is safe.
    public var isStuck: Bool { stuck.load(ordering: .relaxed) }

    private func loop(_ signals: Signals, _ recording: Recording?) -> Int32 {
        var health = AudioHealth()
        var gaps = GapReport()
        var input = InputReport()
        var costs = LossReport()
        func execute(_ signal: Int32) {
            if signal == SIGUSR1 {
                try? mute(microphone?.status.state != .muted)
            } else {
                setup.onTerminalSignal(signal)
            }
        }
        return MainLoop(notifier: notifier, changes: changes).run(signals, onSignal: execute) {
            if let stream = source as? PipeSource {
                for message in stream.messages(at: Clock.now) { log.write(message.level, message.text) }
            }
            if let microphone {
                for message in gaps.messages(of: microphone, at: Clock.now) { log.write(message.level, message.text) }
                for message in input.messages(of: microphone.status, at: Clock.now) {
                    log.write(message.level, message.text)
                }
            }
            for message in costs.messages(detectorStatus, recording: recording, at: Clock.now) {
                log.write(.warning, message)
            }
            let hasEnded = source.hasEnded || recording?.problem != nil || isEnding.load(ordering: .relaxed)
            return hasEnded ? nil : health.look(at: self)
        }
    }

    /// Makes ``run(_:)`` return 0 within 250 ms. Any thread.
    public func end() { isEnding.store(true, ordering: .relaxed) }

    /// Stops listening, dispatches the last detections, then stops the control socket and running actions. What does not
    /// end in time is left behind.
    private func stop(_ recording: Recording?) {
        let end = Clock.now + Self.stopTime
        func soon(_ milliseconds: Int) -> Instant { min(end, Clock.now + .milliseconds(milliseconds)) }
        var haveEnded = [stopMicrophone(until: soon(300)), (source as? PipeSource)?.stop(until: soon(200)) ?? true]
        haveEnded += [detector.stop(until: soon(500))]
        // The last word of a file or a stream acts as all others do; a service that is told to stop starts nothing more.
        let isAtEnd = source.hasEnded
        if !isAtEnd { actions.close() }
        haveEnded.append(dispatcher.stop(until: soon(200)))
        if isAtEnd { actions.finish(until: soon(700)) }
        actions.close()
        haveEnded.append(control?.stop(until: soon(200)) ?? true)
        haveEnded.append(integrations.stop(until: soon(400)))
        haveEnded.append(actions.stop(until: max(end, Clock.now + .milliseconds(100))))
        haveEnded.append(changes.stop(until: soon(200)))
        clips.stop()
        misses.stop()
        haveEnded.append(recording?.stop(until: soon(300)) ?? true)
        stuck.store(haveEnded.contains(false), ordering: .relaxed)
    }

    /// Stops the microphone on a thread of its own, because a driver may hang.
    private func stopMicrophone(until end: Instant) -> Bool {
        guard let microphone else { return true }
        let finished = Latch()
        do throws(DaemonError) {
            _ = try SystemThread(name: "beckon-stop", stackSize: 512 << 10, or: DaemonError.noThread) {
                microphone.stop()
                finished.open()
            }
        } catch {
            microphone.stop()
            return true
        }
        return finished.wait(until: end)
    }
}
