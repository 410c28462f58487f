import Configuration
import Core
import Enrollment
public import Events
import Glibc
import Inference
import Synchronization
public import System
import Wyoming

/// The wake-word server alone, without a microphone: `beckon serve`.
///
/// The caller of ``run(_:)`` handles signals and tells systemd; a thread of its own reads changed settings and taught words; the
/// server's threads do the rest.
public final class WakeService: Sendable {
    private let server: WyomingServer
    private let loader: SettingsLoader
    private let log: ServiceLog
    private let settings: Mutex<ServiceSettings>
    private let changes: ChangeQueue
    private let notifier: SystemdNotifier

    /// The time to end everything in, so that the process ends within 2 s.
    private static let stopTime = Duration.milliseconds(1300)
    /// Time between two lines of the log about clients that were dropped.
    private static let reportInterval = Duration.seconds(60)

    /// Begins to listen where the settings say.
    ///
    /// - Parameters:
    ///   - loader: reads the settings again when they have changed.
    ///   - threads: that serve clients.
    ///   - environment: the program's environment variables.
    /// - Throws: ``SocketError`` if an address cannot be listened at; ``DaemonError``.
    public init(
        _ settings: ServiceSettings,
        loader: SettingsLoader,
        threads: Int,
        environment: [String: String],
        log: ServiceLog
    ) throws {
        guard let words = settings.wakeWords else { throw DaemonError("no address to listen at; give one by --listen") }
        var options = WyomingServer.Settings(settings.configuration.wyoming, priority: 0)
        options.threads = threads
        server = try WyomingServer(words, options, log: log)
        self.loader = loader
        self.log = log
        self.settings = Mutex(settings)
        notifier = SystemdNotifier(environment: environment)
        log.level = settings.configuration.log
        changes = try ChangeQueue()
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
        notifier.tellReady()
        var status = ""
        var alive = Instant(nanoseconds: 0)
        var (reported, nextReport) = (0, Clock.now)
        while true {
            switch signals.next(within: .milliseconds(250)) {
            case SIGTERM: return stop(0)
            case SIGINT: return stop(130)
            case SIGHUP: changes.submit(.configuration)
            default: break
            }
            let counts = server.counts
            if counts.dropped > reported, Clock.now >= nextReport {
                log.write(.warning, "clients were dropped: \(Self.text(counts))")
                (reported, nextReport) = (counts.dropped, Clock.now + Self.reportInterval)
            }
            let text = "Serving \(server.connections) clients; \(counts.detections) words heard"
            if text != status {
                status = text
                notifier.tell(status: text)
            }
            if let period = notifier.watchdogPeriod, Clock.now - alive > period / 3, notifier.tellAlive() {
                alive = Clock.now
            }
        }
    }

    private func stop(_ status: Int32) -> Int32 {
        notifier.tellStopping()
        let end = Clock.now + Self.stopTime
        _ = server.stop(until: end)
        _ = changes.stop(until: end)
        let counts = server.counts
        log.write(
            .info,
            "\(counts.accepted) clients, \(counts.detections) words; "
                + (counts.dropped > 0 ? "dropped: \(Self.text(counts))" : "none dropped")
        )
        return status
    }

    private static func text(_ counts: WyomingServer.Counts) -> String {
        [
            (counts.refused, "beyond the limit"), (counts.silent, "silent"), (counts.slow, "did not read"),
            (counts.violations, "broke the protocol"),
        ].filter { $0.0 > 0 }.map { "\($0) \($1)" }.joined(separator: ", ")
    }

    // MARK: - On the thread of changes

    private func apply(_ change: SettingsChange) throws -> ChangeQueue.Outcome {
        try notifier.reloading {
            do {
                let isReload = change == .configuration
                let new = try loader.load(leavingOutUnknownWords: !isReload)
                let old = settings.withLock { $0 }
                let what = isReload ? "the configuration was read again" : "your own words were read again"
                guard new.configuration != old.configuration || new.vocabulary !== old.vocabulary else {
                    log.write(.notice, what + "; nothing has changed")
                    return ChangeQueue.Outcome(hasRebuilt: false)
                }
                settings.withLock { $0 = new }
                log.level = new.configuration.log
                if let words = new.wakeWords { server.apply(words) }
                let isElsewhere = new.configuration.wyoming != old.configuration.wyoming
                log.write(.notice, what + (isElsewhere ? "; wyoming: where it listens changes at the next start" : ""))
                return ChangeQueue.Outcome()
            } catch {
                log.write(.error, "\(error); the settings in force stay as they were")
                throw error
            }
        }
    }
}

extension WyomingServer.Settings {
    /// - Parameter priority: how much lower than other threads' that of the server's threads is.
    init(_ configuration: Configuration.Wyoming, priority: Int) {
        self.init(listen: configuration.listen)
        connections = configuration.connections
        announces = configuration.announce
        self.priority = priority
    }
}
