import CMicroHTTPD
import Core
import Glibc
import System

/// Where messages for one client come from, until it leaves.
protocol MessageSource: AnyObject {
    /// Whether ``next()`` would give something now.
    var hasMore: Bool { get }
    /// The next message; empty if there is none now, nil at the end.
    func next() -> [UInt8]?
}

/// An HTTP server by libmicrohttpd, driven by the thread that owns it: the library has no thread and no lock of its own.
///
/// The owner hands over connections (``add(_:)``), waits for ``descriptor`` until ``deadline``, and calls ``turn()``. Whoever
/// does not send a request or read an answer in time is disconnected, however many bytes it sends or reads meanwhile.
final class HTTPLoop {
    struct Limits {
        var connections = 64
        /// Most clients that get streams of messages.
        var streams = 8
        /// The time for a whole request, from the connection or the answer before, and for a whole answer.
        var patience = Duration.seconds(10)
        /// Bytes for the heads of request and answer of a connection.
        var memory = 16 << 10
        var body = WebRouter.longestBody
    }

    struct Counts: Equatable {
        var accepted = 0
        var requests = 0
        /// Connections beyond the limit, and streams beyond theirs.
        var refused = 0
        /// Connections ended because no whole request came in time.
        var silent = 0
        /// Connections ended because the client did not read in time.
        var slow = 0
    }

    enum Outcome {
        case answer(WebAnswer)
        /// The answer comes by ``answer(_:_:)``, with the number that was given.
        case later
        /// A response without an end, of this content type.
        case stream(String, any MessageSource)
    }

    /// What the owner does with requests.
    struct Handler {
        /// Refuses a request by its head, before its body is read; nil goes on.
        var refuse: (WebRequest) -> WebAnswer?
        /// Answers a whole request, which has this number.
        var perform: (WebRequest, UInt64) -> Outcome
    }

    private let library: HTTPLibrary
    private let limits: Limits
    private let handler: Handler
    private var server: OpaquePointer?
    private var connections: [ObjectIdentifier: Connection] = [:]
    private var waiting: [UInt64: Exchange] = [:]
    private var streams: [ObjectIdentifier: Stream] = [:]
    private var requests: UInt64 = 0
    private var nextCheck = Clock.now
    private(set) var counts = Counts()

    private static let checkInterval = Duration.milliseconds(500)
    /// Bytes of a stream that are sent at a time.
    private static let blockSize = 32 << 10

    /// One connection; the library keeps a pointer to it.
    private final class Connection {
        let socket: Int32
        /// Its address in numbers; nil on a unix socket.
        let peer: String?
        /// When it is ended; nil while a stream or a change goes on.
        var deadline: Instant?
        var isAnswering = false

        init(_ socket: Int32, _ deadline: Instant) {
            (self.socket, self.deadline) = (socket, deadline)
            peer = ListenAddress.peer(of: socket)
        }
    }

    /// One request; the library keeps a pointer to it.
    private final class Exchange {
        let number: UInt64
        let connection: OpaquePointer
        var request: WebRequest
        var isTooLarge = false
        var answer: WebAnswer?

        init(_ number: UInt64, _ connection: OpaquePointer, _ request: WebRequest) {
            (self.number, self.connection, self.request) = (number, connection, request)
        }
    }

    /// The response to one client; the library keeps a pointer to it.
    private final class Stream {
        unowned let loop: HTTPLoop
        let connection: OpaquePointer
        let socket: Int32
        let source: any MessageSource
        var rest: ArraySlice<UInt8> = []
        var isSuspended = false
        /// When the library last asked for more.
        var lastRead = Clock.now

        init(_ loop: HTTPLoop, _ connection: OpaquePointer, _ socket: Int32, _ source: any MessageSource) {
            (self.loop, self.connection, self.socket, self.source) = (loop, connection, socket, source)
        }
    }

    /// - Throws: if the system has no descriptor or memory for it.
    init(_ library: HTTPLibrary, _ limits: Limits, _ handler: Handler) throws(SocketError) {
        self.library = library
        self.limits = limits
        self.handler = handler
        var settings = CMicroHTTPD_settings()
        settings.request = { context, connection, path, method, _, data, count, exchange in
            guard let context, let connection, let count, let exchange else { return .NO }
            let loop = Unmanaged<HTTPLoop>.fromOpaque(context).takeUnretainedValue()
            return loop.receive(connection, path, method, data, count, exchange)
        }
        settings.completed = { context, connection, exchange, _ in
            guard let context, let connection, let exchange else { return }
            Unmanaged<HTTPLoop>.fromOpaque(context).takeUnretainedValue().end(connection, exchange)
        }
        settings.connection = { context, connection, place, change in
            guard let context, let connection, let place else { return }
            Unmanaged<HTTPLoop>.fromOpaque(context).takeUnretainedValue().note(connection, place, change)
        }
        settings.context = Unmanaged.passUnretained(self).toOpaque()
        // The owner counts connections; the library's own limit is never reached.
        settings.connections = UInt32(limits.connections + 1)
        settings.memory = UInt(limits.memory)
        settings.timeout = 0
        server = library.start(&settings)
        guard server != nil else { throw SocketError("cannot serve HTTP: \(SystemError("MHD_start_daemon"))") }
    }

    /// Readable when ``turn()`` has work.
    var descriptor: Int32 { server.map { library.descriptor($0) } ?? -1 }

    var connectionCount: Int { connections.count }
    var streamCount: Int { streams.count }

    /// When ``turn()`` is to be called at the latest; nil: not before ``descriptor`` is readable.
    var deadline: Instant? {
        guard let server else { return nil }
        let next = library.timeout(server).map { Clock.now + $0 }
        guard !connections.isEmpty else { return next }
        return min(next ?? nextCheck, nextCheck)
    }

    /// Takes a connection, or refuses it where there are too many.
    func add(_ descriptor: consuming FileDescriptor) {
        guard let server, connections.count < limits.connections else {
            counts.refused += 1
            let text = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            _ = send(descriptor.rawValue, text, text.utf8.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            return
        }
        library.add(server, descriptor.take())
    }

    /// Does what can be done without waiting.
    func turn() {
        guard let server else { return }
        library.run(server)
        let now = Clock.now
        guard now >= nextCheck else { return }
        nextCheck = now + Self.checkInterval
        for connection in connections.values {
            guard let deadline = connection.deadline, now >= deadline else { continue }
            if connection.isAnswering { counts.slow += 1 } else { counts.silent += 1 }
            end(connection)
        }
        for stream in streams.values where !stream.isSuspended && now - stream.lastRead >= limits.patience {
            guard let connection = connection(stream.connection), connection.deadline == nil else { continue }
            counts.slow += 1
            end(connection)
        }
    }

    /// Lets the library notice that the connection is over. Counted once: the deadline is gone far into the future.
    private func end(_ connection: Connection) {
        shutdown(connection.socket, Int32(SHUT_RDWR))
        connection.deadline = Clock.now + .seconds(3600)
    }

    /// Goes on with the streams that have more to send.
    func resumeStreams() {
        for stream in streams.values where stream.isSuspended && stream.source.hasMore {
            stream.isSuspended = false
            stream.lastRead = Clock.now
            library.resume(stream.connection)
        }
    }

    /// Sends the answer to a request that waits for it; nothing if its client has gone.
    func answer(_ number: UInt64, _ answer: WebAnswer) {
        guard let exchange = waiting.removeValue(forKey: number) else { return }
        exchange.answer = answer
        library.resume(exchange.connection)
    }

    /// Closes all connections. To be called before the end, as the library calls back meanwhile.
    func stop() {
        guard let server else { return }
        self.server = nil
        // The library refuses to end while one is suspended.
        for stream in streams.values where stream.isSuspended { library.resume(stream.connection) }
        for exchange in waiting.values { library.resume(exchange.connection) }
        waiting = [:]
        library.stop(server)
    }

    // MARK: - Called by the library, within `turn`

    private func note(
        _ connection: OpaquePointer,
        _ place: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
        _ change: MHD_ConnectionNotificationCode
    ) {
        if change.rawValue == CMicroHTTPD_started {
            let new = Connection(library.socket(connection), Clock.now + limits.patience)
            connections[ObjectIdentifier(new)] = new
            place.pointee = Unmanaged.passUnretained(new).toOpaque()
            counts.accepted += 1
        } else if let old = place.pointee {
            let ended = Unmanaged<Connection>.fromOpaque(old).takeUnretainedValue()
            connections[ObjectIdentifier(ended)] = nil
            place.pointee = nil
        }
    }

    private func connection(_ connection: OpaquePointer) -> Connection? {
        library.context(connection).map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Called for the head of a request, for each part of its body, at its end, and again when its answer has come.
    private func receive(
        _ connection: OpaquePointer,
        _ path: UnsafePointer<CChar>?,
        _ method: UnsafePointer<CChar>?,
        _ data: UnsafePointer<CChar>?,
        _ count: UnsafeMutablePointer<Int>,
        _ place: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> MHD_Result {
        guard let known = place.pointee else {
            requests += 1
            counts.requests += 1
            let request = request(connection, path, method)
            place.pointee = Unmanaged.passRetained(Exchange(requests, connection, request)).toOpaque()
            return handler.refuse(request).map { reply($0, to: connection) } ?? .YES
        }
        let exchange = Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
        if count.pointee > 0 {
            let part = UnsafeRawBufferPointer(start: data, count: count.pointee)
            count.pointee = 0
            if exchange.request.body.count + part.count > limits.body { exchange.isTooLarge = true }
            if !exchange.isTooLarge { exchange.request.body += part }
            return .YES
        }
        if let answer = exchange.answer { return reply(answer, to: connection) }
        guard !exchange.isTooLarge else { return reply(WebRouter.tooLarge, to: connection) }
        switch handler.perform(exchange.request, exchange.number) {
        case .answer(let answer): return reply(answer, to: connection)
        case .later:
            waiting[exchange.number] = exchange
            self.connection(connection)?.deadline = nil
            library.suspend(connection)
            return .YES
        case .stream(let type, let source): return begin(type, source, on: connection)
        }
    }

    private func request(
        _ connection: OpaquePointer,
        _ path: UnsafePointer<CChar>?,
        _ method: UnsafePointer<CChar>?
    ) -> WebRequest {
        func text(_ bytes: UnsafePointer<CChar>?) -> String { bytes.map { String(cString: $0) } ?? "" }
        var request = WebRequest()
        request.method = text(method)
        request.path = text(path)
        request.peer = self.connection(connection)?.peer
        for header in WebRequest.headers {
            request[keyPath: header.path] = library.header(header.name, of: connection).map { String(cString: $0) }
        }
        return request
    }

    private func end(_ connection: OpaquePointer, _ place: UnsafeMutablePointer<UnsafeMutableRawPointer?>) {
        if let known = place.pointee {
            let exchange = Unmanaged<Exchange>.fromOpaque(known).takeRetainedValue()
            waiting[exchange.number] = nil
            place.pointee = nil
        }
        self.connection(connection)?.deadline = Clock.now + limits.patience
        self.connection(connection)?.isAnswering = false
    }

    private func reply(_ answer: WebAnswer, to connection: OpaquePointer) -> MHD_Result {
        guard let response = library.response(answer.body) else { return .NO }
        defer { library.destroy(response) }
        addHeaders(response, answer.contentType, answer.headers)
        self.connection(connection)?.deadline = Clock.now + limits.patience
        self.connection(connection)?.isAnswering = true
        return library.queue(connection, answer.status, response)
    }

    private func addHeaders(_ response: OpaquePointer, _ type: String, _ headers: [WebAnswer.Header]) {
        library.addHeader(response, "Content-Type", type)
        var all = WebAnswer.safety.filter { one in !headers.contains { $0.name == one.name } } + headers
        if !all.contains(where: { $0.name == "Content-Security-Policy" }) {
            all.append(WebAnswer.Header(name: "Content-Security-Policy", value: WebAnswer.closedPolicy))
        }
        for header in all { library.addHeader(response, header.name, header.value) }
    }

    // MARK: - Streams

    private func begin(_ type: String, _ source: any MessageSource, on connection: OpaquePointer) -> MHD_Result {
        guard streams.count < limits.streams else {
            counts.refused += 1
            return reply(
                .text(503, "\(limits.streams) pages are open already").adding("Retry-After", "10"),
                to: connection
            )
        }
        let stream = Stream(self, connection, library.socket(connection), source)
        let pointer = Unmanaged.passRetained(stream)
        let response = library.stream(
            blockSize: Self.blockSize,
            { context, _, room, most in
                guard let context, let room else { return -1 }
                let stream = Unmanaged<Stream>.fromOpaque(context).takeUnretainedValue()
                return stream.loop.fill(UnsafeMutableRawBufferPointer(start: room, count: most), stream)
            },
            pointer.toOpaque(),
            { context in
                guard let context else { return }
                let stream = Unmanaged<Stream>.fromOpaque(context).takeRetainedValue()
                stream.loop.streams[ObjectIdentifier(stream)] = nil
            }
        )
        guard let response else {
            pointer.release()
            return .NO
        }
        defer { library.destroy(response) }
        streams[ObjectIdentifier(stream)] = stream
        addHeaders(response, type, [])
        self.connection(connection)?.deadline = nil
        return library.queue(connection, 200, response)
    }

    /// Gives a stream's next bytes to the library; 0 suspends it, −1 ends it.
    private func fill(_ room: UnsafeMutableRawBufferPointer, _ stream: Stream) -> Int {
        stream.lastRead = Clock.now
        guard server != nil else { return -1 }
        if stream.rest.isEmpty {
            guard let message = stream.source.next() else { return -1 }
            stream.rest = message[...]
        }
        guard !stream.rest.isEmpty else {
            stream.isSuspended = true
            library.suspend(stream.connection)
            return 0
        }
        let part = stream.rest.prefix(room.count)
        room.copyBytes(from: part)
        stream.rest = stream.rest.dropFirst(part.count)
        return part.count
    }
}
