import CMicroHTTPD
import Core
import Glibc
import Network
import System

/// An HTTP server by libmicrohttpd, driven by the thread that owns it: the library has no thread and no lock of its own.
///
/// The owner hands over connections (``add(_:)``), waits for ``descriptor`` until ``deadline``, and calls ``turn()``. Whoever
/// does not send a request or read an answer in time is disconnected, however many bytes it sends or reads meanwhile.
final class HTTPLoop {
    private let library: HTTPLibrary
    private let limits: Limits
    private let handler: Handler
    private var server: OpaquePointer?
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    /// Connections by their sockets, until the library has taken them.
    private var arrivals: [Int32: (peer: Peer, isReserved: Bool)] = [:]
    private var waiting: [UInt64: HTTPExchange] = [:]
    private var streams: [ObjectIdentifier: HTTPStream] = [:]
    private var requests: UInt64 = 0
    private var nextCheck = Clock.now
    private(set) var counts = WebServer.Counts()

    private static let checkInterval = Duration.milliseconds(500)
    /// Bytes of a stream that are sent at a time.
    private static let blockSize = 32 << 10
    /// The system keeps no more for a client that reads nothing, so that this is soon noticed; it would keep megabytes.
    private static let sendBufferSize: Int32 = 16 << 10
    /// Connections that have ended and that the library still has, at most.
    private static let mostEnding = 256

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
        settings.connections = UInt32(limits.connections + limits.reserved + Self.mostEnding)
        settings.memory = UInt(limits.memory)
        settings.timeout = 0
        server = library.start(&settings)
        guard server != nil else { throw SocketError("cannot serve HTTP: \(SystemError("MHD_start_daemon"))") }
    }

    /// Readable when ``turn()`` has work.
    var descriptor: Int32 { server.map { library.descriptor($0) } ?? -1 }

    var connectionCount: Int { connections.count }
    var streamCount: Int { streams.count { !$0.value.isOver } }

    /// When ``turn()`` is to be called at the latest; nil: not before ``descriptor`` is readable.
    var deadline: Instant? {
        guard let server else { return nil }
        let next = library.timeout(server).map { Clock.now + $0 }
        guard !connections.isEmpty else { return next }
        return min(next ?? nextCheck, nextCheck)
    }

    /// Whether a connection may be added now. Not while only new ones could make room, in all or in the share of a peer: a crowd that connects
    /// again and again would otherwise drive each other out, and all others, before their requests have come.
    func hasRoom(at now: Instant) -> Bool {
        let all = connections.values.filter { !$0.isEnding }
        /// Whether these leave no room, but soon will.
        func isCrowd(_ holders: [HTTPConnection], _ most: Int) -> Bool {
            holders.count >= most && holders.allSatisfy { $0.isInRequest || $0.isNew(at: now) }
                && holders.contains { $0.isNew(at: now) }
        }
        guard isCrowd(all.filter(\.isReserved), limits.reserved) else { return true }
        let common = all.filter { !$0.isReserved }
        guard !isCrowd(common, limits.connections) else { return false }
        return !Dictionary(grouping: common, by: \.peer).values.contains { isCrowd($0, limits.perPeer) }
    }

    /// Takes a connection, or refuses it where there are too many.
    func add(_ connection: consuming Network.Connection) {
        guard let server else { return }
        guard let isReserved = place(for: connection.peer) else {
            counts.refused += 1
            return connection.refuse(
                Array("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
            )
        }
        let peer = connection.peer
        let descriptor = connection.take()
        var size = Self.sendBufferSize
        setsockopt(descriptor.rawValue, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        arrivals[descriptor.rawValue] = (peer, isReserved)
        library.add(server, descriptor.take())
    }

    /// Whether a new connection of this peer gets one of the reserved places; nil if it gets none. Another one may end for it.
    private func place(for peer: Peer) -> Bool? {
        let now = Clock.now
        let all = connections.values.filter { !$0.isEnding }
        let common = Places(all: limits.connections, perPeer: limits.perPeer)
        for (places, isReserved) in [(common, false), (Places(all: limits.reserved), true)] {
            let holders = all.filter { $0.isReserved == isReserved }
            switch places.decide(peer, holders.map { $0.holder(at: now) }) {
            case .welcome: return isReserved
            case .replace(let index):
                counts.silent += 1
                end(holders[index])
                return isReserved
            case .full, .peerIsFull: continue
            }
        }
        return nil
    }

    /// Does what can be done without waiting.
    func turn() {
        guard let server else { return }
        library.run(server)
        let now = Clock.now
        guard now >= nextCheck else { return }
        nextCheck = now + Self.checkInterval
        for connection in connections.values where !connection.isEnding {
            guard let deadline = connection.deadline, now >= deadline else { continue }
            if connection.isAnswering { counts.slow += 1 } else { counts.silent += 1 }
            end(connection)
        }
        for stream in streams.values where !stream.isOver && stream.isStalled(at: now, limits.timeout) {
            counts.slow += 1
            end(stream)
        }
    }

    /// Lets the library notice that the connection is over.
    private func end(_ connection: HTTPConnection) {
        shutdown(connection.socket, Int32(SHUT_RDWR))
        connection.isEnding = true
    }

    private func end(_ stream: HTTPStream) {
        stream.isOver = true
        if let connection = connection(stream.connection) { end(connection) }
        // The library looks at no connection that is suspended.
        resume(stream)
    }

    private func resume(_ stream: HTTPStream) {
        guard stream.isSuspended else { return }
        stream.isSuspended = false
        stream.lastRead = Clock.now
        library.resume(stream.connection)
    }

    /// Goes on with the streams that have more to send.
    func resumeStreams() {
        for stream in streams.values where stream.isSuspended && stream.hasMore { resume(stream) }
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
            let socket = library.socket(connection)
            let arrival = arrivals.removeValue(forKey: socket) ?? (Peer(of: socket), false)
            let new = HTTPConnection(socket, arrival.peer, isReserved: arrival.isReserved, Clock.now + limits.timeout)
            connections[ObjectIdentifier(new)] = new
            place.pointee = Unmanaged.passUnretained(new).toOpaque()
            counts.accepted += 1
        } else if let old = place.pointee {
            let ended = Unmanaged<HTTPConnection>.fromOpaque(old).takeUnretainedValue()
            connections[ObjectIdentifier(ended)] = nil
            place.pointee = nil
        }
    }

    private func connection(_ connection: OpaquePointer) -> HTTPConnection? {
        library.context(connection).map { Unmanaged<HTTPConnection>.fromOpaque($0).takeUnretainedValue() }
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
            self.connection(connection)?.isInRequest = true
            place.pointee = Unmanaged.passRetained(HTTPExchange(requests, connection, request)).toOpaque()
            guard self.connection(connection)?.isReserved != true || handler.isVital(request) else {
                counts.refused += 1
                return reply(Self.busy, to: connection)
            }
            return handler.refuse(request).map { reply($0, to: connection) } ?? .YES
        }
        let exchange = Unmanaged<HTTPExchange>.fromOpaque(known).takeUnretainedValue()
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
        request.peer = self.connection(connection).flatMap { IPAddress(peerOf: $0.socket)?.text }
        for header in WebRequest.headers {
            request[keyPath: header.path] = library.header(header.name, of: connection).map { String(cString: $0) }
        }
        return request
    }

    private func end(_ connection: OpaquePointer, _ place: UnsafeMutablePointer<UnsafeMutableRawPointer?>) {
        if let known = place.pointee {
            let exchange = Unmanaged<HTTPExchange>.fromOpaque(known).takeRetainedValue()
            waiting[exchange.number] = nil
            place.pointee = nil
        }
        self.connection(connection)?.rest(until: Clock.now + limits.timeout)
    }

    private static let busy = WebAnswer.text(503, "too many connections are open already").adding("Retry-After", "10")

    private func reply(_ answer: WebAnswer, to connection: OpaquePointer) -> MHD_Result {
        guard let response = library.response(answer.body) else { return .NO }
        defer { library.destroy(response) }
        addHeaders(response, answer.contentType, answer.headers)
        // The place is for the next monitor.
        if self.connection(connection)?.isReserved == true { library.addHeader(response, "Connection", "close") }
        self.connection(connection)?.deadline = Clock.now + limits.timeout
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

    /// Whether one more stream may begin on this connection; one of a peer that has more of them may end for it.
    private func hasPlace(for connection: OpaquePointer) -> Bool {
        let open = streams.values.filter { !$0.isOver }
        let holders = open.map { stream in
            Places.Holder(self.connection(stream.connection)?.peer ?? .unknown, isSilent: false, since: stream.start)
        }
        // Those that read nothing are found while there is still room, so that a crowd of them is gone in good time.
        if open.count >= limits.streams / 2 { for stream in open { stream.probe(at: Clock.now) } }
        let peer = self.connection(connection)?.peer ?? .unknown
        switch Places(all: limits.streams, isShared: true).decide(peer, holders) {
        case .welcome: return true
        case .replace(let index):
            end(open[index])
            return true
        case .full, .peerIsFull: return false
        }
    }

    private func begin(_ type: String, _ source: any MessageSource, on connection: OpaquePointer) -> MHD_Result {
        guard hasPlace(for: connection) else {
            counts.refused += 1
            return reply(
                .text(503, "\(limits.streams) pages are open already").adding("Retry-After", "10"),
                to: connection
            )
        }
        let stream = HTTPStream(self, connection, library.socket(connection), source)
        let pointer = Unmanaged.passRetained(stream)
        let response = library.stream(
            blockSize: Self.blockSize,
            { context, _, room, most in
                guard let context, let room else { return -1 }
                let stream = Unmanaged<HTTPStream>.fromOpaque(context).takeUnretainedValue()
                return stream.loop.fill(UnsafeMutableRawBufferPointer(start: room, count: most), stream)
            },
            pointer.toOpaque(),
            { context in
                guard let context else { return }
                let stream = Unmanaged<HTTPStream>.fromOpaque(context).takeRetainedValue()
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
    private func fill(_ room: UnsafeMutableRawBufferPointer, _ stream: HTTPStream) -> Int {
        stream.lastRead = Clock.now
        guard server != nil, !stream.isOver else { return -1 }
        if stream.rest.isEmpty, stream.probeLeft > 0 { stream.rest = stream.probePart()[...] }
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
