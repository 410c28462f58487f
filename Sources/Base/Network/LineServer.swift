public import Core
import Glibc
import System

/// A unix socket for lines of text: clients send lines and get answers, and subscribers get every published line.
///
/// One thread serves all clients and waits for none of them; it answers one line of a client before it turns to the next
/// client. A client that does not read, sends too long lines or sends nothing is disconnected and counted; the others do
/// not notice.
public final class LineServer: Sendable {
    /// The reaction to a line from a client.
    public enum Answer: Equatable, Sendable {
        case line(String)
        /// Subscribe the client: it gets the snapshot, and from now on every published line.
        case listen
        /// The answer comes by ``Reply``; until then no further line of this client is read.
        case later
    }

    /// Sends the answer to one line later; see ``Answer/later``.
    public struct Reply: Sendable {
        fileprivate let server: LineServer
        fileprivate let client: UInt64

        /// Any thread; only the first call counts.
        public func send(_ line: String) { server.answer(client, line) }
    }

    public struct Settings: Sendable {
        /// Most clients at a time. A further one takes the place of one that has sent no whole line yet; else it gets an error line
        /// and is closed.
        public var clients = 16
        /// How many of ``clients`` are reserved for clients that do not subscribe.
        public var reserved = 4
        /// Most clients of one user (SO_PEERCRED), so that none keeps the others out; nil: no limit.
        public var perUser: Int?
        /// Whether clients are subscribed as soon as they connect; what they send is then ignored.
        public var listensAtOnce = false
        /// Most unsent bytes for a client, besides those in the socket's buffer.
        public var pending = 64 << 10
        /// The longest line a client may send, in bytes.
        public var longestLine = 4096
        /// Seconds without a line (from a client that is not subscribed) or without reading; then it is closed.
        public var timeout = 10.0

        public init() {}
    }

    public struct Counts: Equatable, Sendable {
        public var accepted = 0
        /// Clients that closed the connection themselves.
        public var closed = 0
        /// Clients closed because they did not read.
        public var slow = 0
        /// Clients closed because they sent no line in time, or one that was too long.
        public var protocolViolations = 0
        /// Clients refused because there were too many, in all or of their user.
        public var refused = 0
        public var published = 0
        /// Published lines dropped because the server's thread was behind.
        public var overflowed = 0
    }

    private struct Shared {
        var waiting: [String] = []
        /// Answers that came later, by the number of the client.
        var answers: [(client: UInt64, line: String)] = []
        /// The newest published line.
        var last: String?
        var counts = Counts()
        /// Connections so far; the number of the newest.
        var connections: UInt64 = 0
    }

    /// Most published lines that wait for the server's thread.
    private static let longestWait = 1024

    public let path: String
    private let settings: Settings
    private let snapshot: @Sendable (String?) -> String
    private let answer: @Sendable (String, Reply) -> Answer
    private let listener: Listener
    private let thread: InboxThread<Shared>

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - snapshot: makes a subscriber's first line from the newest published line; called on the server's thread.
    ///   - answer: handles a line from a client; called on the server's thread, so it must not wait.
    /// - Throws: ``SocketError``.
    public init(
        path: String,
        settings: Settings = Settings(),
        snapshot: @escaping @Sendable (_ last: String?) -> String,
        answer: @escaping @Sendable (String, Reply) -> Answer
    ) throws(SocketError) {
        self.path = path
        self.settings = settings
        self.snapshot = snapshot
        self.answer = answer
        thread = try InboxThread(Shared(), or: SocketError.noEventFD)
        listener = try Listener([.unix(path: path)])
        try thread.start(name: "beckon-socket", stackSize: 512 << 10, or: SocketError.noThread) { [self] in
            serve()
            listener.close()
        }
    }

    public var counts: Counts { thread.withLock { $0.counts } }

    /// Sends a line to all subscribers, from any thread. Takes a lock for a moment; waits for no client.
    ///
    /// - Returns: false if it was dropped, because the server's thread was behind.
    @discardableResult
    public func publish(_ line: String) -> Bool {
        thread.post { shared in
            shared.last = line
            guard shared.waiting.count < Self.longestWait else {
                shared.counts.overflowed += 1
                return false
            }
            shared.waiting.append(line)
            shared.counts.published += 1
            return true
        }
    }

    /// Makes the socket's file again if it was deleted; the connections stay.
    ///
    /// - Returns: whether it was made again.
    /// - Throws: ``SocketError``, for instance if its folder was deleted too.
    public func restore() throws(SocketError) -> Bool {
        guard try listener.restore() else { return false }
        thread.wake()
        return true
    }

    /// Sends the lines published so far, closes all connections and removes the socket's file, unless another service
    /// has replaced it.
    ///
    /// - Parameter time: when to give up, on ``Clock``; nil: never.
    /// - Returns: whether it has ended.
    @discardableResult
    public func stop(until time: Instant? = nil) -> Bool {
        let isFirst = !thread.isStopped
        let hasEnded = thread.stop(until: time)
        if isFirst { listener.removeFiles() }
        return hasEnded
    }

    private func answer(_ client: UInt64, _ line: String) {
        thread.post { $0.answers.append((client, line)) }
    }

    // MARK: - On the server's thread

    private func serve() {
        var clients: [LineClient] = []
        while true {
            let now = Clock.now
            var requests = [Poll.request(thread.descriptor, POLLIN)]
            requests += listener.requests(at: now)
            requests += clients.map(request)
            let deadlines = clients.compactMap(\.deadline) + [listener.deadline(at: now)].compactMap(\.self)
            Poll.wait(&requests, until: clients.contains(where: \.hasLine) ? now : deadlines.min())

            let ((lines, answers), isStopped) = thread.take { shared in
                defer { (shared.waiting, shared.answers) = ([], []) }
                return (shared.waiting, shared.answers)
            }
            for answer in answers {
                if let client = clients.first(where: { $0.number == answer.client }), client.isAwaiting {
                    client.answer(answer.line)
                }
            }
            for (client, request) in zip(clients, requests.dropFirst(1 + listener.count)) {
                if request.revents != 0, client.isReading { client.receive() }
                if Int32(request.revents) & (POLLHUP | POLLERR) != 0, client.awaitsLast { client.hangUp() }
                hear(client, listeners: clients.count(where: \.listens))
            }
            for client in clients where client.listens {
                for line in lines { client.send(line) }
            }
            for client in clients { client.flush() }
            clients.removeAll { client in
                guard let end = client.end(now: Clock.now) else { return false }
                count(end)
                return true
            }
            if isStopped { return }
            listener.accept(requests.dropFirst().prefix(listener.count)) { accept($0, &clients) }
        }
    }

    /// What to wait for. While a client waits for its last answer, only its end is of interest, which `poll` reports
    /// unasked; while it has more lines, not even that, so that they are executed.
    private func request(_ client: LineClient) -> pollfd {
        let events = (client.isReading ? POLLIN : 0) | (client.isWaiting ? POLLOUT : 0)
        let isOfInterest = events != 0 || client.awaitsLast
        return Poll.request(isOfInterest ? client.descriptor.rawValue : -1, events)
    }

    private func count(_ end: LineClient.End) {
        thread.withLock { shared in
            switch end {
            case .slow: shared.counts.slow += 1
            case .protocolViolation: shared.counts.protocolViolations += 1
            case .gone: shared.counts.closed += 1
            }
        }
    }

    private func accept(_ connection: consuming Connection, _ clients: inout [LineClient]) {
        let number = thread.withLock { shared in
            shared.connections += 1
            return shared.connections
        }
        let client = LineClient(connection, number: number, settings: settings)
        let places = Places(all: settings.clients, perPeer: settings.perUser)
        let holders = clients.map { Places.Holder($0.peer, isSilent: $0.isSilent, since: $0.start) }
        switch places.decide(client.peer, holders) {
        case .welcome: break
        case .replace(let index):
            clients.remove(at: index)
            count(.protocolViolation)
        case .full: return refuse(client, "\(settings.clients) clients are connected already; try again later")
        case .peerIsFull:
            let limit = settings.perUser ?? settings.clients
            return refuse(client, "\(limit) clients of this user are connected already; close one of them")
        }
        thread.withLock { $0.counts.accepted += 1 }
        if settings.listensAtOnce {
            client.listens = true
            client.send(snapshot(thread.withLock { $0.last }))
            client.flush()
        }
        clients.append(client)
    }

    private func refuse(_ client: LineClient, _ reason: String) {
        thread.withLock { $0.counts.refused += 1 }
        client.refuse(reason)
        client.flush()
    }

    /// Answers one line of a client.
    private func hear(_ client: LineClient, listeners: Int) {
        if settings.listensAtOnce { return client.dropLines() }
        guard client.hasLine, let line = client.nextLine() else { return }
        // Before the call, because the answer may come from another thread before it returns.
        client.hold()
        switch answer(line, Reply(server: self, client: client.number)) {
        case .line(let text): client.answer(text)
        case .later: break
        case .listen:
            guard listeners < settings.clients - settings.reserved else {
                return client.answer(LineClient.refusal("too many clients are subscribed already; try again later"))
            }
            client.answer(snapshot(thread.withLock { $0.last }))
            client.listens = true
        }
    }
}
