private import Foundation
import Glibc
import Spotting
import Synchronization
private import Wording

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
        public let priority: JournalPriority
        public let text: String
    }

    private struct State {
        var plan: ActionPlan
        /// For what was heard just before the plan changed.
        var previous: ActionPlan?
        var sockets: [String: LineServer] = [:]
        var device: String
        var timeout: Double
        var cooldown = Cooldown()
        var complaints = RateLimit(interval: 60)
        var counts = Counts()
        var isStopped = false
    }

    /// Where the detector's thread puts what it heard.
    public let inbox: EventInbox

    private let state: Mutex<State>
    private let programs: WorkQueue
    private let printing = WorkQueue(name: "beckon-print", threads: 1, capacity: 64)
    private let stopBell: Bell
    private let journal: Journal
    private let environment: [String]
    private let output: Int32
    private let heard: @Sendable (ServiceEvent) -> Void
    private let report: @Sendable (Report) -> Void
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
    /// - Throws: ``ServiceError/socket``.
    public init(
        _ configuration: Configuration,
        labels: [String],
        device: String,
        environment: [String: String],
        output: Int32 = 1,
        journal: Journal = Journal(),
        heard: @escaping @Sendable (ServiceEvent) -> Void = { _ in },
        report: @escaping @Sendable (Report) -> Void
    ) throws(ServiceError) {
        inbox = try EventInbox()
        stopBell = try Bell()
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
        let thread = Thread { [self] in dispatch() }
        thread.name = "beckon-dispatch"
        thread.stackSize = 512 << 10
        thread.start()
    }

    public var counts: Counts { state.withLock { $0.counts } }

    /// The generation that events of the newest configuration carry.
    public var generation: UInt32 { state.withLock { $0.plan.generation } }

    /// What events call the capture device from now on.
    public func setDevice(_ name: String) { state.withLock { $0.device = name } }

    /// Changes to another configuration: words, phrases, actions, limits. What waits or runs already goes on.
    ///
    /// - Returns: the generation that events of a detector under this configuration carry.
    /// - Throws: ``ServiceError/socket``; all is then as it was.
    @discardableResult
    public func apply(_ configuration: Configuration, labels: [String]) throws(ServiceError) -> UInt32 {
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
        stopBell.ring()
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
    ) throws(ServiceError) -> [String: LineServer] {
        var settings = LineServer.Settings()
        settings.listensAtOnce = true
        let snapshot: @Sendable (String?) -> String = { "{\"event\": \"snapshot\", \"last\": \($0 ?? "null")}" }
        var servers: [String: LineServer] = [:]
        for path in paths.sorted() {
            do throws(ServiceError) {
                if let server = kept[path] {
                    servers[path] = server
                } else {
                    servers[path] = try LineServer(path: path, settings: settings, snapshot: snapshot) { _ in .listen }
                }
            } catch {
                for (path, server) in servers where kept[path] == nil { server.stop() }
                throw error
            }
        }
        return servers
    }

    // MARK: - On the dispatching thread

    private func dispatch() {
        while true {
            while let event = inbox.take() { act(on: event) }
            if state.withLock({ $0.isStopped }) { break }
            inbox.wait()
        }
        finished.signal()
    }

    private func act(on heardEvent: HeardEvent) {
        let detection = heardEvent.detection
        let age = Double(Clock.monotonic - heardEvent.decided) / 1e9
        let found = state.withLock { state -> (event: ServiceEvent, actions: [Action])? in
            let plan = heardEvent.generation == state.plan.generation ? state.plan : state.previous
            guard let plan, plan.generation == heardEvent.generation, let subject = plan.subject(of: detection) else {
                return nil
            }
            state.counts.events += 1
            guard
                state.cooldown.admits(
                    subject.name,
                    kind: detection.kind,
                    cooldown: subject.cooldown,
                    time: detection.time
                )
            else {
                state.counts.suppressed += 1
                return nil
            }
            let event = ServiceEvent(
                sequence: heardEvent.sequence,
                kind: detection.kind,
                name: subject.name,
                confidence: detection.confidence,
                start: detection.start,
                end: detection.end,
                time: detection.time,
                date: Timestamp.now.adding(seconds: -age),
                device: state.device
            )
            return (event, subject.actions)
        }
        guard let found else { return }
        for action in found.actions { hand(action, found.event) }
        heard(found.event)
    }

    private func hand(_ action: Action, _ event: ServiceEvent) {
        let (server, limit, isStopped) = state.withLock { state -> (LineServer?, Double, Bool) in
            guard case .unix(let path) = action.effect else { return (nil, state.timeout, state.isStopped) }
            return (state.sockets[path], state.timeout, state.isStopped)
        }
        let timeout = action.timeout ?? limit
        switch action.effect {
        case .run(let arguments, let directory):
            guard !isStopped else { return }
            submit(action, to: programs) { [self] in run(action, arguments, directory, timeout: timeout, event) }
        case .webhook(let address):
            guard !isStopped else { return }
            submit(action, to: programs) { [self] in
                attempt(action) { () throws(ServiceError) in
                    try Webhook(address: address, timeout: timeout).post(event.json, stop: stopBell)
                }
            }
        case .print(let template):
            submit(action, to: printing) { [self] in
                attempt(action) { () throws(ServiceError) in try write(template.filled(with: event) + "\n") }
            }
        case .journal(let priority):
            let message = "heard \(event.name) (\(event.kind.key), \(percent(event.confidence)))"
            count { $0.started += 1 }
            attempt(action) { () throws(ServiceError) in
                try journal.write(message, priority: priority, fields: event.fields)
            }
        case .unix:
            count { $0.started += 1 }
            server?.publish(event.json)
        }
    }

    private func submit(_ action: Action, to queue: WorkQueue, _ job: @escaping @Sendable () -> Void) {
        if queue.submit(job) {
            count { $0.started += 1 }
        } else {
            count { $0.dropped += 1 }
            complain(
                "queue",
                "\(action.name): dropped, as too many actions wait already; see limits in the configuration"
            )
        }
    }

    // MARK: - On the threads of the queues

    private func run(
        _ action: Action,
        _ arguments: [String],
        _ directory: String,
        timeout: Double,
        _ event: ServiceEvent
    ) {
        let program = Program(
            arguments: arguments,
            directory: directory,
            environment: environment + event.fields.map { "\($0.name)=\($0.value)" },
            input: Array((event.json + "\n").utf8),
            timeout: timeout
        )
        attempt(action) { () throws(ServiceError) in
            try program.run(stop: stopBell) { end in
                if !end.isSuccess { fail(action, end.description) }
            }
        }
    }

    private func attempt(_ action: Action, _ work: () throws(ServiceError) -> some Any) {
        do throws(ServiceError) {
            _ = try work()
        } catch {
            fail(action, error.description)
        }
    }

    private func fail(_ action: Action, _ reason: String) {
        count { $0.failed += 1 }
        complain(action.name, "\(action.name): \(reason)")
    }

    private func count(_ change: (inout Counts) -> Void) { state.withLock { change(&$0.counts) } }

    private func complain(_ kind: String, _ text: String) {
        guard let swallowed = state.withLock({ $0.complaints.admit(kind, now: Clock.monotonic) }) else { return }
        let more = swallowed > 0 ? " (and \(swallowed) more of the kind before)" : ""
        report(Report(priority: .warning, text: text + more))
    }

    private func write(_ line: String) throws(ServiceError) {
        var rest = Array(line.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw .program.saying("cannot write to standard output: \(ServiceError.text(ofErrno: errno))")
            }
            rest = rest.dropFirst(count)
        }
    }
}
