public import Configuration
public import Core
public import Events
import Glibc
public import IntegrationInterface
public import Metrics
public import Network
import Synchronization
public import System

/// A wake-word server that speaks Wyoming, the voice protocol of Home Assistant: audio in, detected words out.
///
/// Each connection is a stream of its own. One thread accepts connections and gives each to the worker that has the fewest; a worker
/// serves its clients alone. It listens where it is told to, and asks for no password: the protocol has none.
public final class WyomingServer: Sendable {
    public struct Settings: Sendable {
        public var listen: [ListenAddress]
        /// Most connections at a time; a further one takes the place of one that has said nothing, or of one of a peer that has more
        /// (see ``Places``), or gets an error and is closed.
        public var connections = 500
        /// Most connections beyond these that wait for a place; others wait in the system's queue, where all are alike.
        public var waiting = Self.mostWaiting
        public static let mostWaiting = 1024
        /// Threads that serve clients.
        public var threads = 1
        /// Whether to announce it by mDNS, where other machines can connect; see ``Announcement``.
        public var announces = false
        /// How much lower than other threads' their priority is, 0–19.
        public var priority = 0
        /// What is kept of clients' words; nil keeps nothing.
        public var recent: Configuration.Wyoming.Recent?
        /// What clients are called by hand, by what they are told by; see ``ClientNames``.
        public var names: [String: String] = [:]
        var limits = ConnectionLimits()

        public init(listen: [ListenAddress]) { self.listen = listen }
    }

    /// What has happened so far.
    public struct Counts: Counted, Equatable {
        /// Those that are open now.
        public var connections = 0
        public var accepted = 0
        /// Connections that their clients ended.
        public var closed = 0
        /// Connections refused because there were too many.
        public var refused = 0
        /// Connections closed because nothing came, or not all of an event.
        public var silent = 0
        /// Connections of clients that flooded, or of a peer with many, that another one got.
        public var replaced = 0
        /// Connections closed because the client did not read.
        public var slow = 0
        /// Connections closed because the client broke the protocol.
        public var violations = 0
        public var hops = 0
        public var detections = 0
        /// Proposed words that confirming networks looked at, and those of them after which no word was found.
        public var looks = 0
        public var refusedLooks = 0
        /// Processor time of the workers.
        public var busy = Duration.zero

        /// Connections closed for what the client did or did not do.
        public var dropped: Int { refused + silent + replaced + slow + violations }

        /// How many were closed for what, in words; empty if none was.
        public var droppedText: String {
            [
                (refused, "beyond the limit"), (silent, "silent"),
                (replaced, "gave their place to another"), (slow, "did not read"), (violations, "broke the protocol"),
            ].filter { $0.0 > 0 }.map { "\($0) \($1)" }.joined(separator: ", ")
        }

        public static let counters: [Counter<Counts>] = [
            Counter("connections", \.connections)
                .gauge("beckon_wyoming_connections", "Clients of the wake-word server."),
            Counter("accepted", \.accepted)
                .counter("beckon_wyoming_accepted_connections", "Connections that were accepted."),
            Counter("closed", \.closed),
            Counter("refused", \.refused).metric(dropped, .init("reason", "limit")),
            Counter("silent", \.silent).metric(dropped, .init("reason", "silent")),
            Counter("replaced", \.replaced).metric(dropped, .init("reason", "replaced")),
            Counter("slow", \.slow).metric(dropped, .init("reason", "slow")),
            Counter("protocolViolations", \.violations).metric(dropped, .init("reason", "protocol")),
            Counter("hops", \.hops)
                .counter("beckon_wyoming_hops", "Hops of 100 ms of clients' audio that were scored."),
            Counter("detections", \.detections)
                .counter("beckon_wyoming_detections", "Words found for clients."),
            Counter("looks", \.looks)
                .counter("beckon_wyoming_looks", "Proposed words of clients that confirming networks looked at."),
            Counter("refusedLooks", \.refusedLooks)
                .counter("beckon_wyoming_refused_looks", "Those of these looks after which no word was found."),
            Counter("processorSeconds", \.busy)
                .counter(
                    "beckon_wyoming_cpu_seconds",
                    "Processor time of the threads that serve clients.",
                    unit: "seconds"
                ),
        ]

        private static let dropped = MetricFamily.counters(
            "beckon_wyoming_dropped_connections",
            "Connections that the server refused or ended."
        )
    }

    /// Where it listens, with the ports that the system chose.
    public let addresses: [ListenAddress]
    private let listener: Listener
    private let settings: Settings
    private let log: ServiceLog
    private let thread: InboxThread<Void>
    private let workers: [WakeWorker]
    private let words: ClientWords?
    private let wakeClients: WakeClients?
    /// When the accepting thread last looked, on ``Clock``.
    private let lastLook = Atomic<Int64>(Clock.now.nanoseconds)
    /// When the accepting thread last found a place, on ``Clock``.
    private let lastRoom = Atomic<Int64>(Clock.now.nanoseconds)
    private let announcement = Mutex<Announcement?>(nil)

    /// Time between two lines of the log about clients that were dropped.
    private static let reportInterval = Duration.seconds(60)

    /// Begins to listen.
    ///
    /// - Throws: ``SocketError``, for instance if another program listens at an address.
    ///
    /// - Parameter heard: takes the words and phrases of clients, with what these are called; nil: clients are told alone.
    public init(
        _ words: AnnouncedWords,
        _ settings: Settings,
        log: ServiceLog,
        heard: (@Sendable (DetectionEvent) -> Void)? = nil
    ) throws(SocketError) {
        self.settings = settings
        self.log = log
        listener = try Listener(settings.listen)
        addresses = listener.addresses
        thread = try InboxThread((), or: SocketError.noEventFD)
        let notices = WakeNotices(log, heard: heard ?? { _ in })
        let clientWords = settings.recent.flatMap { $0.keep > 0 ? ClientWords($0) : nil }
        self.words = clientWords
        let names = settings.recent?.names ?? [:]
        let clients = heard == nil && clientWords == nil ? nil : WakeClients(names, given: settings.names)
        wakeClients = clients
        let server = WakeLoop.Server(
            limits: settings.limits,
            places: WakePlaces(all: settings.connections),
            clientWords: clientWords,
            clients: clients,
            onNotice: notices.note
        )
        workers = try (0..<max(1, settings.threads)).map { _ throws(SocketError) in
            try WakeWorker(words, server, priority: settings.priority)
        }
        do throws(SocketError) {
            try thread.start(name: "beckon-wyoming", stackSize: 256 << 10, or: SocketError.noThread) { [self] in
                run()
                listener.removeFiles()
                listener.close()
            }
        } catch {
            for worker in workers { worker.beginStop() }
            throw error
        }
        let list = addresses.map(\.description).joined(separator: ", ")
        let isOpen = listener.isOpen
        log.write(
            isOpen ? .notice : .info,
            "Wyoming clients can connect to \(printable(list)), for \(counted(words.names.count, "word"))"
                + (isOpen ? "; other machines can, too, as the protocol has no password" : "")
        )
        if settings.announces, let port = addresses.first(where: { !$0.isLocal })?.port {
            announcement.withLock {
                $0 = Announcement(
                    .init("beckon on \(machineName() ?? "")", type: "_wyoming._tcp", port: port),
                    log: log
                )
            }
        }
    }

    /// Time for which all places may be taken before that is told: a crowd that comes or goes at once is no reason to send clients elsewhere.
    private static let longestFull = Duration.seconds(1)
    /// Time without a sign of life after which a thread counts as stuck; the accepting one looks once a second.
    private static let stuckTime = Duration.seconds(5)

    /// Why a new client would not be served; nil if it would. Any thread.
    public var problem: String? {
        if Clock.now - lastProgress > Self.stuckTime {
            return "its threads have not turned to their clients for \(decimal(Self.stuckTime.seconds, 0)) s"
        }
        let lastRoom = Instant(nanoseconds: lastRoom.load(ordering: .relaxed))
        guard isTaken, Clock.now - lastRoom > Self.longestFull else { return nil }
        return settings.connections == 1
            ? "the only connection is taken" : "all \(settings.connections) connections are taken"
    }

    /// Whether all places are taken by clients that keep them: those that have said nothing, or flood, give way to a new one.
    private var isTaken: Bool {
        let yielding = workers.reduce(0) { $0 + $1.yielding.load(ordering: .relaxed) }
        return connections - yielding >= settings.connections
    }

    /// Until when all threads have turned to their clients, on ``Clock``. Any thread.
    public var lastProgress: Instant {
        let longest = workers.map(\.turnTime).max() ?? .zero
        return min(Instant(nanoseconds: lastLook.load(ordering: .relaxed)), Clock.now - longest)
    }

    /// Connections that are open now. Any thread.
    public var connections: Int { workers.reduce(0) { $0 + $1.load.load(ordering: .relaxed) } }

    /// The counts so far. Any thread.
    public var counts: Counts {
        var counts = Counts()
        for worker in workers { counts.add(worker.counts) }
        counts.connections = connections
        return counts
    }

    /// The recent words of clients, the oldest first; nil if none are kept. Any thread.
    public var clientWords: [ClientWord]? { words?.list }

    /// The clients that have sent audio; nil where nobody is told of them. Any thread.
    public var clients: [StreamClient]? { wakeClients?.list }

    /// What is heard of a client, whose sound is kept from now on; nil if there is none of this number. Any thread.
    ///
    /// - Parameter time: how long at least.
    public func watch(_ client: Int, for time: Duration) -> (client: StreamClient, sound: StreamClient.Sound)? {
        wakeClients?.sweep()
        return wakeClients?[client].map { ($0.described, $0.watch(for: time)) }
    }

    /// Gives a client another name, and keeps it; an empty one takes that back. Thread of changes.
    ///
    /// - Returns: false if there is no client of this number.
    /// - Throws: why it is not kept.
    public func rename(_ client: Int, to name: String, in folder: String?) throws(SystemError) -> Bool {
        guard let names = wakeClients?.rename(client, to: name) else { return false }
        if let folder { try ClientNames.write(names, to: folder) }
        return true
    }

    /// Detects and announces other words from now on; connections stay. Any thread.
    public func update(_ words: AnnouncedWords) {
        for worker in workers { worker.update(words) }
    }

    /// Stops to listen and closes all connections.
    ///
    /// - Parameter time: when to give up, on ``Clock``; nil: never.
    /// - Returns: whether all threads have ended.
    @discardableResult
    public func stop(until time: Instant? = nil) -> Bool {
        thread.beginStop()
        announcement.withLock { $0 }?.end()
        for worker in workers { worker.beginStop() }
        var haveEnded = thread.stop(until: time)
        for worker in workers { haveEnded = worker.stop(until: time) && haveEnded }
        return haveEnded
    }

    // MARK: - On the accepting thread

    private func run() {
        var (reported, nextReport) = (0, Clock.now)
        while !thread.isStopped {
            let now = Clock.now
            lastLook.store(now.nanoseconds, ordering: .relaxed)
            if !isTaken { lastRoom.store(now.nanoseconds, ordering: .relaxed) }
            // Workers decide who makes room. While many wait for that, the others wait in the system's queue.
            let isBehind = connections >= settings.connections + settings.waiting
            var answers = [Poll.request(thread.descriptor, POLLIN)]
            if !isBehind { answers += listener.requests(at: now) }
            // Once a second also without a connection, because connections end.
            let next = now + (isBehind ? .milliseconds(10) : isTaken ? .milliseconds(100) : .seconds(1))
            Poll.wait(&answers, until: min(listener.deadline(at: now) ?? next, next))
            thread.drain()
            listener.accept(answers.dropFirst()) { accept($0) }
            let counts = counts
            if counts.dropped > reported, Clock.now >= nextReport {
                log.write(.warning, "Wyoming clients were dropped: \(counts.droppedText)")
                (reported, nextReport) = (counts.dropped, Clock.now + Self.reportInterval)
            }
        }
    }

    /// Gives a connection to the worker that has the fewest; where there are too many, to the one that has the most, which may end another.
    private func accept(_ connection: consuming Connection) {
        let isFull = connections >= settings.connections
        let worker =
            isFull
            ? workers.max { $0.load.load(ordering: .relaxed) < $1.load.load(ordering: .relaxed) }
            : workers.min { $0.load.load(ordering: .relaxed) < $1.load.load(ordering: .relaxed) }
        worker?.add(connection)
    }

    /// To a client that gets no place.
    static let refusal = WyomingAnswer.error(
        "too many clients are connected already; try again later",
        code: "too-many-connections"
    )
}

/// The server as an integration: it detects the service's words in its clients' audio.
extension WyomingServer: Integration {
    public static let key = "wyoming"

    /// Files that the rest of the service may open at a time: devices, sockets, programs, clips, the web's connections.
    private static let otherFiles = 192
    /// Connections that wait for a place where the limit on open files is low.
    private static let fewestWaiting = 32

    /// The keys that concern the server; those of the satellite are as they are by default.
    public static func configured(in configuration: Configuration) -> Configuration.Wyoming? {
        var wyoming = configuration.wyoming
        (wyoming.satellite, wyoming.satelliteWords) = ([], nil)
        return wyoming.listen.isEmpty ? nil : wyoming
    }

    public convenience init(_ configured: Configuration.Wyoming, _ service: any Service) throws {
        guard let words = service.currentSettings.streamDetector.map(AnnouncedWords.init) else {
            throw SocketError("no words to detect for its clients")
        }
        var settings = Settings(listen: configured.listen)
        settings.connections = configured.connections
        let places = configured.connections + Self.otherFiles
        if let limit = FileLimit.raise(to: places + Settings.mostWaiting) {
            settings.waiting = max(Self.fewestWaiting, limit - places)
            if limit < places {
                settings.connections = max(1, limit - Self.otherFiles)
                service.log.write(
                    .warning,
                    "the limit on open files is \(limit), so there can be at most \(counted(settings.connections, "connection")), not "
                        + "\(configured.connections); see LimitNOFILE="
                )
            }
        }
        settings.announces = configured.announce
        settings.recent = configured.recent
        settings.names = ClientNames.read(in: StateFolder.path(of: service.instance))
        // Only the live page shows them.
        let hasPage = service.history != nil || !service.currentSettings.configuration.web.listen.isEmpty
        if !hasPage { settings.recent?.keep = 0 }
        if hasPage, configured.recent.keep > 0 {
            let kept = configured.recent.keep == 1 ? "word" : "\(configured.recent.keep) words"
            service.log.write(
                .notice,
                "in memory for those who have the live page's token: the last \(kept) of each Wyoming client"
            )
        }
        settings.threads = service.share.threads
        settings.priority = service.share.niceness
        try self.init(words, settings, log: service.log) { service.heard($0) }
    }

    public func update(_ settings: ServiceSettings) {
        if let detector = settings.streamDetector { update(AnnouncedWords(detector)) }
    }
}
