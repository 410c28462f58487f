public import Core
public import Events
import Glibc
import Synchronization
public import System

/// A wake-word server that speaks Wyoming, the voice protocol of Home Assistant: audio in, detected words out.
///
/// Each connection is a stream of its own. One thread accepts connections and gives each to the worker that has the fewest; a worker
/// serves its clients alone. It listens where it is told to, and asks for no password: the protocol has none.
public final class WyomingServer: Sendable {
    public struct Settings: Sendable {
        public var listen: [ListenAddress]
        /// Most connections at a time; a further one gets an error and is closed.
        public var connections = 500
        /// Threads that serve clients.
        public var threads = 1
        /// Whether to announce it by mDNS, where other machines can connect; see ``Announcement``.
        public var announces = false
        /// How much lower than other threads' their priority is, 0–19.
        public var priority = 0
        var limits = ConnectionLimits()

        public init(listen: [ListenAddress]) { self.listen = listen }
    }

    /// What has happened so far.
    public struct Counts: Equatable, Sendable {
        public var accepted = 0
        /// Connections that their clients ended.
        public var closed = 0
        /// Connections refused because there were too many.
        public var refused = 0
        /// Connections closed because nothing came, or not all of an event.
        public var silent = 0
        /// Connections closed because the client did not read.
        public var slow = 0
        /// Connections closed because the client broke the protocol.
        public var violations = 0
        public var hops = 0
        public var detections = 0
        /// Processor time of the workers.
        public var busy = Duration.zero

        /// Connections closed for what the client did or did not do.
        public var dropped: Int { refused + silent + slow + violations }

        /// How many were closed for what, in words; empty if none was.
        public var droppedText: String {
            [
                (refused, "beyond the limit"), (silent, "silent"), (slow, "did not read"),
                (violations, "broke the protocol"),
            ].filter { $0.0 > 0 }.map { "\($0) \($1)" }.joined(separator: ", ")
        }

        /// As members of the service's status.
        public func json(connections: Int) -> JSON {
            [
                "connections": .number(connections), "accepted": .number(accepted), "closed": .number(closed),
                "refused": .number(refused), "silent": .number(silent), "slow": .number(slow),
                "protocolViolations": .number(violations), "hops": .number(hops),
                "detections": .number(detections), "processorSeconds": .number(busy.seconds, places: 3),
            ]
        }

        mutating func add(_ other: Counts) {
            accepted += other.accepted
            closed += other.closed
            refused += other.refused
            silent += other.silent
            slow += other.slow
            violations += other.violations
            hops += other.hops
            detections += other.detections
            busy += other.busy
        }
    }

    /// Where it listens, with the ports that the system chose.
    public let addresses: [ListenAddress]
    private let settings: Settings
    private let log: ServiceLog
    private let wakeUp: EventFD
    private let workers: [WakeWorker]
    private let refused = Atomic<Int>(0)
    /// When the accepting thread last looked, on ``Clock``.
    private let lastLook = Atomic<Int64>(Clock.now.nanoseconds)
    private let isStopped = Atomic<Bool>(false)
    private let finished = Latch()
    private let announcement = Mutex<Announcement?>(nil)

    /// Time between two lines of the log about clients that were dropped.
    private static let reportInterval = Duration.seconds(60)

    /// Begins to listen.
    ///
    /// - Throws: ``SocketError``, for instance if another program listens at an address.
    public init(_ words: WakeWords, _ settings: Settings, log: ServiceLog) throws(SocketError) {
        self.settings = settings
        self.log = log
        var sockets: [ListeningSocket] = []
        for address in settings.listen { sockets.append(try ListeningSocket(address)) }
        addresses = sockets.map(\.address)
        wakeUp = try EventFD(or: SocketError.noEventFD)
        let total = Total()
        let unknown = UnknownNames(log)
        var workers: [WakeWorker] = []
        for _ in 0..<max(1, settings.threads) {
            workers.append(
                try WakeWorker(
                    words,
                    settings.limits,
                    priority: settings.priority,
                    isFull: { total.value.load(ordering: .relaxed) >= settings.connections * 3 / 4 },
                    onUnknown: unknown.note
                )
            )
        }
        self.workers = workers
        let listeners = Listeners(sockets)
        do throws(SocketError) {
            _ = try SystemThread(name: "beckon-wyoming", stackSize: 256 << 10, or: SocketError.noThread) { [self] in
                run(listeners.take(), total)
                finished.open()
            }
        } catch {
            for worker in workers { worker.stop() }
            throw error
        }
        let places = addresses.map(\.description).joined(separator: ", ")
        let isOpen = addresses.contains { !$0.isLocal }
        log.write(
            isOpen ? .notice : .info,
            "Wyoming clients can connect to \(printable(places)), for \(words.names.count) words"
                + (isOpen ? "; other machines can, too, as the protocol has no password" : "")
        )
        if settings.announces, let port = addresses.first(where: { !$0.isLocal })?.port {
            announcement.withLock { $0 = Announcement("beckon on \(machineName() ?? "")", port: port, log: log) }
        }
    }

    /// Time without a sign of life after which a thread counts as stuck; the accepting one looks once a second.
    private static let stuckTime = Duration.seconds(5)

    /// Why a new client would not be served; nil if it would. Any thread.
    public var problem: String? {
        let look = Instant(nanoseconds: lastLook.load(ordering: .relaxed))
        let isStuck = Clock.now - look > Self.stuckTime || workers.contains { $0.turnTime > Self.stuckTime }
        if isStuck { return "its threads have not turned to their clients for \(decimal(Self.stuckTime.seconds, 0)) s" }
        return connections < settings.connections ? nil : "all \(settings.connections) connections are taken"
    }

    /// Connections that are open now. Any thread.
    public var connections: Int { workers.reduce(0) { $0 + $1.load.load(ordering: .relaxed) } }

    /// The counts so far. Any thread.
    public var counts: Counts {
        var counts = Counts()
        for worker in workers { counts.add(worker.counts) }
        counts.refused += refused.load(ordering: .relaxed)
        return counts
    }

    /// Detects and announces other words from now on; connections stay. Any thread.
    public func apply(_ words: WakeWords) {
        for worker in workers { worker.apply(words) }
    }

    /// Stops to listen and closes all connections.
    ///
    /// - Parameter time: when to give up, on ``Clock``; nil: never.
    /// - Returns: whether all threads have ended.
    @discardableResult
    public func stop(until time: Instant? = nil) -> Bool {
        isStopped.store(true, ordering: .relaxed)
        wakeUp.signal()
        announcement.withLock { $0 }?.end()
        for worker in workers { worker.stop() }
        var haveEnded = finished.wait(until: time)
        for worker in workers { haveEnded = worker.wait(until: time) && haveEnded }
        return haveEnded
    }

    // MARK: - On the accepting thread

    /// All connections, as the accepting thread last counted them.
    private final class Total: Sendable {
        let value = Atomic<Int>(0)
    }

    /// The sockets on their way to the thread, which closes them at its end: who waits for the end may listen there again.
    private final class Listeners: Sendable {
        private let sockets: Mutex<[ListeningSocket]>

        init(_ sockets: [ListeningSocket]) { self.sockets = Mutex(sockets) }

        func take() -> [ListeningSocket] {
            sockets.withLock { sockets in
                defer { sockets = [] }
                return sockets
            }
        }
    }

    private func run(_ sockets: consuming [ListeningSocket], _ total: Total) {
        /// When connections are accepted again, after the system had no more descriptors.
        var pause = Instant(nanoseconds: 0)
        var (reported, nextReport) = (0, Clock.now)
        while !isStopped.load(ordering: .relaxed) {
            let now = Clock.now
            lastLook.store(now.nanoseconds, ordering: .relaxed)
            let isPaused = now < pause
            var requests = [Poll.request(wakeUp.descriptor, POLLIN)]
            requests += sockets.map { Poll.request(isPaused ? -1 : $0.descriptor.rawValue, POLLIN) }
            // Once a second also without a connection, because connections end.
            Poll.wait(&requests, until: isPaused ? pause : now + .seconds(1))
            if requests[0].revents != 0 { wakeUp.drain() }
            for (socket, request) in zip(sockets, requests.dropFirst()) where request.revents != 0 {
                if !accept(socket) { pause = Clock.now + .milliseconds(100) }
            }
            total.value.store(connections, ordering: .relaxed)
            let counts = counts
            if counts.dropped > reported, Clock.now >= nextReport {
                log.write(.warning, "Wyoming clients were dropped: \(counts.droppedText)")
                (reported, nextReport) = (counts.dropped, Clock.now + Self.reportInterval)
            }
        }
        for socket in sockets { socket.removeFile() }
    }

    /// Accepts the connections that wait; false if the system has no more descriptors.
    private func accept(_ socket: ListeningSocket) -> Bool {
        while true {
            switch socket.accept() {
            case .none: return true
            case .exhausted: return false
            case .connection(let descriptor):
                let worker = workers.min { left, right in
                    left.load.load(ordering: .relaxed) < right.load.load(ordering: .relaxed)
                }
                guard let worker, connections < settings.connections else {
                    refuse(descriptor)
                    continue
                }
                worker.add(descriptor)
            }
        }
    }

    private func refuse(_ descriptor: consuming FileDescriptor) {
        refused.add(1, ordering: .relaxed)
        let text = "\(settings.connections) clients are connected already; try again later"
        let bytes = WyomingAnswer.error(text, code: "too-many-connections")
        _ = send(descriptor.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
}

/// Says once of each list of names that none of them is known.
private final class UnknownNames: Sendable {
    /// Beyond these nothing is said, so that clients cannot fill the log.
    private static let most = 32

    private let log: ServiceLog
    private let said = Mutex<Set<[String]>>([])

    init(_ log: ServiceLog) { self.log = log }

    func note(_ names: [String]) {
        // A client may send thousands.
        let names = Array(names.prefix(8)).map { String($0.prefix(64)) }
        let isNew = said.withLock { $0.count < Self.most && $0.insert(names).inserted }
        guard isNew else { return }
        log.write(
            .notice,
            "a Wyoming client asks for \(printable(names.joined(separator: ", "))), which is not known; it gets all words"
        )
    }
}
