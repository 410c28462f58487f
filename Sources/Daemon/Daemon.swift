import Actions
public import Audio
public import Capture
import Configuration
public import Control
import Core
import Enrollment
public import Events
import Glibc
import Inference
public import IntegrationInterface
import Metrics
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
/// thread serves clients. A thread of its own reads and applies changed settings. The caller of ``run(_:)`` handles
/// signals, the log of the microphone and the watchdog; it waits for none of the others, so that a signal always ends
/// the service.
public final class Daemon: Sendable {
    /// What a service needs in addition to its settings.
    public struct Setup: Sendable {
        public var input: Input
        /// The path of a WAV file to record the audio to; nil for none.
        public var recording: String?
        /// The program's environment variables.
        public var environment: [String: String]
        /// Standard output, for `print` actions.
        public var output: LineWriter
        /// What the log is written to; only its counts are used here.
        public var logOutput: LineWriter
        /// Gets the signals that concern a terminal, on the thread that called ``Daemon/run(_:)``.
        public var onTerminalSignal: @Sendable (Int32) -> Void

        public init(
            input: Input = .microphone,
            recording: String? = nil,
            environment: [String: String],
            output: LineWriter,
            logOutput: LineWriter,
            onTerminalSignal: @escaping @Sendable (Int32) -> Void = { _ in }
        ) {
            self.input = input
            self.onTerminalSignal = onTerminalSignal
            self.recording = recording
            self.environment = environment
            self.output = output
            self.logOutput = logOutput
        }
    }

    /// Where the audio comes from.
    public enum Input: Equatable, Sendable {
        /// The one that the configuration names.
        case microphone
        /// A file that is played as if it came from a microphone.
        case file(String)
        /// A descriptor that another program writes audio to: WAV, or without a header in this format.
        case stream(Int32, RawFormat?)

        /// The name of a file or a stream; nil for the microphone.
        public var name: String? {
            switch self {
            case .microphone: nil
            case .file(let path): path
            case .stream: "standard input"
            }
        }
    }

    /// Nil if a file or a stream is played instead.
    public let microphone: Microphone?
    private let source: any AudioSource
    private let setup: Setup
    private let loader: SettingsLoader
    private let log: ServiceLog
    private let history = AudioHistory()
    private let settings: Mutex<ServiceSettings>
    private let changes: ChangeQueue
    private let actions: ActionRunner
    private let clips: ClipSaver
    private let misses: MissRing
    private let control: ControlServer?
    private let integrations = Integrations(Integrations.besideDetector)
    private let dispatcher: EventDispatcher
    private let detector: DetectorThread
    private let notifier: SystemdNotifier
    private let isEnding = Atomic<Bool>(false)
    private let stuck = Atomic<Bool>(false)
    /// Whether the log has said that the control socket cannot be made again.
    private let socketProblem = Atomic<Bool>(false)
    /// The setting that the control socket was made by.
    private let configuredSocket: Configuration.Socket

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
        let output = setup.output
        actions = try ActionRunner(configuration, environment: setup.environment, log: log) { output.write($0) }
        clips = ClipSaver(configuration.clips, history: history, log: log)
        misses = MissRing(configuration.misses, history: history, log: log)
        control = try Self.controlPath(configuration, setup).map { path throws(ControlError) in
            try ControlServer(path: path)
        }
        var all: [any EventSink] = [actions] + sinks
        if let control { all.append(control) }
        all.append(integrations)
        dispatcher = try EventDispatcher(
            configuration,
            labels: settings.vocabulary.labels,
            device: setup.input.name ?? configuration.device,
            history: history,
            sinks: all + [clips, misses]
        )
        detector = try DetectorThread(
            source: source,
            settings: settings.detector(generation: dispatcher.generation),
            queue: dispatcher.queue,
            history: history
        )
        if let problem = integrations.apply(settings, service).first {
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

    /// What is heard now, as the terminal and the live page show it. Any thread.
    public var live: LiveState {
        let settings = currentSettings
        let capture = microphone?.status
        var live = LiveState()
        live.source = setup.input.name ?? capture?.device ?? ""
        live.problem = capture.flatMap(\.trouble) ?? (isInputSilent ? "no audio comes" : nil)
        live.isMuted = capture.map { $0.state == .muted }
        live.rate = capture?.format?.rate
        (live.position, live.length) = (progress?.seconds, progress?.length)
        live.session = dispatcher.session
        let isHeard = capture.map { $0.state == .running || $0.state == .recovering } ?? true
        let block = isHeard ? newestBlock : (level: 0, peak: 0)
        (live.level, live.peak) = (decibels(amplitude: block.level), decibels(amplitude: block.peak))
        let scores = isHeard ? detectorStatus.scores : []
        let bound = Set(settings.sessions.flatMap(\.words))
        let modelWords = settings.vocabulary.modelWords.count
        live.classes = zip(settings.vocabulary.labels, settings.thresholds.values).enumerated().map { index, label in
            let isSpecial = Labels.isSpecial(label.0)
            return LiveState.Class(
                name: label.0,
                kind: isSpecial ? .special : index < modelWords ? .word : .taught,
                score: scores.indices.contains(index) ? scores[index] : 0,
                threshold: isSpecial ? nil : label.1,
                isInSession: bound.contains(index)
            )
        }
        return live
    }

    /// The root mean square and the largest sample of the newest block that the detector got; full scale is 1. Any thread.
    private var newestBlock: (level: Float, peak: Float) {
        let count = history.count
        let samples = history.samples(max(0, count - AudioFormat.hopSamples)..<count)
        guard !samples.isEmpty else { return (0, 0) }
        let energy = samples.reduce(0) { $0 + $1 * $1 } / Float(samples.count)
        return (energy.squareRoot(), samples.reduce(0) { max($0, $1.magnitude) })
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

    // MARK: - Changes, on the thread of the queue of changes

    /// Changes the settings in force. All changes go through this method, one after the other. Each writes one line to
    /// the log, and systemd sees the service as reloading until it is done.
    ///
    /// - Throws: what is wrong with the new settings; nothing has changed then.
    private func apply(_ change: SettingsChange) throws -> ChangeQueue.Outcome {
        switch change {
        case .configuration:
            return try apply("the configuration was read again") {
                restoreSocket()
                return try apply(try loader.load())
            }
        case .words:
            return try apply("your own words were read again") {
                try apply(try loader.load(leavingOutUnknownWords: true))
            }
        case .thresholds(let change):
            return try apply("thresholds were set: \(printable(change.text))") {
                ChangeQueue.Outcome(note: try set(change))
            }
        case .mute(let isMuted):
            try mute(isMuted)
            return ChangeQueue.Outcome()
        }
    }

    private func apply(
        _ what: String,
        _ change: () throws -> ChangeQueue.Outcome
    ) throws -> ChangeQueue.Outcome {
        try notifier.reloading {
            do {
                let outcome = try change()
                let effect = outcome.hasRebuilt ? "" : "; nothing has changed"
                log.write(.notice, what + effect + (outcome.note.map { "; \($0)" } ?? ""))
                return outcome
            } catch {
                log.write(.error, "\(error); the configuration in force stays as it was")
                throw error
            }
        }
    }

    private func apply(_ loaded: ServiceSettings) throws -> ChangeQueue.Outcome {
        let old = settings.withLock { $0 }
        var new = loaded
        var notes = new.keepChoices(of: old)
        if let note = try checkDevice(new.configuration, besides: old.configuration) { notes.append(note) }
        if new.configuration.socket != configuredSocket {
            notes.append("socket: the one in use stays until the service is started again")
        }
        func outcome(hasRebuilt: Bool) -> ChangeQueue.Outcome {
            let problems = integrations.apply(new, service, haveChanged: hasRebuilt)
            for problem in problems { log.write(.error, problem) }
            let lines = notes + problems
            return ChangeQueue.Outcome(
                note: lines.isEmpty ? nil : lines.joined(separator: "; "),
                hasRebuilt: hasRebuilt
            )
        }
        // Nothing is rebuilt for nothing: each rebuilding may cost the detector a hop.
        guard new.configuration != old.configuration || new.vocabulary !== old.vocabulary else {
            return outcome(hasRebuilt: false)
        }
        // First, because it is the only other step that can fail.
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
        misses.apply(new.configuration.misses)
        detector.apply(new.detector(generation: generation))
        microphone?.apply(InputSelection(new.configuration))
        return outcome(hasRebuilt: true)
    }

    /// Checks that another device can be opened before the one in use is given up for it.
    ///
    /// - Returns: a note if it cannot, but no device is in use either, so that nothing is lost.
    /// - Throws: why it cannot be opened.
    private func checkDevice(_ new: Configuration, besides old: Configuration) throws(CaptureError) -> String? {
        guard let microphone, new.device != old.device else { return nil }
        do throws(CaptureError) {
            try DeviceList.check(InputSelection(new))
            return nil
        } catch {
            let isInUse = [.running, .recovering].contains(microphone.status.state)
            guard isInUse else { return "the new device is waited for: \(error)" }
            throw error
        }
    }

    private func set(_ change: ThresholdChange) throws(SpottingError) -> String? {
        var new = settings.withLock { $0 }
        let others = try new.set(change)
        settings.withLock { $0 = new }
        detector.apply(new.detector(generation: dispatcher.generation))
        _ = integrations.apply(new, service)
        return others.isEmpty ? nil : "these keep a choice of their own: \(printable(others.joined(separator: ", ")))"
    }

    /// Notices changed files, once a second.
    private func lookAtFiles(_ words: borrowing Mutex<FileWatch>) {
        if words.withLock({ $0.hasChanged(at: Clock.now) }) { changes.submit(.words) }
        restoreSocket()
    }

    /// Makes the control socket again if somebody deleted its file.
    private func restoreSocket() {
        do throws(ControlError) {
            if try control?.restore() == true {
                log.write(.warning, "the control socket was deleted; it was made again")
            }
        } catch {
            // Its folder is gone, or not writable: said once.
            if !socketProblem.exchange(true, ordering: .relaxed) { log.write(.warning, error.description) }
            return
        }
        socketProblem.store(false, ordering: .relaxed)
    }

    // MARK: - On any thread

    /// Closes or opens the microphone; never waits for the device.
    private func mute(_ isMuted: Bool) throws(DaemonError) {
        guard let microphone else {
            throw DaemonError(
                "cannot mute: the audio comes from \(setup.input.name ?? "elsewhere"), not from a microphone"
            )
        }
        // The main thread logs the change when the microphone reports it.
        if isMuted { microphone.mute() } else { microphone.unmute() }
    }

    // MARK: - Commands, on the threads of clients

    private func perform(
        _ command: ControlCommand,
        _ later: @escaping @Sendable (ControlReply) -> Void
    ) -> ControlReply? {
        switch command {
        case .status, .events: return .status(status)
        case .misses: return .status(misses.json)
        case .mute: return changes.submit(.mute(true), later)
        case .unmute: return changes.submit(.mute(false), later)
        case .reload: return changes.submit(.configuration, later)
        case .set(let change): return changes.submit(.thresholds(change), later)
        }
    }

    /// The service as its integrations know it.
    private var service: Service {
        let initial = settings.withLock { $0 }
        return Service(
            machine: readableMachineName,
            log: log,
            history: history,
            settings: { [weak self] in self?.currentSettings ?? initial },
            state: { [weak self] in
                self?.state ?? ServiceState(initial, isMuted: nil, hasAudio: false, level: nil)
            },
            live: { [weak self] in self?.live ?? LiveState() },
            metrics: { [weak self] in self?.metrics ?? [] },
            problem: { [weak self] in self?.notReady },
            perform: { [weak self] command, later in
                // Not by ??, because nil is a reply too: it comes later.
                guard let self else { return .failed("the service is stopping") }
                return perform(command, later)
            }
        )
    }

    private var state: ServiceState {
        let capture = microphone?.status
        return ServiceState(
            currentSettings,
            isMuted: capture.map { $0.state == .muted },
            hasAudio: capture.map { [.running, .recovering, .muted].contains($0.state) } ?? !source.hasEnded,
            level: capture.flatMap { $0.state == .running ? decibels(amplitude: $0.level) : nil }
        )
    }

    /// Time after the newest hop in which the service counts as ready.
    private static let readyTime = Duration.seconds(5)

    /// Why no audio is scored now; nil if it is.
    private var notReady: String? {
        if let capture = microphone?.status {
            switch capture.state {
            case .running, .recovering: break
            case .waiting, .lost: return "no microphone" + (capture.problem.isEmpty ? "" : ": \(capture.problem)")
            case .muted: return "the microphone is muted"
            case .stopped: return "the service is stopping"
            }
        }
        if let newest = detectorStatus.newestHop, Clock.now - newest < Self.readyTime { return nil }
        return "no audio was scored for \(decimal(Self.readyTime.seconds, 0)) s"
    }

    private var metrics: [MetricFamily] {
        let settings = currentSettings
        var values = ServiceMetrics(settings)
        values.detector = detector.status
        values.events = dispatcher.counts
        values.capture = microphone?.status
        values.isReady = notReady == nil
        values.actions = actions.counts
        values.clips = clips.counts
        values.lostDetections = dispatcher.queue.droppedCount
        values.droppedLines = [("output", setup.output.counts.dropped), ("log", setup.logOutput.counts.dropped)]
        return values.families + integrations.metrics
    }

    private var status: JSON {
        var status: JSON = [:]
        if let microphone {
            microphone.status.describe(in: &status)
        } else {
            status.append(["state": "running", "device": .string(setup.input.name ?? "")])
        }
        let settings = settings.withLock { $0 }
        let vocabulary = settings.vocabulary
        status.append([
            "version": .string(version), "model": .string(vocabulary.model.name),
            "mode": .string(settings.configuration.gate.mode.rawValue),
        ])
        let detector = detector.status
        detector.describe(in: &status)
        if let microphone { status.append(["audio": AudioAccount(microphone.status, detector).json]) }
        let (events, actions) = (dispatcher.counts, actions.counts)
        let words = settings.wordThresholds.compactMap { word, threshold in
            threshold.map { JSON.Member(word, .number($0, places: 3)) }
        }
        status.append([
            "events": .number(events.events), "suppressed": .number(events.suppressed),
            "unnamed": .number(events.unnamed), "lostDetections": .number(dispatcher.queue.droppedCount),
            "actionsStarted": .number(actions.started), "actionsFailed": .number(actions.failed),
            "actionsTimedOut": .number(actions.timedOut), "actionsDropped": .number(actions.dropped),
            "clips": clips.counts.json,
            "droppedLines": [
                "output": .number(setup.output.counts.dropped), "log": .number(setup.logOutput.counts.dropped),
            ],
        ])
        if let counts = misses.counts { status.append(["misses": counts.json]) }
        integrations.describe(in: &status)
        if let control { status.append(["clients": control.counts.json]) }
        settings.choices.describe(in: &status)
        status.append(["thresholds": .object(words)])
        if !settings.sessions.isEmpty {
            status.append([
                "session": .optional(dispatcher.session),
                "sessions": .array(settings.sessions.map { $0.json(labels: vocabulary.labels) }),
            ])
        }
        if let newest = dispatcher.newestEvent { status.append(["newest": newest.json]) }
        return status
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
        var costs = LossReport()
        func obey(_ signal: Int32) {
            if signal == SIGUSR1 {
                try? mute(microphone?.status.state != .muted)
            } else {
                setup.onTerminalSignal(signal)
            }
        }
        return MainLoop(notifier: notifier, changes: changes).run(signals, onSignal: obey) {
            if let stream = source as? PipeSource {
                for message in stream.messages(at: Clock.now) { log.write(message.level, message.text) }
            }
            if let microphone {
                for message in gaps.messages(of: microphone, at: Clock.now) { log.write(message.level, message.text) }
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
        actions.close()
        haveEnded.append(dispatcher.stop(until: soon(200)))
        haveEnded.append(control?.stop(until: soon(200)) ?? true)
        haveEnded.append(integrations.stop(until: soon(400)))
        haveEnded.append(actions.stop(within: max(0.1, (end - Clock.now).seconds)))
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
