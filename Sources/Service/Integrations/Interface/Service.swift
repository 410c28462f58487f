public import Audio
public import Configuration
public import Control
public import Events
public import Metrics

/// The running service, as integrations know it.
///
/// All members may be used on any thread, and none waits: not for a device, a disk or the detector.
public struct Service: Sendable {
    /// How much of the machine an integration may take for work that grows with its clients.
    public struct Share: Equatable, Sendable {
        public var threads: Int
        /// How much lower than other threads' the priority of these threads is, 0–19.
        public var niceness: Int

        /// - Parameters: by default those beside a detector, which goes first.
        public init(threads: Int = 1, niceness: Int = 10) {
            self.threads = threads
            self.niceness = niceness
        }
    }

    /// The name of the machine, readable.
    public var machine: String
    public var log: ServiceLog
    public var share: Share
    /// The detector's audio; nil where no detector listens.
    public var history: AudioHistory?
    /// The settings in force: configuration, vocabulary, thresholds.
    public var settings: @Sendable () -> ServiceSettings
    /// The state now.
    public var state: @Sendable () -> ServiceState
    /// What is heard now; empty where no detector listens.
    public var live: @Sendable () -> LiveState
    /// The metrics of the service and of all integrations.
    public var metrics: @Sendable () -> [MetricFamily]
    /// Why the service detects no words now; nil if it does.
    public var problem: @Sendable () -> String?
    /// Carries out a command, as a client of the control socket gives it. Changes of settings end in `Daemon.apply`, one after the
    /// other; what was changed shows in ``state`` and ``settings``.
    public var perform: ControlPerformer

    public init(
        machine: String,
        log: ServiceLog,
        share: Share = Share(),
        history: AudioHistory? = nil,
        settings: @escaping @Sendable () -> ServiceSettings,
        state: @escaping @Sendable () -> ServiceState,
        live: @escaping @Sendable () -> LiveState = { LiveState() },
        metrics: @escaping @Sendable () -> [MetricFamily] = { [] },
        problem: @escaping @Sendable () -> String? = { nil },
        perform: @escaping ControlPerformer
    ) {
        self.machine = machine
        self.log = log
        self.share = share
        self.history = history
        self.settings = settings
        self.state = state
        self.live = live
        self.metrics = metrics
        self.problem = problem
        self.perform = perform
    }

    /// Carries out a command whose reply nobody waits for.
    public func submit(_ command: ControlCommand) { _ = perform(command) { _ in } }
}
