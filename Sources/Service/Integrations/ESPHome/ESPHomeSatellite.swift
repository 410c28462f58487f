import Audio
public import Configuration
public import Control
public import Core
public import Events
import Glibc
public import IntegrationInterface
private import JSON
public import Metrics
import Network
import Playback
import Synchronization
import System

/// A voice satellite for Home Assistant by ESPHome's native API: Home Assistant connects, is told of the words that start a command, gets
/// the audio after them, and has its answers played.
///
/// One thread accepts connections and serves them. It reads the audio that the detector has processed, and never makes the detector wait.
/// Answers are fetched and played on two threads more.
public final class ESPHomeSatellite: EventSink {
    struct Settings: Sendable {
        var listen: [ListenAddress]
        var name: String
        var announces = false
        var ducksMusic = false
        /// Of 32 bytes; nil: connections are not encrypted.
        var key: [UInt8]?
        /// The folder of what is kept over restarts; nil keeps nothing.
        var folder: String?
        var limits = ConnectionLimits()
        /// The command ends if the microphone gives nothing for so long, or Home Assistant takes nothing.
        var longestGap = Duration.seconds(2)
        /// A Home Assistant that does not answer a ping for so long gives way to another one.
        var longestSilence = Duration.seconds(5)
        /// Whoever is silent for so long is asked whether it is there; Home Assistant itself asks every 20 s.
        var pingInterval = Duration.seconds(60)

        init(listen: [ListenAddress], name: String) {
            (self.listen, self.name) = (listen, name)
            limits.idle = .seconds(90)
        }
    }

    /// What has happened so far.
    public struct Counts: Counted, Equatable {
        /// What the assistant does; `alone` where it does nothing, and Home Assistant is not connected.
        public var state = "alone"
        public var connections = 0
        public var accepted = 0
        /// Connections refused because there were too many.
        public var refused = 0
        /// Connections closed for what the client did or did not do.
        public var dropped = 0
        /// Of which had another key, or none.
        public var wrongKeys = 0
        /// Commands that Home Assistant was told of.
        public var commands = 0
        /// Samples that it got of them.
        public var samples = 0

        public static let counters: [Counter<Counts>] = [
            Counter("state") { .string($0.state) }, Counter("connections", \.connections),
            Counter("accepted", \.accepted), Counter("refused", \.refused), Counter("dropped", \.dropped),
            Counter("wrongKeys", \.wrongKeys), Counter("commands", \.commands),
            Counter("streamedSeconds") {
                .number(Double($0.samples) / Double(AudioFormat.sampleRate), places: 1)
            },
        ]
    }

    struct Inbox {
        var events: [DetectionEvent] = []
        var settings: ServiceSettings?
        /// What buttons say, with who is told what became of it.
        var steps: [(step: TalkStep, later: @Sendable (ControlReply) -> Void)] = []
        /// Of answers, and of music.
        var ends: [SoundPlayer.End] = []
        var musicEnds: [SoundPlayer.End] = []
        /// Of models that Home Assistant offers.
        var fetched: [OfferedFetcher.Result] = []
        var counts = Counts()
    }

    /// Most events that wait for the thread.
    private static let capacity = 64
    /// Connections that are accepted before those that were accepted are read.
    private static let mostAtOnce = 8

    /// Where it listens, with the ports that the system chose.
    let addresses: [ListenAddress]
    private let listener: Listener
    private let name: String
    /// In base64; nil without encryption.
    private let keyText: String?
    private let log: ServiceLog
    private let players: [SoundPlayer]
    private let ducker: MusicDucker?
    private let announcement = Mutex<Announcement?>(nil)
    private let thread: InboxThread<Inbox>

    /// Begins to listen.
    ///
    /// - Throws: ``SocketError``, for instance if another program listens at an address, or libsodium is needed and not installed.
    init(_ settings: Settings, _ service: any Service, audio: AudioHistory) throws(SocketError) {
        guard settings.key == nil || Sodium.loaded != nil else { throw SocketError(Sodium.noLibrary) }
        log = service.log
        (name, keyText) = (settings.name, settings.key.map { base64($0) })
        listener = try Listener(settings.listen)
        addresses = listener.addresses
        thread = try InboxThread(Inbox(), or: SocketError.noEventFD)
        let plainName = DeviceIdentity.name(from: settings.name)
        let speaker = service.speaker
        let store = Self.store(in: settings.folder, service.log)
        let identity = DeviceIdentity(
            name: plainName,
            title: settings.name,
            address: store.address,
            version: version,
            isEncrypted: settings.key != nil,
            plays: speaker?.device != nil
        )
        var players: [SoundPlayer] = []
        if let speaker {
            players.append(try SoundPlayer(speaker) { [thread] end in thread.post { $0.ends.append(end) } })
            players.append(try SoundPlayer(speaker) { [thread] end in thread.post { $0.musicEnds.append(end) } })
        }
        self.players = players
        ducker = settings.ducksMusic ? try MusicDucker(log: service.log) : nil
        let outlets = SatelliteOutlets(
            service: service,
            audio: audio,
            answers: players.first,
            music: players.last,
            ducker: ducker,
            fetched: { [thread] result in thread.post { $0.fetched.append(result) } }
        )
        try thread.start(name: "beckon-esphome", stackSize: 512 << 10, or: SocketError.noThread) { [self] in
            run(ESPHomeLoop(identity, settings, store, outlets))
            listener.removeFiles()
            listener.close()
        }
        let places = addresses.map(\.description).joined(separator: ", ")
        log.write(
            listener.isOpen ? .notice : .info,
            "Home Assistant can connect to the ESPHome satellite \(printable(plainName)) at \(printable(places))"
                + (settings.key == nil ? ", without encryption" : ", with the key of beckon esphome key")
        )
        guard settings.announces, let port = addresses.first(where: { !$0.isLocal })?.port else { return }
        let text = [
            "friendly_name=\(settings.name)", "version=\(version)", "mac=\(identity.plainAddress)", "platform=Linux",
            "board=beckon", "network=ethernet",
        ]
        let encryption = settings.key == nil ? [] : ["api_encryption=Noise_NNpsk0_25519_ChaChaPoly_SHA256"]
        announcement.withLock {
            $0 = Announcement(.init(plainName, type: "_esphomelib._tcp", port: port, text: text + encryption), log: log)
        }
    }

    private static func store(in folder: String?, _ log: ServiceLog) -> DeviceStore {
        do throws(SystemError) { return try DeviceStore.obtain(in: folder) } catch {
            log.write(.warning, "ESPHome: \(error); after a restart it is another device")
            return DeviceStore(in: nil)
        }
    }

    /// What Home Assistant needs to connect; nil without encryption. Any thread.
    public var satelliteKey: SatelliteKey? {
        keyText.map { SatelliteKey(name: name, key: $0, modules: QRCode($0)?.rows) }
    }

    /// The counts so far. Any thread.
    public var counts: Counts { thread.withLock { $0.counts } }

    public func receive(_ event: DetectionEvent) {
        guard event.isWhole else { return }
        thread.post { if $0.events.count < Self.capacity { $0.events.append(event) } }
    }

    public func update(_ settings: ServiceSettings) { thread.post { $0.settings = settings } }

    public func talk(_ step: TalkStep, _ later: @escaping @Sendable (ControlReply) -> Void) -> Bool {
        let isTaken = thread.post { inbox in
            guard inbox.steps.count < Self.capacity else { return false }
            inbox.steps.append((step, later))
            return true
        }
        if !isTaken { later(.failed(ControlReply.noRoom)) }
        return true
    }

    /// Stops to listen and closes all connections.
    @discardableResult
    public func stop(until time: Instant? = nil) -> Bool {
        thread.beginStop()
        announcement.withLock { $0 }?.end()
        let haveEnded = players.map { $0.end(until: time) }
        let isLoud = ducker?.end(until: time) ?? true
        return thread.stop(until: time) && isLoud && haveEnded.allSatisfy { $0 }
    }

    // MARK: - On the satellite's thread

    private func run(_ loop: consuming ESPHomeLoop) {
        loop.begin()
        while true {
            let start = Clock.now
            var requests = [Poll.request(thread.descriptor, POLLIN)] + listener.requests(at: start)
            let waiting = loop.requests(at: start)
            requests += waiting.clients
            Poll.wait(&requests, until: [waiting.deadline, listener.deadline(at: start)].compactMap(\.self).min())
            let now = Clock.now
            let (news, isStopped) = thread.take { inbox in
                var news = Inbox()
                swap(&news, &inbox)
                inbox.counts = news.counts
                return news
            }
            if isStopped { return loop.close() }
            if let settings = news.settings { loop.update(settings) }
            loop.receive(requests.dropFirst(1 + listener.count), at: now)
            for event in news.events { loop.report(event, at: now) }
            for (step, later) in news.steps {
                later(loop.talk(step, at: now).map { .failed($0.description) } ?? .done)
            }
            for end in news.ends { loop.ended(end, at: now) }
            for end in news.musicEnds { loop.musicEnded(end) }
            for result in news.fetched { loop.fetched(result) }
            loop.send(at: now)
            listener.accept(requests.dropFirst().prefix(listener.count), most: Self.mostAtOnce) { loop.add($0) }
            thread.withLock { [counts = loop.currentCounts] in $0.counts = counts }
        }
    }
}

/// The satellite as an integration: it reports what the service detects, and sends the service's audio.
extension ESPHomeSatellite: Integration {
    public static let key = "esphome"

    /// Where and how it listens; the other keys are as they are by default. Other words and sounds need no new satellite; another speaker does.
    public static func configured(in configuration: Configuration) -> ESPHomeConfigured? {
        var esphome = Configuration.ESPHome()
        let own = configuration.esphome
        (esphome.listen, esphome.name, esphome.encryption) = (own.listen, own.name, own.encryption)
        (esphome.announce, esphome.duckMusic) = (own.announce, own.duckMusic)
        guard !own.listen.isEmpty else { return nil }
        return ESPHomeConfigured(settings: esphome, plays: configuration.speaker != nil)
    }

    public convenience init(_ configured: ESPHomeConfigured, _ service: any Service) throws {
        guard let history = service.history else {
            throw SocketError("no detector, whose words and audio it could send")
        }
        let own = configured.settings
        var settings = Settings(listen: own.listen, name: own.name ?? "beckon \(service.name)")
        (settings.announces, settings.ducksMusic) = (own.announce, own.duckMusic)
        settings.folder = StateFolder.path(of: service.instance)
        if own.encryption {
            guard let folder = settings.folder else {
                throw SocketError("no folder for the key: HOME, XDG_STATE_HOME and STATE_DIRECTORY are not set")
            }
            settings.key = bytes(base64: try APIKey.obtain(in: folder))
        }
        try self.init(settings, service, audio: history)
    }
}

/// The part of a configuration with which the satellite is started. A pure value.
public struct ESPHomeConfigured: Equatable, Sendable {
    let settings: Configuration.ESPHome
    /// Whether there is a speaker, which Home Assistant must know when it connects.
    let plays: Bool
}

/// What the satellite's thread uses of the service.
struct SatelliteOutlets: Sendable {
    let service: any Service
    let audio: AudioHistory
    /// Nil without a speaker.
    let answers: SoundPlayer?
    let music: SoundPlayer?
    /// Nil where music of other programs stays as it is.
    let ducker: MusicDucker?
    /// Takes what became of a model that Home Assistant offers, on another thread.
    let fetched: @Sendable (OfferedFetcher.Result) -> Void

    /// Has a command carried out, and its failure logged.
    func perform(_ command: ControlCommand) {
        let finish: @Sendable (ControlReply) -> Void = { [log = service.log] reply in
            if case .failed(let reason) = reply { log.write(.warning, "ESPHome: \(reason)") }
        }
        if let reply = service.perform(command, finish) { finish(reply) }
    }
}
