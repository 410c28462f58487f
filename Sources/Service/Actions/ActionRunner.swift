public import Configuration
public import Core
public import Events
import Glibc
private import JSON
import Network
public import Playback
import Spotting
import Synchronization
public import System

/// Runs the configured actions of each detected word or phrase, and of each state of the voice assistant.
///
/// Programs and webhooks run on a few threads with a bounded queue. Sounds, lines for standard output, the journal and the
/// sockets are handed over on the dispatcher's thread, because none of these waits.
public final class ActionRunner: EventSink {
    /// Counts of actions since the start, all kinds together.
    public struct Counts: Equatable, Sendable {
        /// Started or queued.
        public var started = 0
        /// Ended with an error; each is also logged, at a limited rate.
        public var failed = 0
        /// Those of them that took longer than their timeout. They may have done their work before they were ended.
        public var timedOut = 0
        /// Dropped because the queue, or that of standard output, a socket or the speaker, was full, or because the service stopped, or
        /// has no speaker.
        public var dropped = 0
    }

    private struct State {
        var configuration: Configuration
        var sockets: [String: LineServer] = [:]
        var warnings = RateLimit(interval: 60)
        var counts = Counts()
        /// From now on no program and no request is started.
        var isClosing = false
        var isStopped = false
    }

    private let state: Mutex<State>
    private let programs: WorkQueue
    private let stopEvent: EventFD
    private let journal: Journal
    private let environment: [String]
    private let printLine: @Sendable (String) -> Bool
    private let log: ServiceLog
    private let leavesOutSocketsInUse: Bool
    private let speaker: Speaker?

    /// Creates the sockets of `unix` actions.
    ///
    /// - Parameters:
    ///   - environment: environment variables that programs get, in addition to the event's.
    ///   - leavesOutSocketsInUse: whether a socket of a `unix` action that another service has is left out, not refused.
    ///   - speaker: plays the sounds of `play` actions.
    ///   - printLine: takes a line of a `print` action, with its line end; must not wait. False: it was dropped.
    ///   - log: receives failures, each kind at most once a minute.
    /// - Throws: ``ActionError/socket``.
    public init(
        _ configuration: Configuration,
        environment: [String: String],
        journal: Journal = Journal(),
        leavesOutSocketsInUse: Bool = false,
        speaker: Speaker? = nil,
        log: ServiceLog,
        printLine: @escaping @Sendable (String) -> Bool = { _ in false }
    ) throws(ActionError) {
        stopEvent = try EventFD { error -> ActionError in
            .program.saying("\(error); the limit on open files may be too low")
        }
        self.journal = journal
        self.printLine = printLine
        self.log = log
        self.environment = Self.inherited(environment)
        self.leavesOutSocketsInUse = leavesOutSocketsInUse
        self.speaker = speaker
        state = Mutex(State(configuration: configuration))
        programs = WorkQueue(
            name: "beckon-action",
            threads: configuration.limits.atOnce,
            capacity: configuration.limits.queue
        )
        try update(configuration)
    }

    /// Loads libcurl before the first webhook needs it, and says early if it is not there.
    private func prepare(_ configuration: Configuration) {
        guard configuration.hasWebhooks else { return }
        _ = programs.submit { [self] in
            if !HTTPRequest.prepare() { warn("libcurl", "webhooks cannot be sent: \(HTTPRequest.noLibrary)") }
        }
    }

    /// The counts so far. Any thread.
    public var counts: Counts { state.withLock { $0.counts } }

    /// Applies another configuration: words, phrases, actions, limits. Waiting and running actions are not affected.
    ///
    /// - Throws: ``ActionError/socket``; nothing has changed then.
    public func update(_ configuration: Configuration) throws(ActionError) {
        let kept = state.withLock { $0.sockets }
        let sockets = try open(configuration.actionSockets, keeping: kept)
        state.withLock { ($0.configuration, $0.sockets) = (configuration, sockets) }
        programs.setLimits(threads: configuration.limits.atOnce, capacity: configuration.limits.queue)
        for (path, server) in kept where sockets[path] == nil { server.stop(until: Clock.now + .milliseconds(200)) }
        prepare(configuration)
    }

    /// Starts no more programs and requests; standard output, the journal and the sockets still get events.
    public func close() { state.withLock { $0.isClosing = true } }

    /// Waits for the programs and requests of the events so far, such as those of the last word of a file.
    ///
    /// - Parameter time: when to give up, on the monotonic clock.
    public func finish(until time: Instant) { programs.drain(until: time) }

    /// Ends running programs and closes the sockets. Later calls do nothing.
    ///
    /// - Parameter end: when to give up, on the monotonic clock; a program that ignores SIGTERM takes half a second.
    /// - Returns: whether everything has ended.
    @discardableResult
    public func stop(until end: Instant = Clock.now + .seconds(1)) -> Bool {
        let sockets = state.withLock { state -> [LineServer]? in
            guard !state.isStopped else { return nil }
            state.isClosing = true
            state.isStopped = true
            return Array(state.sockets.values)
        }
        guard let sockets else { return true }
        let waiting = programs.close()
        if waiting > 0 {
            count { $0.dropped += waiting }
            log.write(.warning, "\(waiting) actions that waited were not started, as the service is stopping")
        }
        stopEvent.signal()
        var haveEnded = programs.drain(until: end)
        for server in sockets where !server.stop(until: max(end, Clock.now + .milliseconds(100))) { haveEnded = false }
        return haveEnded
    }

    /// Without systemd's variables, so that no program can notify systemd in the service's name.
    private static func inherited(_ environment: [String: String]) -> [String] {
        let withheld: Set<String> = [
            "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
            "JOURNAL_STREAM",
        ]
        return environment.filter { key, _ in
            key == Instance.variable || !withheld.contains(key) && !key.hasPrefix("BECKON_")
        }
        .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    }

    private func open(
        _ paths: Set<String>,
        keeping kept: [String: LineServer]
    ) throws(ActionError) -> [String: LineServer] {
        var settings = LineServer.Settings()
        settings.listensAtOnce = true
        let snapshot: @Sendable (String?) -> String = { last in
            (["event": "snapshot", "last": last.map(JSON.encoded) ?? .null] as JSON).description
        }
        var servers: [String: LineServer] = [:]
        for path in paths.sorted() {
            do throws(SocketError) {
                if let server = kept[path] {
                    servers[path] = server
                } else {
                    servers[path] = try LineServer(path: path, settings: settings, snapshot: snapshot) { _, _ in
                        .listen
                    }
                }
            } catch {
                if leavesOutSocketsInUse, error.isInUse { continue }
                for (path, server) in servers where kept[path] == nil { server.stop() }
                throw .socket.saying(error.description)
            }
        }
        return servers
    }

    // MARK: - On the dispatcher's thread

    /// Starts the actions of an event; never blocks. Called on the dispatcher's thread.
    public func receive(_ event: DetectionEvent) {
        for action in state.withLock({ $0.configuration.actions(for: event) }) { start(action, event) }
    }

    /// Starts the actions of a state of the voice assistant; never blocks. Any thread.
    public func receive(_ change: AssistantChange) {
        for action in state.withLock({ $0.configuration.esphome.actions[change.state] ?? [] }) { start(action, change) }
    }

    private func start(_ action: Action, _ event: any ActionCause) {
        let (server, limit, isClosing) = state.withLock { state -> (LineServer?, Double, Bool) in
            let timeout = state.configuration.limits.timeout
            guard case .unix(let path) = action.effect else { return (nil, timeout, state.isClosing) }
            return (state.sockets[path], timeout, state.isClosing)
        }
        let timeout = action.timeout ?? limit
        switch action.effect {
        case .run(let arguments, let directory):
            guard !isClosing else { return drop(action) }
            submit(action) { [self] in run(action, arguments, directory, timeout: timeout, event) }
        case .webhook(let address, let caFile, let followsRedirects):
            guard !isClosing else { return drop(action) }
            let webhook = Webhook(
                address: address,
                timeout: timeout,
                caFile: caFile,
                followsRedirects: followsRedirects
            )
            submit(action) { [self] in
                attempt(action) { () throws(ActionError) in try webhook.post("\(event.json)", stop: stopEvent) }
            }
        case .print(let template):
            if printLine(event.line(template) + "\n") {
                count { $0.started += 1 }
            } else {
                count { $0.dropped += 1 }
            }
        case .journal(let level):
            let (message, fields) = event.entry
            count { $0.started += 1 }
            attempt(action) { () throws(ActionError) in
                try journal.write(message, level: level, fields: fields)
            }
        case .play(let path):
            // What fails later is reported by the speaker.
            switch speaker?.play(path) ?? .none {
            case .queued: count { $0.started += 1 }
            case .full: drop(action, "queue", "as other sounds wait already")
            case .none: drop(action, "speaker", "as there is no speaker; name its device with the key speaker")
            }
        case .unix:
            let isTaken = server?.publish("\(event.json)") ?? false
            count { if isTaken { $0.started += 1 } else { $0.dropped += 1 } }
        }
    }

    private func drop(_ action: Action) { drop(action, "stop", "as the service is stopping") }

    private func drop(_ action: Action, _ kind: String, _ reason: String) {
        count { $0.dropped += 1 }
        warn(kind, "\(action.name): not started, \(reason)")
    }

    private func submit(_ action: Action, _ job: @escaping @Sendable () -> Void) {
        if programs.submit(job) {
            count { $0.started += 1 }
        } else {
            count { $0.dropped += 1 }
            warn("queue", "\(action.name): dropped, as too many actions wait already; see limits in the configuration")
        }
    }

    // MARK: - On the threads of the queues

    private func run(
        _ action: Action,
        _ arguments: [String],
        _ directory: String,
        timeout: Double,
        _ event: any ActionCause
    ) {
        let program = Program(
            arguments: arguments,
            directory: directory,
            environment: environment + event.fields.map { "\($0.name)=\($0.value)" },
            input: Array(event.json.line.utf8),
            timeout: timeout
        )
        attempt(action) { () throws(ActionError) in
            try program.run(stop: stopEvent) { end in
                if !end.isSuccess { fail(action, end.description, isLate: end.isLate) }
            }
        }
    }

    private func attempt(_ action: Action, _ work: () throws(ActionError) -> some Any) {
        do throws(ActionError) {
            _ = try work()
        } catch {
            fail(action, error.description, isLate: error == .timedOut)
        }
    }

    private func fail(_ action: Action, _ reason: String, isLate: Bool) {
        count {
            $0.failed += 1
            $0.timedOut += isLate ? 1 : 0
        }
        warn(action.name, "\(action.name): \(reason)")
    }

    private func count(_ change: (inout Counts) -> Void) { state.withLock { change(&$0.counts) } }

    private func warn(_ kind: String, _ text: String) {
        guard let suppressed = state.withLock({ $0.warnings.admit(kind, now: Clock.now) }) else { return }
        let more = suppressed > 0 ? " (\(suppressed) similar warnings were suppressed)" : ""
        log.write(.warning, text + more)
    }
}

extension Configuration {
    /// The actions of an event; none for `phrasePartial` and `nearMiss`.
    func actions(for event: DetectionEvent) -> [Action] {
        let session = sessions.first { $0.wake == event.name }
        return switch event.kind {
        case .word: words[event.name]?.actions ?? actions
        // If two phrases have the same text, the first one counts.
        case .phrase: phrases.first { $0.name == event.name }?.actions ?? actions
        case .phrasePartial, .nearMiss: []
        case .sessionStart: session?.onStart ?? []
        case .sessionEnd, .sessionTimeout: session?.onEnd ?? []
        }
    }

    private var effects: [Action.Effect] {
        let own = words.values.map(\.actions) + phrases.map(\.actions) + sessions.map { $0.onStart + $0.onEnd }
        let all = [actions] + own.compactMap(\.self) + esphome.actions.values
        return all.joined().map(\.effect)
    }

    /// Paths of the sockets of `unix` actions, without duplicates.
    fileprivate var actionSockets: Set<String> {
        Set(effects.compactMap { if case .unix(let path) = $0 { path } else { nil } })
    }

    fileprivate var hasWebhooks: Bool { effects.contains { if case .webhook = $0 { true } else { false } } }
}

/// Admits one warning of each kind per interval, and counts the suppressed ones.
struct RateLimit: Sendable {
    /// The shortest time between two warnings of one kind, in seconds.
    let interval: Double
    private var last: [String: (time: Instant, suppressed: Int)] = [:]

    init(interval: Double) { self.interval = interval }

    /// How many warnings of this kind were suppressed since the last admitted one; nil if this one is suppressed too.
    ///
    /// - Parameter now: the time on the monotonic clock.
    mutating func admit(_ kind: String, now: Instant) -> Int? {
        guard let before = last[kind], now - before.time < .seconds(interval) else {
            let suppressed = last[kind]?.suppressed ?? 0
            last[kind] = (now, 0)
            return suppressed
        }
        last[kind]?.suppressed += 1
        return nil
    }
}
