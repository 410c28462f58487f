import Audio
import Core
import Events
import Glibc
import Network
import Playback
import System

/// The work of the satellite's thread: reads what Home Assistant sends, and sends it words and the audio after them.
///
/// Used by one thread.
struct SatelliteLoop: ~Copyable {
    typealias Client = ClientConnection<SatelliteConversation>

    /// Home Assistant has one connection, or two while it looks what is here; the rest is for others that try. One that only looks has a
    /// place as long as nobody else needs it.
    private static let places = Places(all: 64, perPeer: 32, isShared: true)
    /// Most connections of a peer that wait for the satellite.
    private static let mostWaiting = 4
    /// One that has said nothing yet keeps its place so long.
    private static let leastTime = Duration.milliseconds(200)
    private static let bufferSize = 16 << 10
    /// How often there may be new audio to send, and room for more to play.
    private static let audioInterval = Duration.milliseconds(20)
    private static let checkInterval = Duration.milliseconds(500)

    private(set) var counts = WyomingSatellite.Counts()
    private(set) var clients: [Client] = []
    /// The Home Assistant that has the satellite.
    private var owner: Client?
    private var words: SatelliteWords
    private let settings: WyomingSatellite.Settings
    private let audio: AudioHistory
    private let speaker: Speaker?
    /// Who may have the satellite; nil: whoever comes first.
    private let server: SatelliteServer?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 64)
    /// When the last audio was sent.
    private var lastAudio = Clock.now
    private var nextCheck = Clock.now
    /// Since when nothing was read because speech has to be played first, or since Home Assistant was told so.
    private var lastAlive = Clock.now
    /// The signs of life of the owner when they were looked at last, and when there was a new one; since when it has been asked for one.
    private var signs = 0
    private var lastSign = Clock.now
    private var askedAt: Instant?
    /// When it was asked last; nil before the first time.
    private var lastAsk: Instant?
    /// What the log should say of one that did not get the satellite.
    private var notice: String?

    init(
        _ words: SatelliteWords,
        _ settings: WyomingSatellite.Settings,
        _ audio: AudioHistory,
        _ speaker: Speaker?,
        _ server: SatelliteServer? = nil
    ) {
        self.words = words
        self.settings = settings
        self.audio = audio
        self.speaker = speaker
        self.server = server
    }

    deinit { buffer.deallocate() }

    /// Reports and announces other words from now on.
    mutating func update(_ words: SatelliteWords) { self.words = words }

    var state: WyomingSatellite.State {
        switch owner?.conversation.state {
        case nil, .visiting, .waiting: .alone
        case .ready: .ready
        case .streaming: .streaming
        case .paused: .paused
        }
    }

    mutating func add(_ connection: consuming Connection) {
        let now = Clock.now
        let holders = clients.map { holder($0, at: now) }
        switch Self.places.decide(connection.peer, holders) {
        case .welcome: break
        case .replace(let index):
            counts.dropped += 1
            clients.remove(at: index)
        case .full, .peerIsFull:
            counts.refused += 1
            return connection.refuse(
                WyomingAnswer.error("too many clients are connected already", code: "too-many-connections")
            )
        }
        counts.accepted += 1
        clients.append(Client(connection, SatelliteConversation { [speaker] in speaker?.speech(rate: $0) }))
    }

    private func holder(_ client: Client, at now: Instant) -> Places.Holder {
        let isNew = !client.hasSpoken && now - client.start < Self.leastTime
        var holder = client.holder(at: now, isKept: client === owner || isNew)
        if client.conversation.state == .visiting { holder.isSilent = true }
        return holder
    }

    /// What to wait for, and until when; nil: without end.
    func requests(at now: Instant) -> (clients: [pollfd], deadline: Instant?) {
        let requests = clients.map(\.request)
        if clients.contains(where: \.canGoOn) { return (requests, now) }
        let isPlaying = clients.contains { $0.waitsForSpeaker || $0.conversation.isSpeaking }
        if state == .streaming || isPlaying { return (requests, now + Self.audioInterval) }
        return (requests, clients.isEmpty ? nil : nextCheck)
    }

    /// Reads what has come.
    ///
    /// - Parameter requests: the answers to ``requests(at:)``.
    mutating func receive(_ requests: ArraySlice<pollfd>, at now: Instant) {
        for (client, request) in zip(clients, requests) where client.end == nil {
            let mayRun = mayRun(client)
            client.conversation.beginTurn()
            let words = words
            if request.revents != 0 { client.flush(at: now) }
            client.conversation.reportPlayed()
            if client.canGoOn || client.waitsForSpeaker {
                client.proceed(at: now) { client.conversation.advance(&$0, words, mayRun: mayRun) }
            } else if request.revents != 0 {
                client.receive(buffer, at: now) { client.conversation.advance(&$0, words, mayRun: mayRun) }
            } else {
                client.rest(at: now)
            }
            if client === owner { noteSigns(of: client, at: now) }
            if client.conversation.state != .visiting, client.conversation.state != .waiting { give(client, at: now) }
            if client.conversation.takeUnderstood() > 0 { play(words.doneSound) }
        }
        decide(at: now)
        keepAlive(at: now)
    }

    /// The client has the satellite from now on.
    private mutating func give(_ client: Client, at now: Instant) {
        guard client !== owner else { return }
        owner?.finish(.gone)
        owner = client
        (signs, lastSign, askedAt) = (client.conversation.signs, now, nil)
    }

    private mutating func noteSigns(of owner: Client, at now: Instant) {
        guard owner.conversation.signs != signs else { return }
        (signs, lastSign, askedAt) = (owner.conversation.signs, now, nil)
    }

    private mutating func keepAlive(at now: Instant) {
        guard let owner, owner.waitsForSpeaker else {
            lastAlive = now
            return
        }
        guard now - lastAlive >= settings.aliveInterval else { return }
        lastAlive = now
        owner.conversation.reportAlive()
    }

    private func play(_ sound: String?) { if let sound { _ = speaker?.play(sound) } }

    /// Whether a client has the satellite as soon as it asks for it.
    private func mayRun(_ client: Client) -> Bool {
        client === owner || isFree && server == nil
    }

    /// One Home Assistant at a time has the satellite, unless it has paused it.
    private var isFree: Bool {
        guard let owner else { return true }
        return owner.isEnding || owner.conversation.state == .paused
    }

    /// Gives the satellite to one of those that wait for it, or tells them why not.
    private mutating func decide(at now: Instant) {
        var waiting = clients.filter { $0.end == nil && $0.conversation.state == .waiting }
        guard !waiting.isEmpty else { return }
        // One of the owner's machine comes first: Home Assistant connects again, and its connection of before is dead.
        if let peer = owner?.peer { waiting = waiting.filter { $0.peer == peer } + waiting.filter { $0.peer != peer } }
        var counts: [Peer: Int] = [:]
        for client in waiting {
            switch server?.admits(client.address, at: now) ?? .yes {
            case .no: refuseStranger(client, at: now)
            case .notKnown:
                if now - client.start >= settings.limits.timeout { refuseStranger(client, at: now) }
            case .yes:
                counts[client.peer, default: 0] += 1
                let isOwnerThere = isOwnerThere(since: client.start, at: now)
                if isOwnerThere == true || counts[client.peer, default: 0] > Self.mostWaiting {
                    refuseNewcomer(client, at: now)
                } else if isOwnerThere == false {
                    client.conversation.admit()
                    give(client, at: now)
                }
            }
        }
    }

    /// Whether the one that has the satellite is still there; nil: it was asked, and has not answered yet.
    ///
    /// - Parameter start: when the one that wants the satellite has connected: the connection of a Home Assistant that connects again may
    ///   have given a sign just before it died.
    private mutating func isOwnerThere(since start: Instant, at now: Instant) -> Bool? {
        guard let owner, !isFree else { return false }
        // What it says waits behind speech.
        if owner.waitsForSpeaker {
            askedAt = nil
            return true
        }
        if let askedAt { return now - askedAt >= settings.longestSilence ? false : nil }
        if lastSign > start, now - lastSign < settings.signAge { return true }
        if let lastAsk, now - lastAsk < settings.askInterval { return nil }
        owner.conversation.ask()
        (askedAt, lastAsk) = (now, now)
        return nil
    }

    private mutating func refuseNewcomer(_ client: Client, at now: Instant) {
        refuse(
            client,
            "another Home Assistant has this satellite, and keeps it while it answers; disconnect that one, or name the one that may "
                + "have it (wyoming.satelliteServer)",
            code: "satellite-taken",
            at: now
        )
        let holder = owner.map { " \(Self.name($0))" } ?? ""
        notice =
            "\(Self.name(client)) wants the satellite, which\(holder) has and keeps while it answers; wyoming.satelliteServer can name the "
            + "one that may have it"
    }

    private mutating func refuseStranger(_ client: Client, at now: Instant) {
        guard let server else { return }
        refuse(
            client,
            "only the Home Assistant that the satellite's configuration names (wyoming.satelliteServer) may have it",
            code: "satellite-not-for-you",
            at: now
        )
        notice = "\(Self.name(client)) wants the satellite, which \(server.problem)"
    }

    private func refuse(_ client: Client, _ reason: String, code: String, at now: Instant) {
        client.conversation.refuse(reason, code: code)
        client.flush(at: now)
        client.finish(.violation)
    }

    private static func name(_ client: Client) -> String { client.address?.text ?? client.peer.description }

    /// Takes what the log should say of one that did not get the satellite.
    mutating func takeNotice() -> String? {
        defer { notice = nil }
        return notice
    }

    /// Who has the satellite.
    var ownerName: String? { owner.map(Self.name) }

    /// Tells Home Assistant of a word.
    mutating func report(_ event: DetectionEvent) {
        guard let owner, owner.end == nil, words.names.contains(event.name) else { return }
        let rate = Double(AudioFormat.sampleRate)
        let isTaken = owner.conversation.report(
            event.name,
            after: Int((event.end * rate).rounded()),
            decidedAt: Int((event.time * rate).rounded()),
            plays: words.plays
        )
        guard isTaken else { return }
        play(words.heardSound)
        counts.detections += 1
        lastAudio = Clock.now
    }

    /// Sends audio and answers, as far as the system takes them, and removes clients that have ended.
    mutating func send(at now: Instant) {
        for client in clients { client.flush(at: now) }
        if let owner, owner.end == nil { sendAudio(owner.conversation, owner, at: now) }
        let isTime = now >= nextCheck
        if isTime { nextCheck = now + Self.checkInterval }
        guard isTime || clients.contains(where: \.isEnding) else { return }
        for client in clients {
            var limits = settings.limits
            // One that only looks has no reason to stay.
            if [.visiting, .waiting].contains(client.conversation.state) { limits.idle = limits.timeout }
            client.check(at: now, limits, isFull: false)
        }
        if owner?.end != nil { owner = nil }
        counts.dropped += clients.count(where: { $0.end != nil && $0.end != .gone })
        clients.removeAll { $0.end != nil }
    }

    private mutating func sendAudio(_ conversation: SatelliteConversation, _ client: Client, at now: Instant) {
        while let range = conversation.wanted(upTo: audio.count) {
            let samples = audio.samples(range)
            // Older than the history goes back: Home Assistant was too slow.
            guard samples.count == range.count else { return conversation.endAudio() }
            conversation.send(samples)
            client.flush(at: now)
            counts.samples += samples.count
            lastAudio = now
        }
        if conversation.isStreaming, now - lastAudio >= settings.longestGap {
            conversation.endAudio()
            client.flush(at: now)
        }
    }
}
