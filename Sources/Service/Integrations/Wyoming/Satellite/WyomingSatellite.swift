public import Audio
public import Configuration
public import Core
public import Events
import Glibc
public import IntegrationInterface
private import JSON
public import Metrics
public import Network
public import Playback
import Spotting
import Synchronization
import System

/// A satellite for Home Assistant by the Wyoming protocol: Home Assistant connects, gets the words that the service detects, and after
/// each the audio of the command, until it has understood it. What it answers is played, if there is a speaker.
///
/// One thread accepts connections and serves them. It reads the audio that the detector has processed, and never makes the detector wait.
public final class WyomingSatellite: EventSink {
    public struct Settings: Sendable {
        public var listen: [ListenAddress]
        /// Its name, by which Home Assistant knows it.
        public var name: String
        /// Whether to announce it by mDNS, where other machines can connect; see ``Announcement``.
        public var announces = false
        var limits = ConnectionLimits()
        /// The stream ends if the microphone gives nothing for so long, or Home Assistant takes nothing.
        var longestGap = Duration.seconds(2)
        /// The address or the name of the Home Assistant that may have the satellite; nil: whoever comes first.
        public var server: String?
        /// A Home Assistant that does not answer a ping for so long gives way to another one that wants the satellite.
        var longestSilence = Duration.seconds(5)
        /// How long a sign of life counts; Home Assistant sends a ping every two seconds itself.
        var signAge = Duration.seconds(2)
        /// How often it is asked at most, whoever wants the satellite how often.
        var askInterval = Duration.milliseconds(500)
        /// How often Home Assistant is told that the satellite is there while nothing of what it sends is read: it connects again after five
        /// seconds.
        var aliveInterval = Duration.seconds(2)

        public init(listen: [ListenAddress], name: String) {
            self.listen = listen
            self.name = name
        }
    }

    /// What Home Assistant wants.
    public enum State: String, Sendable {
        /// None is connected.
        case alone
        /// It waits for a word.
        case ready
        /// It gets the audio after a word.
        case streaming
        /// It gets nothing, because it has muted the satellite.
        case paused
    }

    /// What has happened so far.
    public struct Counts: Counted, Equatable {
        public var state = State.alone
        public var connections = 0
        public var accepted = 0
        /// Connections refused because there were too many.
        public var refused = 0
        /// Connections closed for what the client did or did not do.
        public var dropped = 0
        /// Words that Home Assistant was told of.
        public var detections = 0
        /// Samples that it got after them.
        public var samples = 0

        public static let counters: [Counter<Counts>] = [
            Counter("state") { .string($0.state.rawValue) }, Counter("connections", \.connections),
            Counter("accepted", \.accepted), Counter("refused", \.refused), Counter("dropped", \.dropped),
            Counter("detections", \.detections),
            Counter("streamedSeconds") {
                .number(Double($0.samples) / Double(AudioFormat.sampleRate), places: 1)
            },
        ]
    }

    private struct Inbox {
        var events: [DetectionEvent] = []
        var words: SatelliteWords?
        var counts = Counts()
    }

    /// Most events that wait for the thread.
    private static let capacity = 64
    /// Lines of the log about Home Assistant are at least this far apart.
    private static let logInterval = Duration.seconds(1)
    /// The same of lines about those that did not get the satellite.
    private static let noticeInterval = Duration.seconds(60)
    /// Connections that are accepted before those that were accepted are read.
    private static let mostAtOnce = 8

    /// Where it listens, with the ports that the system chose.
    public let addresses: [ListenAddress]
    /// Its name, by which Home Assistant knows it.
    let name: String
    private let listener: Listener
    private let log: ServiceLog
    private let announcement = Mutex<Announcement?>(nil)
    private let thread: InboxThread<Inbox>

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - audio: the audio in which the words are detected.
    ///   - speaker: plays what Home Assistant says; nil, or one without a device, plays nothing.
    /// - Throws: ``SocketError``, for instance if another program listens at an address.
    public init(
        _ words: SatelliteWords,
        _ settings: Settings,
        audio: AudioHistory,
        speaker: Speaker? = nil,
        log: ServiceLog
    ) throws(SocketError) {
        self.log = log
        name = settings.name
        listener = try Listener(settings.listen)
        addresses = listener.addresses
        thread = try InboxThread(Inbox(), or: SocketError.noEventFD)
        try thread.start(name: "beckon-satellite", stackSize: 512 << 10, or: SocketError.noThread) { [self] in
            let server = settings.server.map { SatelliteServer($0) { [thread] in thread.wake() } }
            run(SatelliteLoop(words, settings, audio, speaker, server))
            listener.removeFiles()
            listener.close()
        }
        let isOpen = listener.isOpen
        log.write(
            isOpen ? .notice : .info,
            "Home Assistant can connect to the satellite at "
                + printable(addresses.map(\.description).joined(separator: ", "))
                + (isOpen
                    ? settings.server.map { "; of other machines only \($0) gets what follows a word" }
                        ?? "; so can other machines, which hear what follows a word, as the protocol has no password; "
                        + "wyoming.satelliteServer names the one that may" : "")
        )
        if settings.announces, let port = addresses.first(where: { !$0.isLocal })?.port {
            announcement.withLock { $0 = Announcement(.init(name, type: "_wyoming._tcp", port: port), log: log) }
        }
    }

    /// The counts so far. Any thread.
    public var counts: Counts { thread.withLock { $0.counts } }

    /// Reports and announces other words from now on. Any thread.
    public func update(_ words: SatelliteWords) { thread.post { $0.words = words } }

    public func receive(_ event: DetectionEvent) {
        guard event.kind == .word || event.kind == .phrase else { return }
        thread.post { if $0.events.count < Self.capacity { $0.events.append(event) } }
    }

    /// Stops to listen and closes all connections.
    ///
    /// - Parameter time: when to give up, on ``Clock``; nil: never.
    /// - Returns: whether the thread has ended.
    @discardableResult
    public func stop(until time: Instant? = nil) -> Bool {
        thread.beginStop()
        announcement.withLock { $0 }?.end()
        return thread.stop(until: time)
    }

    // MARK: - On the satellite's thread

    private func run(_ loop: consuming SatelliteLoop) {
        var said: Said = (.alone, Clock.now - Self.logInterval)
        var nextNotice = Clock.now
        while true {
            let start = Clock.now
            var requests = [Poll.request(thread.descriptor, POLLIN)] + listener.requests(at: start)
            let waiting = loop.requests(at: start)
            requests += waiting.clients
            let deadlines = [
                waiting.deadline, listener.deadline(at: start),
                Self.isNews(loop.state, said) ? said.time + Self.logInterval : nil,
            ]
            Poll.wait(&requests, until: deadlines.compactMap(\.self).min())
            let now = Clock.now
            let ((events, words), isStopped) = thread.take { inbox in
                defer { (inbox.events, inbox.words) = ([], nil) }
                return (inbox.events, inbox.words)
            }
            if isStopped { return }
            if let words { loop.update(words) }
            // A pause takes effect before the words that were detected meanwhile.
            loop.receive(requests.dropFirst(1 + listener.count), at: now)
            for event in events { loop.report(event) }
            loop.send(at: now)
            listener.accept(requests.dropFirst().prefix(listener.count), most: Self.mostAtOnce) { loop.add($0) }
            note(&said, loop.state, loop.ownerName, at: now)
            if let notice = loop.takeNotice(), now >= nextNotice {
                log.write(.warning, printable(notice))
                nextNotice = now + Self.noticeInterval
            }
            var counts = loop.counts
            (counts.state, counts.connections) = (loop.state, loop.clients.count)
            thread.withLock { $0.counts = counts }
        }
    }

    /// What the log has said last of what Home Assistant wants.
    private typealias Said = (state: State, time: Instant)

    /// Whether the log should say something else. It streams and is ready by turns, which is not worth a line.
    private static func isNews(_ state: State, _ said: Said) -> Bool {
        (state == .streaming ? .ready : state) != said.state
    }

    private func note(_ said: inout Said, _ state: State, _ owner: String?, at now: Instant) {
        guard Self.isNews(state, said), now - said.time >= Self.logInterval else { return }
        said = (state == .streaming ? .ready : state, now)
        switch said.state {
        case .alone: log.write(.notice, "Home Assistant is no longer connected to the satellite")
        case .paused: log.write(.notice, "Home Assistant has muted the satellite: it gets no words and no audio")
        case .ready, .streaming:
            log.write(.notice, "Home Assistant is connected to the satellite from \(owner ?? "here"), and gets words")
        }
    }
}

/// The satellite as an integration: it reports what the service detects, and sends the service's audio.
extension WyomingSatellite: Integration {
    public static let key = "satellite"

    /// Where it listens, whether that is announced, and who may have it; the other keys are as they are by default. Other words need no new satellite.
    public static func configured(in configuration: Configuration) -> Configuration.Wyoming? {
        var wyoming = Configuration.Wyoming()
        (wyoming.satellite, wyoming.announce) = (configuration.wyoming.satellite, configuration.wyoming.announce)
        wyoming.satelliteServer = configuration.wyoming.satelliteServer
        return wyoming.satellite.isEmpty ? nil : wyoming
    }

    public convenience init(_ configured: Configuration.Wyoming, _ service: any Service) throws {
        guard let history = service.history else {
            throw SocketError("no detector, whose words and audio it could send")
        }
        // Home Assistant knows the satellite by its name.
        let name = "beckon satellite on \(service.name)"
        var settings = Settings(listen: configured.satellite, name: name)
        settings.announces = configured.announce
        settings.server = configured.satelliteServer
        let words = SatelliteWords(service.currentSettings, satellite: name)
        try self.init(words, settings, audio: history, speaker: service.speaker, log: service.log)
    }

    public func update(_ settings: ServiceSettings) { update(SatelliteWords(settings, satellite: name)) }
}
