public import Configuration
import Control
import Core
import Enrollment
public import Events
import Inference
import IntegrationInterface
import JSON
private import Metrics
private import Spotting
import Synchronization
public import System
import Wyoming

/// The wake-word server alone, without a microphone: `beckon serve`.
///
/// The caller of ``run(_:)`` handles signals and tells systemd; a thread of its own reads changed settings and taught words; the
/// server's threads do the rest.
public final class WakeService: Sendable {
    private let integrations = Integrations(Integrations.alone)
    private let loader: SettingsLoader
    private let log: ServiceLog
    private let settings: Mutex<ServiceSettings>
    private let changes: ChangeQueue
    private let notifier: SystemdNotifier
    private let threads: Int

    /// The time to end everything in, so that the process ends within 2 s.
    private static let stopTime = Duration.milliseconds(1300)

    /// Begins to listen where the settings say.
    ///
    /// - Parameters:
    ///   - loader: reads the settings again when they have changed.
    ///   - threads: that serve clients.
    ///   - environment: the program's environment variables.
    /// - Throws: ``DaemonError``, for instance if an address cannot be listened at.
    public init(
        _ settings: ServiceSettings,
        loader: SettingsLoader,
        threads: Int,
        environment: [String: String],
        log: ServiceLog
    ) throws {
        self.loader = loader
        self.log = log
        self.settings = Mutex(settings)
        self.threads = threads
        notifier = SystemdNotifier(environment: environment)
        log.level = settings.configuration.log
        changes = try ChangeQueue()
        if let problem = integrations.update(settings, service).first {
            _ = integrations.stop(until: Clock.now + Self.stopTime)
            throw DaemonError(problem)
        }
        let watch = Mutex(FileWatch(loader.vocabulary.words.path))
        try changes.start(
            make: { [weak self] change in try self?.apply(change) ?? ChangeQueue.Outcome() },
            look: { [weak self] in
                if watch.withLock({ $0.hasChanged(at: Clock.now) }) { self?.changes.submit(.words) }
            }
        )
    }

    /// Serves until SIGTERM or SIGINT. Returns the program's exit status.
    ///
    /// - Parameter signals: must be created, and so block the signals, before the program starts any thread.
    public func run(_ signals: Signals) -> Int32 {
        let status = MainLoop(notifier: notifier, changes: changes).run(signals) {
            guard let server = integrations.running(WyomingServer.self) else {
                return Watchdog.Health(status: "Serving no clients, as it cannot listen; see the log")
            }
            return Watchdog.Health(
                lastProgress: server.lastProgress,
                status: "Serving \(server.connections) clients; \(server.counts.detections) words heard"
            )
        }
        let counts = integrations.running(WyomingServer.self)?.counts
        let end = Clock.now + Self.stopTime
        _ = integrations.stop(until: end)
        _ = changes.stop(until: end)
        if let counts {
            log.write(
                .info,
                "\(counts.accepted) clients, \(counts.detections) words; "
                    + (counts.dropped > 0 ? "dropped: \(counts.droppedText)" : "none dropped")
            )
        }
        return status
    }

    /// The service as its integrations know it.
    private var service: Service {
        let (initial, log) = (settings.withLock { $0 }, log)
        return Service(
            machine: readableMachineName,
            log: log,
            share: Service.Share(threads: threads, niceness: 0),
            settings: { [weak self] in self?.settings.withLock { $0 } ?? initial },
            state: { [weak self] in
                let settings = self?.settings.withLock { $0 } ?? initial
                return ServiceState(settings, isMuted: nil, hasAudio: false, level: nil)
            },
            metrics: { [weak self] in self?.metrics ?? [] },
            problem: { [weak self] in self?.notReady },
            perform: { [weak self] command, later in
                // Not by ??, because nil is a reply too: it comes later.
                guard let self else { return .failed("the service is stopping") }
                return perform(command, later)
            }
        )
    }

    // MARK: - On any thread

    private func perform(
        _ command: ControlCommand,
        _ later: @escaping @Sendable (ControlReply) -> Void
    ) -> ControlReply? {
        switch command {
        case .status, .events: return .status(status)
        case .change(.configuration): return changes.submit(.configuration, later)
        case .change, .misses: return .failed("this service has no microphone, only clients")
        }
    }

    private var metrics: [MetricFamily] {
        var values = ServiceMetrics(settings.withLock { $0 })
        values.isReady = notReady == nil
        return values.families + integrations.metrics
    }

    /// Why clients are not served; nil if they are.
    private var notReady: String? {
        guard let server = integrations.running(WyomingServer.self) else { return "it cannot listen for clients" }
        return server.problem
    }

    private var status: ServiceStatus {
        let settings = settings.withLock { $0 }
        var status = ServiceStatus()
        (status.version, status.model) = (version, settings.vocabulary.model.name)
        status.parts = integrations.status
        status.choices = ServiceStatus.Choices(settings.choices)
        return status
    }

    // MARK: - On the thread of changes

    private func apply(_ change: SettingsChange) throws -> ChangeQueue.Outcome {
        try notifier.reloading {
            do {
                let isReload = change == .configuration
                let new = try loader.load(leavingOutUnknownWords: !isReload)
                let old = settings.withLock { $0 }
                let what = isReload ? "the configuration was read again" : "your own words were read again"
                let haveChanged = new.configuration != old.configuration || new.vocabulary !== old.vocabulary
                settings.withLock { $0 = new }
                log.level = new.configuration.log
                let problems = integrations.update(new, service, haveChanged: haveChanged)
                for problem in problems { log.write(.error, problem) }
                log.write(.notice, what + (haveChanged ? "" : "; nothing has changed"))
                let note = problems.isEmpty ? nil : problems.joined(separator: "; ")
                return ChangeQueue.Outcome(note: note, hasRebuilt: haveChanged)
            } catch {
                log.write(.error, "\(error); the settings in force stay as they were")
                throw error
            }
        }
    }
}
