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
    typealias Client = WyomingConnection<SatelliteConversation>

    /// Home Assistant has one connection, or two while it looks what is here; the rest is for others that try.
    private static let mostClients = 8
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
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 64)
    /// When the last audio was sent.
    private var lastAudio = Clock.now
    private var nextCheck = Clock.now
    /// Since when nothing was read because speech has to be played first, or since Home Assistant was told so.
    private var lastAlive = Clock.now

    init(
        _ words: SatelliteWords,
        _ settings: WyomingSatellite.Settings,
        _ audio: AudioHistory,
        _ speaker: Speaker?
    ) {
        self.words = words
        self.settings = settings
        self.audio = audio
        self.speaker = speaker
    }

    deinit { buffer.deallocate() }

    /// Reports and announces other words from now on.
    mutating func update(_ words: SatelliteWords) { self.words = words }

    var state: WyomingSatellite.State {
        switch owner?.conversation.state {
        case nil, .visiting: .alone
        case .ready: .ready
        case .streaming: .streaming
        case .paused: .paused
        }
    }

    mutating func add(_ connection: consuming Connection) {
        let places = Places(all: Self.mostClients, isShared: true)
        let holders = clients.map { $0.holder(at: Clock.now, isKept: $0 === owner) }
        switch places.decide(connection.peer, holders) {
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
            let mayRun = mayRun(client, at: now)
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
            if client.conversation.state != .visiting, client !== owner {
                owner?.finish(.gone)
                owner = client
            }
            if client.conversation.takeUnderstood() > 0 { play(words.doneSound) }
        }
        keepAlive(at: now)
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

    /// One Home Assistant at a time has the satellite, unless it has paused it or is silent.
    private func mayRun(_ client: Client, at now: Instant) -> Bool {
        guard let owner, owner !== client else { return true }
        // What it says waits behind speech.
        let isSilent = !owner.waitsForSpeaker && now - owner.lastInput > settings.longestSilence
        return owner.isEnding || owner.conversation.state == .paused || isSilent
    }

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
            if client.conversation.state == .visiting { limits.idle = limits.timeout }
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
