private import CSystem
import Core
import Dispatch
import Glibc
import Synchronization

/// A unix socket for lines of text: clients send lines and get answers, and subscribers get every published line.
///
/// One thread serves all clients and waits for none of them. A client that does not read, sends too long lines or sends
/// nothing is disconnected and counted; the others do not notice.
public final class LineServer: Sendable {
    /// The reaction to a line from a client.
    public enum Answer: Equatable, Sendable {
        case line(String)
        /// Subscribe the client: it gets the snapshot, and from now on every published line.
        case listen
    }

    public struct Settings: Sendable {
        /// Most clients at a time; a further one gets an error line and is closed.
        public var clients = 16
        /// How many of ``clients`` are reserved for clients that do not subscribe.
        public var reserved = 4
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
        /// Clients closed because they did not read.
        public var slow = 0
        /// Clients closed because they sent no line in time, or one that was too long.
        public var protocolViolations = 0
        /// Clients refused because there were too many.
        public var refused = 0
        public var published = 0
        /// Published lines dropped because the server's thread was behind.
        public var overflowed = 0
    }

    private struct Shared {
        var waiting: [String] = []
        /// The newest published line.
        var last: String?
        var counts = Counts()
        var isStopped = false
    }

    /// Most published lines that wait for the server's thread.
    private static let longestWait = 1024

    public let path: String
    private let settings: Settings
    private let snapshot: @Sendable (String?) -> String
    private let answer: @Sendable (String) -> Answer
    private let listener: FileDescriptor
    private let identity: [UInt64]
    private let wakeUp: EventFD
    private let shared = Mutex(Shared())
    private let finished = DispatchSemaphore(value: 0)

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - snapshot: makes a subscriber's first line from the newest published line; called on the server's thread.
    ///   - answer: handles a line from a client; called on the server's thread.
    /// - Throws: ``SocketError``.
    public init(
        path: String,
        settings: Settings = Settings(),
        snapshot: @escaping @Sendable (_ last: String?) -> String,
        answer: @escaping @Sendable (String) -> Answer
    ) throws(SocketError) {
        self.path = path
        self.settings = settings
        self.snapshot = snapshot
        self.answer = answer
        wakeUp = try EventFD(or: SocketError.noEventFD)
        listener = try UnixSocket.listen(path, mode: 0o660)
        identity = Self.identity(of: path)
        _ = try SystemThread(name: "beckon-socket", stackSize: 512 << 10, or: SocketError.noThread) { [self] in serve()
        }
    }

    public var counts: Counts { shared.withLock { $0.counts } }

    /// Sends a line to all subscribers, from any thread. Takes a lock for a moment; waits for no client.
    public func publish(_ line: String) {
        shared.withLock { shared in
            shared.last = line
            guard shared.waiting.count < Self.longestWait else {
                shared.counts.overflowed += 1
                return
            }
            shared.waiting.append(line)
            shared.counts.published += 1
        }
        wakeUp.signal()
    }

    /// Sends the lines published so far, closes all connections and removes the socket's file, unless another service
    /// has replaced it.
    public func stop() {
        let isFirst = shared.withLock { shared in
            defer { shared.isStopped = true }
            return !shared.isStopped
        }
        guard isFirst else { return }
        wakeUp.signal()
        finished.wait()
        if Self.identity(of: path) == identity { unlink(path) }
    }

    /// Device and inode of the socket's file.
    private static func identity(of path: String) -> [UInt64] {
        var status = stat()
        return lstat(path, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : []
    }

    // MARK: - On the server's thread

    private func serve() {
        var clients: [LineClient] = []
        /// When connections are accepted again, after the system had no more descriptors.
        var pause = Instant(nanoseconds: 0)
        while true {
            let now = Clock.now
            var requests = [
                Poll.request(wakeUp.descriptor, POLLIN),
                Poll.request(now < pause ? -1 : listener.rawValue, POLLIN),
            ]
            requests += clients.map { Poll.request($0.descriptor.rawValue, $0.isWaiting ? POLLIN | POLLOUT : POLLIN) }
            let deadlines = clients.compactMap(\.deadline) + (now < pause ? [pause] : [])
            Poll.wait(&requests, until: deadlines.min())

            let (lines, isStopped) = shared.withLock { shared in
                defer { shared.waiting.removeAll() }
                return (shared.waiting, shared.isStopped)
            }
            if requests[0].revents != 0 { wakeUp.drain() }
            for (client, request) in zip(clients, requests.dropFirst(2)) where request.revents != 0 {
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
            if isStopped { break }
            if requests[1].revents != 0, !accept(&clients) { pause = Clock.now + .milliseconds(100) }
        }
        finished.signal()
    }

    private func count(_ end: LineClient.End) {
        shared.withLock { shared in
            switch end {
            case .slow: shared.counts.slow += 1
            case .protocolViolation: shared.counts.protocolViolations += 1
            case .gone: break
            }
        }
    }

    /// Accepts new connections; false if the system has no more descriptors.
    private func accept(_ clients: inout [LineClient]) -> Bool {
        while true {
            let connection = FileDescriptor(CSystem_accept(listener.rawValue))
            guard connection.isOpen else { return errno != EMFILE && errno != ENFILE && errno != ENOMEM }
            let client = LineClient(connection, settings: settings)
            guard clients.count < settings.clients else {
                shared.withLock { $0.counts.refused += 1 }
                client.refuse("\(settings.clients) clients are connected already; try again later")
                client.flush()
                continue
            }
            shared.withLock { $0.counts.accepted += 1 }
            if settings.listensAtOnce {
                client.listens = true
                client.send(snapshot(shared.withLock { $0.last }))
                client.flush()
            }
            clients.append(client)
        }
    }

    private func hear(_ client: LineClient, listeners: Int) {
        client.receive()
        while let line = client.nextLine() {
            if settings.listensAtOnce { continue }
            switch answer(line) {
            case .line(let text): client.send(text)
            case .listen:
                guard listeners < settings.clients - settings.reserved else {
                    client.refuse("too many clients are subscribed already; try again later")
                    continue
                }
                client.send(snapshot(shared.withLock { $0.last }))
                client.listens = true
            }
        }
    }
}
