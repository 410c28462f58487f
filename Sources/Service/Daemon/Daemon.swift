import Actions
public import Audio
import Capture
public import Configuration
public import Control
import Core
public import DeviceGroup
import ESPHome
import Enrollment
public import Events
import Glibc
public import Input
public import IntegrationInterface
import JSON
import LiveTeaching
public import Playback
import Spotting
import Synchronization
public import System

/// The whole service, from start to stop: settings and their changes, control socket, integrations, and the ``Pipeline`` of a
/// service that listens itself. One that only serves clients (`beckon serve`) has no pipeline.
///
/// Threads: the capture thread fills the ring. The detector's thread (``DetectorThread``) reads the ring and queues
/// detections. The dispatcher's thread (``EventDispatcher``) turns them into events for all sinks. The control socket's
/// thread serves clients. A thread of its own reads and applies changed settings. The caller of ``run(_:)`` handles
/// signals, the log of the source and the watchdog; it waits for none of the others, so that a signal always ends
/// the service.
public final class Daemon: Sendable {
    let setup: Setup
    let loader: SettingsLoader
    public let log: ServiceLog
    let settings: Mutex<ServiceSettings>
    let changes: ChangeQueue
    let control: ControlServer?
    /// Whether it only listens for a moment, or another service has the control socket, and with it what only one can have: sockets, ports, names at brokers,
    /// the list of misses.
    private let isBesideAnother: Bool
    let integrations: Integrations
    /// Nil in a service that only serves clients.
    let pipeline: Pipeline?
    /// Teaches words with the service's audio, or that of clients.
    let desk: TeachingDesk
    let notifier: SystemdNotifier
    private let parts = PartGroup()
    private let isEnding = Atomic<Bool>(false)
    private let stuck = Atomic<Bool>(false)
    /// When the newest second began in which words of clients were counted, and how many came in it.
    let heardLately = Mutex((start: Instant(nanoseconds: 0), count: 0))
    /// Whether the log has said that the control socket cannot be made again.
    let socketProblem = Atomic<Bool>(false)
    /// The setting that the control socket was made by.
    let configuredSocket: Configuration.Socket

    /// The time to end everything in, so that the process ends within 2 s.
    private static let stopTimeout = Duration.milliseconds(1300)

    /// Opens what the service needs; ``run(_:)`` starts it.
    ///
    /// - Parameters:
    ///   - settings: the initial settings.
    ///   - loader: reads the settings again when they have changed.
    ///   - signals: those of ``run(_:)``. They end the program at once while a file is opened, whose disk may not answer.
    ///   - sinks: further receivers of events, in addition to actions, control socket and clips.
    /// - Throws: if the source of audio or a socket cannot be opened.
    public init(
        _ settings: ServiceSettings,
        loader: SettingsLoader,
        setup: Setup,
        signals: Signals,
        log: ServiceLog,
        sinks: [any EventSink] = []
    ) throws {
        self.setup = setup
        self.loader = loader
        self.log = log
        notifier = SystemdNotifier(environment: setup.environment)
        changes = try ChangeQueue()
        self.settings = Mutex(settings)
        configuredSocket = settings.configuration.socket
        log.level = settings.configuration.log
        Self.checkFileLimit(log)
        guard case .detector(let input) = setup.role else {
            // Where another one has it, as of a second server on other ports, this one goes without.
            let folder = setup.environment["RUNTIME_DIRECTORY"] == nil ? setup.environment["XDG_RUNTIME_DIR"] : nil
            if let folder { mkdir("\(folder)/\(ControlServer.wakeServerUnit)", 0o700) }
            control = ControlServer.wakeServerPath(environment: setup.environment).flatMap {
                try? ControlServer(path: $0)
            }
            (isBesideAnother, pipeline, desk) = (false, nil, TeachingDesk(history: nil))
            integrations = Integrations(Integrations.alone)
            return
        }
        (control, isBesideAnother) = try Self.openControl(settings.configuration, setup, input, log)
        integrations = Integrations(isBesideAnother ? [] : Integrations.besideDetector)
        var sinks = sinks
        if let control { sinks.append(control) }
        do {
            pipeline = try Pipeline(
                input,
                settings,
                setup,
                isBesideAnother: isBesideAnother,
                socketFolder: control == nil ? nil : Self.socketFolder(settings.configuration, setup, input),
                signals: signals,
                sinks: sinks + [integrations],
                log: log
            )
            desk = TeachingDesk(history: pipeline?.history)
        } catch {
            control?.stop(until: Clock.now + .milliseconds(200))
            throw error
        }
    }

    /// Descriptors that a service may need at once: its own are 20 to 40, and a client takes one, a program five, a clip two.
    private static let (fewestFiles, enoughFiles) = (128, 1024)

    /// Raises the limit on open files, as far as the system allows, and says so where clients, programs and clips may find no descriptor left.
    private static func checkFileLimit(_ log: ServiceLog) {
        guard let limit = FileLimit.raise(to: enoughFiles), limit < fewestFiles else { return }
        log.write(
            .warning,
            "at most \(limit) files may be open, too few for many clients, programs and clips at once; \(FileLimit.remedy)"
        )
    }

    /// Hops of 100 ms that the detector has processed. Any thread.
    public var hops: UInt64 { pipeline?.detector.status.hops ?? 0 }
    /// The settings in force. Any thread.
    public var currentSettings: ServiceSettings { settings.withLock { $0 } }
    /// Whether the event came that ends listening; without such an event, any word or phrase. Any thread.
    public var hasFound: Bool {
        guard let dispatcher = pipeline?.dispatcher else { return false }
        return setup.limit.first == nil ? dispatcher.newestEvent != nil : dispatcher.isOver
    }
    /// How far a file or a stream was played; nil for a microphone. Any thread.
    public var progress: AudioProgress? { pipeline?.source.progress }

    /// Opens the control socket, if there shall be one. Where another service has it, or a user's folder gives no place for the one that
    /// nobody asked for, this one does without it, and says so.
    private static func openControl(
        _ configuration: Configuration,
        _ setup: Setup,
        _ input: AudioInput,
        _ log: ServiceLog
    ) throws(ControlError) -> (server: ControlServer?, isBesideAnother: Bool) {
        guard !setup.limit.isSet else { return (nil, true) }
        guard let path = controlPath(configuration, setup, input) else { return (nil, false) }
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
    private static func controlPath(_ configuration: Configuration, _ setup: Setup, _ input: AudioInput) -> String? {
        if case .auto = configuration.socket, setup.environment["RUNTIME_DIRECTORY"] == nil {
            guard input == .microphone, let folder = setup.environment["XDG_RUNTIME_DIR"] else { return nil }
            mkdir("\(folder)/\(Instance.named(in: setup.environment).unit)", 0o700)
        }
        return ControlServer.path(for: configuration.socket, environment: setup.environment)
    }

    /// The folder of the control socket, if it has the name of the service's unit: beside it are those of other services.
    private static func socketFolder(_ configuration: Configuration, _ setup: Setup, _ input: AudioInput) -> String? {
        guard let path = controlPath(configuration, setup, input) else { return nil }
        let folder = String(splitPath(path).folder.dropLast())
        return splitPath(folder).name == Instance.named(in: setup.environment).unit ? folder : nil
    }

    // MARK: - On the main thread

    /// Runs until SIGTERM, SIGINT, ``end()``, or the end of the played file, when all its words are dispatched.
    ///
    /// - Parameter signals: must be created, and so block the signals, before the program starts any thread.
    /// - Returns: the program's exit status.
    /// - Throws: if a part cannot be started, the file cannot be read or the recording cannot be written.
    public func run(_ signals: Signals) throws -> Int32 {
        addParts()
        try parts.start(timeout: Self.stopTimeout)
        let choices = currentSettings.choices
        if pipeline != nil, choices.all != ThresholdChoices().all { log.write(.info, choices.text) }
        let status = loop(signals)
        let report = pipeline == nil ? clientReport : nil
        if !parts.stop(timeout: Self.stopTimeout) { stuck.store(true, ordering: .relaxed) }
        if let report { log.write(.info, report) }
        if let problem = pipeline?.recording?.problem { throw problem }
        if let problem = pipeline?.source.problem { throw problem }
        return status
    }

    /// Whether ``run(_:)`` left a thread behind that waits for a device or a disk, so that only `_exit` is safe.
    public var isStuck: Bool { stuck.load(ordering: .relaxed) }

    /// The order of the parts. The control socket is the last that stops: while it is there, no other service uses what only one
    /// can have.
    private func addParts() {
        if let control {
            parts.add(timeout: .milliseconds(200)) { [self] in
                control.start { [weak self] command, later in
                    guard let self else { return .failed("the service is stopping") }
                    // Whoever may mute the microphone may not record with it.
                    if case .change(.teaching) = command {
                        return .failed("words are taught on the live page, with its token, or by beckon enroll")
                    }
                    return perform(command, later)
                }
            } stop: { end in
                control.stop(until: max(end, Clock.now + .milliseconds(100)))
            }
        }
        pipeline?.addSinks(to: parts, currentSettings)
        parts.add(timeout: pipeline == nil ? Self.stopTimeout : .milliseconds(400)) { [self] in
            if let problem = integrations.update(currentSettings, self).first { throw DaemonError(problem) }
        } stop: { [integrations] in
            integrations.stop(until: $0)
        }
        parts.add(timeout: .milliseconds(200)) { [desk] end in desk.stop(until: end) }
        let words = Mutex(wordsFile)
        parts.add(timeout: .milliseconds(200)) { [self] in
            try changes.start(
                make: { [weak self] change in try self?.apply(change) ?? ChangeQueue.Outcome() },
                look: { [weak self] in self?.lookAtFiles(words) }
            )
        } stop: { [changes] in
            changes.stop(until: $0)
        }
        pipeline?.addSources(to: parts, currentSettings)
    }

    /// Handles signals and reports to systemd. It waits for nothing but signals, so that one always ends the service.
    private func loop(_ signals: Signals) -> Int32 {
        var watchdog = Watchdog(notifier)
        var health = pipeline.map { AudioHealth($0) }
        var costs = LossReport()
        var reference = ReferenceReport()
        let begun = Clock.now
        while true {
            let isAtEnd = pipeline?.source.hasEnded == true
            switch signals.next(within: .milliseconds(isAtEnd ? 5 : setup.limit.isSet ? 20 : 250)) {
            case let signal? where signal == SIGTERM || signal == SIGINT:
                notifier.notifyStopping()
                return signal == SIGTERM ? 0 : 130
            case SIGHUP: changes.submit(.configuration)
            case SIGUSR1 where pipeline != nil: try? pipeline?.mute(pipeline?.microphone?.status.state != .muted)
            case let signal?: setup.onTerminalSignal(signal)
            case nil: break
            }
            if let pipeline {
                for message in pipeline.source.messages(at: Clock.now) { log.write(message.level, message.text) }
                for message in costs.messages(pipeline.source.lost, at: Clock.now) { log.write(.warning, message) }
                let event = reference.event(of: pipeline.microphone?.referenceStatus, at: .now)
                if let event { control?.publish("\(event)") }
                let isStopping = pipeline.recording?.problem != nil || isEnding.load(ordering: .relaxed)
                if isStopping || isAtEnd && pipeline.finish() || isOver(pipeline, since: begun) { return 0 }
            }
            watchdog.report(health?.look() ?? clientHealth)
        }
    }

    /// Whether the limit of a service that listens for a moment is reached.
    private func isOver(_ pipeline: Pipeline, since begun: Instant) -> Bool {
        guard setup.limit.isSet else { return false }
        return pipeline.dispatcher.isOver
            || setup.limit.isOver(
                elapsed: (Clock.now - begun).seconds,
                played: pipeline.source.progress?.seconds,
                isFile: setup.isFile
            )
    }

    /// Makes ``run(_:)`` return 0 within 250 ms. Any thread.
    public func end() { isEnding.store(true, ordering: .relaxed) }
}

/// The service as its clients know it: the control socket's commands, and what integrations get. Any thread.
extension Daemon: Service {
    public var machine: String { readableMachineName }
    public var instance: Instance? { Instance.named(in: setup.environment) }
    public var history: AudioHistory? { pipeline?.history }
    public var group: GroupSink? { pipeline?.group }
    public var speaker: Speaker? { pipeline?.speaker }
    public var satelliteKey: SatelliteKey? { integrations.running(ESPHomeSatellite.self)?.satelliteKey }
    public var teaching: TeachingState? {
        let settings = currentSettings
        var state = desk.state
        state.taught = settings.vocabulary.taught.map(\.name)
        let configured = Set(settings.configuration.typedNames.map(\.name))
        state.typed = settings.vocabulary.typed.map(\.name).filter {
            !configured.contains($0) && !state.taught.contains($0)
        }
        return state
    }

    public func take(_ number: Int) -> [Float]? { desk.take(number) }

    public func tell(_ change: AssistantChange) {
        control?.publish("\(change.json)")
        pipeline?.actions.receive(change)
    }

    public var share: MachineShare {
        if case .server(let threads) = setup.role {
            MachineShare(threads: threads, niceness: 0)
        } else {
            MachineShare()
        }
    }

    public func perform(
        _ command: ControlCommand,
        _ later: @escaping @Sendable (ControlReply) -> Void
    ) -> ControlReply? {
        switch (command, pipeline) {
        case (.status, _), (.events, _): .status(status)
        case (.change(.configuration), _): changes.submit(.configuration, later)
        case (.change(.mute), nil): .failed("this service has no microphone, only clients")
        case (.talk(let step), _): integrations.talk(step, later)
        case (.misses, let pipeline): .words(pipeline?.misses.list ?? RecentWordList([], folder: nil, margin: 0))
        case (.change(let change), _): changes.submit(change, later)
        }
    }
}
