private import Actions
private import Audio
public import Configuration
import Control
public import Core
public import Events
import Glibc
public import IntegrationInterface
import JSON
import Metrics
public import Network
import System

/// Metrics, health and a live page by HTTP.
///
/// One thread serves all clients, and waits for none of them. Where no detector listens (`beckon serve`), there is no page.
public final class WebServer: Integration {
    public static let key = "web"

    private struct Shared {
        var events: [LiveFeed.Event] = []
        var replies: [(request: UInt64, reply: ControlReply)] = []
        var counts = Counts()
    }

    /// Events that wait for the thread; older ones are dropped, as only pages show them.
    private static let mostEvents = 64
    /// Time between two looks at the token's file while pages are open.
    private static let tokenInterval = Duration.seconds(2)

    /// Where it listens, with the ports that the system chose.
    public let addresses: [ListenAddress]
    private let listener: Listener
    private let settings: Configuration.Web
    private let service: any Service
    private let limits: HTTPLoop.Limits
    /// The folder with the token; nil: changes and the sound's picture are refused.
    private let stateFolder: String?
    private let thread: InboxThread<Shared>

    public static func configured(in configuration: Configuration) -> Configuration.Web? {
        configuration.web.listen.isEmpty ? nil : configuration.web
    }

    /// Begins to listen.
    ///
    /// - Throws: ``SocketError``, for instance if another program listens at an address.
    public convenience init(_ configured: Configuration.Web, _ service: any Service) throws {
        try self.init(configured, service, stateFolder: StateFolder.path(of: service.instance))
    }

    init(
        _ settings: Configuration.Web,
        _ service: any Service,
        stateFolder: String?,
        limits: HTTPLoop.Limits = HTTPLoop.Limits()
    ) throws(SocketError) {
        guard let library = HTTPLibrary() else {
            throw SocketError("libmicrohttpd is not installed; apt install libmicrohttpd12")
        }
        (self.settings, self.service, self.stateFolder, self.limits) = (settings, service, stateFolder, limits)
        listener = try Listener(settings.listen)
        addresses = listener.addresses
        thread = try InboxThread(Shared(), or: SocketError.noEventFD)
        try thread.start(name: "beckon-web", stackSize: 1 << 20, or: SocketError.noThread) { [self] in
            run(library)
            listener.removeFiles()
            listener.close()
        }
        let places = addresses.map(\.webText).joined(separator: ", ")
        let isOpen = listener.isOpen
        service.log.write(
            isOpen ? .notice : .info,
            "web: \(hasPage ? "the live page, " : "")metrics and health at \(printable(places))"
                + (isOpen ? "; other machines can connect, too" : "")
        )
    }

    private var hasPage: Bool { service.hasPage }

    /// What the pages show: of the service's own audio, and of the clients that are looked at.
    private final class Feeds {
        let own: LiveFeed
        private var ofClients: [Int: LiveFeed] = [:]

        init(_ service: any Service) { own = LiveFeed(service) }

        var all: [LiveFeed] { [own] + ofClients.values }

        func feed(ofClient client: Int?, _ service: any Service) -> LiveFeed {
            guard let client else { return own }
            let feed = ofClients[client] ?? LiveFeed(service, client: client, after: own)
            ofClients[client] = feed
            return feed
        }

        /// Looks at the service for those that have a page, and forgets the clients that nobody looks at any more.
        func advance() {
            ofClients = ofClients.filter { $0.value.pages > 0 }
            for feed in all where feed.pages > 0 { feed.advance() }
        }
    }

    /// Shows an event on the pages that are open. Any thread.
    public func receive(_ event: DetectionEvent) { add(LiveFeed.Event(event)) }

    /// Shows there a word on which this device does not act. Any thread.
    public func withheld(_ event: DetectionEvent, _ reason: WithheldReason) { add(LiveFeed.Event(event, reason)) }

    private func add(_ event: LiveFeed.Event) {
        thread.post { shared in
            shared.events.append(event)
            if shared.events.count > Self.mostEvents { shared.events.removeFirst() }
        }
    }

    /// Stops to listen and closes all connections.
    ///
    /// - Parameter time: when to give up, on ``Clock``; nil: never.
    /// - Returns: whether the thread has ended.
    @discardableResult
    public func stop(until time: Instant? = nil) -> Bool { thread.stop(until: time) }

    /// The counts so far. Any thread.
    public var counts: Counts { thread.withLock { $0.counts } }

    // MARK: - On the server's thread

    private func run(_ library: HTTPLibrary) {
        let feeds = Feeds(service)
        if let stateFolder, hasPage { prepareToken(stateFolder) }
        let router = WebRouter(hosts: names, proxies: settings.proxies, hasPage: hasPage) { [stateFolder] text in
            guard let folder = stateFolder, let token = try? WebToken.read(in: folder) else { return false }
            return WebToken.isEqual(text, token)
        }
        let loop: HTTPLoop
        do throws(SocketError) {
            loop = try HTTPLoop(library, limits, handler(router, feeds))
        } catch {
            return service.log.write(.error, "web: \(error)")
        }
        defer { loop.stop() }
        serve(loop, feeds)
    }

    /// Takes connections that wait, as long as there is room.
    private func accept(_ answers: ArraySlice<pollfd>, _ loop: HTTPLoop) {
        for _ in 0..<Listener.mostAtOnce where loop.hasRoom(at: Clock.now) {
            var isTaken = false
            listener.accept(answers, most: 1) { connection in
                loop.add(connection)
                isTaken = true
            }
            if !isTaken { return }
        }
    }

    private func serve(_ loop: HTTPLoop, _ feeds: Feeds) {
        var nextState = Clock.now
        while true {
            let hasPages = loop.streamCount > 0
            var deadline = loop.deadline
            if hasPages { deadline = min(deadline ?? nextState, nextState) }
            let now = Clock.now
            if let pause = listener.deadline(at: now) { deadline = min(deadline ?? pause, pause) }
            var requests = [Poll.request(thread.descriptor, POLLIN), Poll.request(loop.descriptor, POLLIN)]
            if loop.hasRoom(at: now) {
                requests += listener.requests(at: now)
            } else {
                deadline = min(deadline ?? .distantFuture, now + HTTPConnection.grace / 5)
            }
            Poll.wait(&requests, until: deadline)
            let ((events, replies), isStopped) = thread.take { shared in
                defer { (shared.events, shared.replies) = ([], []) }
                return (shared.events, shared.replies)
            }
            if isStopped { return }
            accept(requests.dropFirst(2), loop)
            for event in events { for feed in feeds.all { feed.add(event) } }
            for (request, reply) in replies { loop.answer(request, Self.answer(reply)) }
            if hasPages, Clock.now >= nextState {
                nextState = Clock.now + LiveFeed.interval
                feeds.advance()
            }
            if feeds.own.pages == 0 { feeds.own.rest() }
            loop.resumeStreams()
            loop.turn()
            thread.withLock { shared in
                shared.counts = loop.counts
                (shared.counts.connections, shared.counts.pages) = (loop.connectionCount, loop.streamCount)
            }
        }
    }

    /// The names by which this machine is asked for the page.
    private var names: Set<String> {
        let machine = service.machine.lowercased()
        return Set(settings.hosts.map { $0.lowercased() } + [machine, machine + ".local"])
    }

    private func prepareToken(_ folder: String) {
        do {
            _ = try WebToken.obtain(in: folder)
        } catch {
            service.log.write(.warning, "web: \(error); without a token the page changes nothing, and shows no sound")
        }
    }

    // MARK: - Requests

    private func handler(_ router: WebRouter, _ feeds: Feeds) -> HTTPLoop.Handler {
        HTTPLoop.Handler(
            isVital: { request in [.health, .readiness].contains(router.route(request)) },
            refuse: { request in
                guard case .refused(let answer) = router.route(request) else { return nil }
                return router.isTrusted(request) ? answer.framed : answer
            },
            perform: { [self] request, number in
                let isTrusted = router.isTrusted(request)
                switch router.route(request) {
                case .refused(let answer): return .answer(answer)
                case .page: return .answer(isTrusted ? LivePage.answer.framed : LivePage.answer)
                case .live(let withSound, let client):
                    let feed = feeds.feed(ofClient: client, service)
                    let isValid = { isTrusted || !withSound || router.isToken(request.token ?? "") }
                    // Home Assistant's proxy compresses text, and so keeps messages back until there are many.
                    return .stream(
                        isTrusted ? "application/octet-stream" : "text/event-stream",
                        Viewer(feed, withSound: withSound, isProxied: isTrusted, isValid)
                    )
                case .metrics(let format):
                    return .answer(WebAnswer(200, format.contentType, format.text(service.metrics)))
                case .health: return .answer(.text(200, "ok"))
                case .readiness:
                    return .answer(service.problem.map { .text(503, "not ready: \($0)") } ?? .text(200, "ready"))
                case .misses: return .answer(misses())
                case .clip(let number): return .answer(clip(number))
                case .clientClip(let number): return .answer(clientClip(number))
                case .teaching:
                    let state = service.teaching ?? TeachingState()
                    return .answer(WebAnswer(200, "application/json", state.json.line))
                case .take(let number): return .answer(take(number))
                case .satelliteKey:
                    guard let key = service.satelliteKey else {
                        return .answer(.text(404, "there is no voice satellite with a key"))
                    }
                    return .answer(WebAnswer(200, "application/json", key.json.line))
                case .control: return change(request.body, number)
                }
            }
        )
    }

    /// The recent words, those of the wake-word server's clients beside the service's own. Only here: the control socket does not tell what
    /// was said to others.
    private func misses() -> WebAnswer {
        let reply = service.perform(.misses) { _ in } ?? .done
        guard case .words = reply else { return Self.answer(reply) }
        var json = reply.json
        json.append(["clients": service.clientWords.map { .array($0.reversed().map(\.json)) }])
        return WebAnswer(200, "application/json", json.line)
    }

    private func clientClip(_ number: Int) -> WebAnswer {
        guard let word = service.clientWords?.first(where: { $0.number == number }) else { return WebRouter.noSuchClip }
        return Self.wave(word.samples.map(Float.init(sample:)))
    }

    /// The recording of an entry of the list of detected and nearly detected words.
    private func clip(_ number: Int) -> WebAnswer {
        guard case .words(let list)? = service.perform(.misses, { _ in }), let bytes = list.readClip(number) else {
            return WebRouter.noSuchClip
        }
        return WebAnswer("audio/wav", bytes)
    }

    /// The sound of a take of the word that is being taught.
    private func take(_ number: Int) -> WebAnswer {
        service.take(number).map(Self.wave) ?? WebRouter.noSuchClip
    }

    /// A WAV file of samples at 16 kHz.
    private static func wave(_ samples: [Float]) -> WebAnswer {
        guard let bytes = try? WaveWriter.bytes(samples, sampleRate: AudioHistory.sampleRate) else {
            return WebRouter.noSuchClip
        }
        return WebAnswer("audio/wav", bytes)
    }

    private func change(_ body: [UInt8], _ number: UInt64) -> HTTPLoop.Outcome {
        guard let line = String(validating: body, as: UTF8.self), line.hasPrefix("{") else {
            return .answer(Self.answer(.failed("a change is a JSON object, such as {\"command\": \"mute\"}")))
        }
        do throws(ControlError) {
            let command = try ControlCommand(line: line)
            guard command != .events else { return .answer(Self.answer(.failed("events come by GET /live"))) }
            let reply = service.perform(command) { [weak self] reply in self?.add(reply, to: number) }
            return reply.map { .answer(Self.answer($0)) } ?? .later
        } catch {
            return .answer(Self.answer(.failed(error.description)))
        }
    }

    private func add(_ reply: ControlReply, to request: UInt64) {
        thread.post { $0.replies.append((request, reply)) }
    }

    private static func answer(_ reply: ControlReply) -> WebAnswer {
        var status: UInt32 = 200
        if case .failed = reply { status = 400 }
        return WebAnswer(status, "application/json", reply.json.line)
    }

    /// One open page.
    private final class Viewer: MessageSource {
        private let feed: LiveFeed
        private let withSound: Bool
        private let isProxied: Bool
        private let isValid: () -> Bool
        private var place: LiveFeed.Place
        private var nextCheck = Clock.now + tokenInterval
        private var hasBegun = false

        init(_ feed: LiveFeed, withSound: Bool, isProxied: Bool, _ isValid: @escaping () -> Bool) {
            (self.feed, self.withSound, self.isProxied, self.isValid) = (feed, withSound, isProxied, isValid)
            place = feed.start
            feed.pages += 1
        }

        deinit { feed.pages -= 1 }

        var hasMore: Bool { feed.hasMore(after: place) }

        func next() -> [UInt8]? {
            guard hasBegun else {
                hasBegun = true
                return Array(
                    "event: access\ndata: {\"token\": \(withSound)\(isProxied ? ", \"proxy\": true" : "")}\n\n".utf8
                )
            }
            if Clock.now >= nextCheck {
                nextCheck = Clock.now + tokenInterval
                // Another token ends what was opened with the old one.
                guard isValid() else { return nil }
            }
            return feed.messages(after: &place, withSound: withSound)
        }
    }
}

extension ListenAddress {
    /// As a browser takes it.
    var webText: String {
        if case .tcp = self { "http" + description.dropFirst(3) } else { description }
    }
}
