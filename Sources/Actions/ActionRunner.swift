public import Configuration
public import Core
private import Dispatch
public import Events
import Glibc
import Spotting
import Synchronization
import System

/// Carries out what the configuration asks for when a word was heard, away from the detector's thread.
///
/// The detector's thread offers events to ``inbox``. A dispatching thread names them, looks at cool-downs and hands each
/// action to whom it belongs: programs and webhooks to a few threads with a bounded queue, lines on standard output to a
/// thread of their own, the journal and sockets at once, as these never wait.
public final class ActionRunner: Sendable {
    public struct Counts: Equatable, Sendable {
        public var events = 0
        /// Within their cool-down.
        public var suppressed = 0
        public var started = 0
        public var failed = 0
        /// Found no room in the queue.
        public var dropped = 0
    }

    /// Something to tell whoever runs the service.
    public struct Report: Equatable, Sendable {
        public let priority: LogLevel
        public let text: String

        public init(priority: LogLevel, text: String) {
            self.priority = priority
            self.text = text
        }
    }

    struct State {
        var plan: ActionPlan
        /// For what was heard just before the plan changed.
        var previous: ActionPlan?
        var sockets: [String: LineServer] = [:]
        var device: String
        var timeout: Double
        var cooldown = Cooldown()
        var warnings = RateLimit(interval: 60)
        var counts = Counts()
        var isStopped = false
    }

    /// Where the detector's thread puts what it heard.
    public let inbox: EventInbox

    let state: Mutex<State>
    let programs: WorkQueue
    let printing = WorkQueue(name: "beckon-print", threads: 1, capacity: 64)
    let stopEvent: EventFD
    let journal: Journal
    let environment: [String]
    let output: Int32
    let heard: @Sendable (DetectionEvent) -> Void
    let report: @Sendable (Report) -> Void
    private let finished = DispatchSemaphore(value: 0)

    /// Makes the sockets that actions stream to, and begins to wait for events.
    ///
    /// - Parameters:
    ///   - labels: the model's, in its order.
    ///   - device: what events call the capture device.
    ///   - environment: what programs get beside the event.
    ///   - output: where `print` writes.
    ///   - heard: called on the dispatching thread for each event that is not within its cool-down, and for the beginnings
    ///     of phrases, after its actions were handed on.
    ///   - report: called from any thread for failures, each kind at most once a minute.
    /// - Throws: ``ActionError/socket``.
    public init(
        _ configuration: Configuration,
        labels: [String],
        device: String,
        environment: [String: String],
        output: Int32 = 1,
        journal: Journal = Journal(),
        heard: @escaping @Sendable (DetectionEvent) -> Void = { _ in },
        report: @escaping @Sendable (Report) -> Void
    ) throws(ActionError) {
        inbox = try EventInbox()
        stopEvent = try EventFD(or: ActionError.noEventFD)
        self.journal = journal
        self.output = output
        self.heard = heard
        self.report = report
        self.environment = Self.inherited(environment)
        let plan = ActionPlan(configuration, labels: labels, generation: 1)
        let sockets = try Self.open(plan.sockets, keeping: [:])
        state = Mutex(State(plan: plan, sockets: sockets, device: device, timeout: configuration.limits.timeout))
        programs = WorkQueue(
            name: "beckon-action",
            threads: configuration.limits.atOnce,
            capacity: configuration.limits.queue
        )
        _ = try SystemThread(name: "beckon-dispatch", stackSize: 512 << 10, or: ActionError.noThread) { [self] in
            dispatch()
            finished.signal()
        }
    }

    public var counts: Counts { state.withLock { $0.counts } }

    /// The generation that events of the newest configuration carry.
    public var generation: UInt32 { state.withLock { $0.plan.generation } }

    /// What events call the capture device from now on.
    public func setDevice(_ name: String) { state.withLock { $0.device = name } }

    /// Changes to another configuration: words, phrases, actions, limits. What waits or runs already goes on.
    ///
    /// - Returns: the generation that events of a detector under this configuration carry.
    /// - Throws: ``ActionError/socket``; all is then as it was.
    @discardableResult
    public func apply(_ configuration: Configuration, labels: [String]) throws(ActionError) -> UInt32 {
        let (current, kept) = state.withLock { ($0.plan, $0.sockets) }
        let plan = ActionPlan(configuration, labels: labels, generation: current.generation + 1)
        let sockets = try Self.open(plan.sockets, keeping: kept)
        state.withLock { state in
            state.previous = state.plan
            state.plan = plan
            state.sockets = sockets
            state.timeout = configuration.limits.timeout
        }
        programs.setLimits(threads: configuration.limits.atOnce, capacity: configuration.limits.queue)
        for (path, server) in kept where sockets[path] == nil { server.stop() }
        return plan.generation
    }

    /// Ends running programs and closes the sockets. Events offered before are still acted on, but programs not started.
    public func stop(within seconds: Double = 3) {
        let sockets = state.withLock { state -> [LineServer]? in
            guard !state.isStopped else { return nil }
            state.isStopped = true
            return Array(state.sockets.values)
        }
        guard let sockets else { return }
        inbox.wake()
        finished.wait()
        stopEvent.signal()
        programs.stop(within: seconds)
        printing.stop(within: min(seconds, 0.5))
        for server in sockets { server.stop() }
    }

    /// systemd's messages are for the service alone: no program may feed its watchdog.
    private static func inherited(_ environment: [String: String]) -> [String] {
        let withheld: Set<String> = [
            "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
            "JOURNAL_STREAM",
        ]
        return environment.filter { !withheld.contains($0.key) && !$0.key.hasPrefix("BECKON_") }
            .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    }

    private static func open(
        _ paths: Set<String>,
        keeping kept: [String: LineServer]
    ) throws(ActionError) -> [String: LineServer] {
        var settings = LineServer.Settings()
        settings.listensAtOnce = true
        let snapshot: @Sendable (String?) -> String = { "{\"event\": \"snapshot\", \"last\": \($0 ?? "null")}" }
        var servers: [String: LineServer] = [:]
        for path in paths.sorted() {
            do throws(SocketError) {
                if let server = kept[path] {
                    servers[path] = server
                } else {
                    servers[path] = try LineServer(path: path, settings: settings, snapshot: snapshot) { _ in .listen }
                }
            } catch {
                for (path, server) in servers where kept[path] == nil { server.stop() }
                throw .socket.saying(error.description)
            }
        }
        return servers
    }
}
