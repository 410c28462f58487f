import Audio
import Configuration
import Control
import Core
import Events
import Glibc
import IntegrationInterface
import Network
import Playback
import Spotting
import System

/// The work of the satellite's thread: reads what Home Assistant sends, and sends it words, audio and states.
///
/// Used by one thread.
struct ESPHomeLoop: ~Copyable {
    typealias Client = ClientConnection<APIConversation>

    /// Home Assistant has one connection, or two while it is set up; the rest is for others that look.
    private static let places = Places(all: 64, perPeer: 32, isShared: true)
    private static let bufferSize = 16 << 10
    /// How often there may be new audio to send.
    private static let audioInterval = Duration.milliseconds(20)
    private static let checkInterval = Duration.milliseconds(500)

    private var counts = ESPHomeSatellite.Counts()
    private(set) var clients: [Client] = []
    private var ownership: Ownership
    private var assistant = Assistant()
    private var words: AssistantWords
    private var media: MediaPlayer
    private var store: DeviceStore
    private var offers: OfferDesk
    private var configuration: Configuration.ESPHome
    private var serviceSettings: ServiceSettings
    private let identity: DeviceIdentity
    private let settings: ESPHomeSatellite.Settings
    private let outlets: SatelliteOutlets
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 64)
    private var nextCheck = Clock.now
    /// When the last audio was sent.
    private var lastAudio = Clock.now
    private var board = EntityBoard()
    private var wasMuted = false
    /// The state that was told last.
    private var told: AssistantState?
    /// The timers that the store has.
    private var keptTimers: [String: Instant] = [:]

    init(
        _ identity: DeviceIdentity,
        _ settings: ESPHomeSatellite.Settings,
        _ store: DeviceStore,
        _ outlets: SatelliteOutlets
    ) {
        (self.identity, self.settings, self.store, self.outlets) = (identity, settings, store, outlets)
        ownership = Ownership(longestSilence: settings.longestSilence)
        serviceSettings = outlets.service.currentSettings
        configuration = serviceSettings.configuration.esphome
        offers = OfferDesk(state: settings.folder, report: outlets.fetched)
        words = AssistantWords([], chosen: nil, usual: [])
        media = MediaPlayer(outlets.music, outlets.answers, volume: store.volume)
    }

    /// To be called once, before all else.
    // Not in `init`, where Swift 6.2 lets no mutating method of a type with a constant be called.
    mutating func begin() {
        useSettings()
        let now = Clock.now
        let (timers, missed) = store.timers(at: now, date: .now)
        keptTimers = timers
        assistant.restore(timers)
        if missed > 0 { outlets.service.log.write(.warning, "ESPHome: \(counted(missed, "timer")) ended long ago") }
        refresh(at: now)
    }

    deinit { buffer.deallocate() }

    /// The Home Assistant that hears commands.
    private var owner: Client? { ownership.owner }

    var currentCounts: ESPHomeSatellite.Counts {
        var counts = counts
        counts.connections = clients.count
        counts.state = owner == nil && assistant.state == .idle ? "alone" : assistant.state.rawValue
        return counts
    }

    /// Uses other words and sounds from now on.
    mutating func update(_ settings: ServiceSettings) {
        serviceSettings = settings
        configuration = settings.configuration.esphome
        useSettings()
    }

    private mutating func useSettings() {
        let kept = settings.folder.map(OfferedModels.folder)
        words = AssistantWords(serviceSettings, chosen: store.active, offered: offers.words, kept: kept)
        assistant.ring = configuration.timerSound.map { .file($0) } ?? .chime(.timer)
    }

    // MARK: - Connections

    mutating func add(_ connection: consuming Connection) {
        let now = Clock.now
        let holders = clients.map { $0.holder(isOwner: $0 === owner, at: now) }
        switch Self.places.decide(connection.peer, holders) {
        case .welcome: break
        case .replace(let index):
            counts.dropped += 1
            clients.remove(at: index)
        case .full, .peerIsFull:
            counts.refused += 1
            // There is no message for it before a greeting.
            return connection.refuse([])
        }
        counts.accepted += 1
        clients.append(Client(connection, APIConversation(identity, key: settings.key)))
    }

    /// What to wait for, and until when; nil: without end.
    func requests(at now: Instant) -> (clients: [pollfd], deadline: Instant?) {
        let requests = clients.map(\.request)
        if clients.contains(where: \.canGoOn) { return (requests, now) }
        if case .listening = assistant.phase { return (requests, now + Self.audioInterval) }
        return (requests, min(nextCheck, assistant.nextTimer ?? nextCheck))
    }

    /// Reads what has come.
    ///
    /// - Parameter requests: the answers to ``requests(at:)``.
    mutating func receive(_ requests: ArraySlice<pollfd>, at now: Instant) {
        for (client, request) in zip(clients, requests) where client.end == nil {
            client.conversation.beginTurn()
            if request.revents != 0 { client.flush(at: now) }
            if client.canGoOn {
                client.proceed(at: now) { client.conversation.advance(&$0) }
            } else if request.revents != 0 {
                client.receive(buffer, at: now) { client.conversation.advance(&$0) }
            } else {
                client.rest(at: now)
            }
            for request in client.conversation.takeRequests() { answer(request, client, at: now) }
        }
        carryOut(ownership.decide(clients, at: now))
    }

    private mutating func carryOut(_ changes: [Ownership.Change]) {
        let log = outlets.service.log
        for change in changes {
            switch change {
            case .gained(let client):
                assistant.connect()
                log.write(.notice, "Home Assistant is connected to the satellite from \(Self.name(client))")
            case .lost:
                log.write(.notice, "Home Assistant is no longer connected to the satellite")
                carryOut(assistant.disconnect())
            }
        }
    }

    private static func name(_ client: Client) -> String { client.address?.text ?? client.peer.description }

    // MARK: - Requests

    private func moment(_ now: Instant) -> Assistant.Moment { .init(now: now, sample: outlets.audio.count) }

    private mutating func answer(_ request: APIRequest, _ client: Client, at now: Instant) {
        switch request {
        case .listEntities:
            refresh(at: now)
            for message in board.entities.list { client.conversation.send(message) }
            client.conversation.send(.listDone)
        case .turn(let key, let isOn):
            if board.entities.target(key) == .mute { outlets.perform(isOn ? .mute : .unmute) }
        case .number(let key, let value):
            guard case .threshold(let word) = board.entities.target(key), value > 0, value < 1 else { return }
            outlets.perform(.set(ThresholdChange(words: [word: .confidence(value)])))
        case .mediaPlayer(let command):
            guard board.entities.target(command.key) == .player else { return }
            media.execute(command)
            if store.volume != media.volume {
                store.volume = media.volume
                save()
            }
        case .configuration(let offered):
            if client === owner || owner == nil && client.conversation.wantsAssistant {
                offers.note(offered, from: client.address)
                useSettings()
                // After a restart, or where Home Assistant has another model by now.
                if let active = store.active { fetchOffers(active) }
            }
            client.conversation.send(.configuration(words.available, active: words.active, most: AssistantWords.most))
        case .activate(let ids): choose(Array(ids.prefix(AssistantWords.most)))
        case .answered, .event, .timer, .announce: answerOwner(request, client, at: now)
        case .hello, .authentication, .disconnect, .ping, .pong, .deviceInfo, .subscribeStates, .subscribeAssistant,
            .other:
            break
        }
    }

    private mutating func choose(_ ids: [String]) {
        store.active = ids
        useSettings()
        save()
        fetchOffers(ids)
    }

    private mutating func fetchOffers(_ ids: [String]) {
        do throws(SocketError) {
            let known = serviceSettings.wordThresholds.map(\.word)
            if try offers.choose(ids, known: known.contains) { outlets.perform(.reload) }
        } catch {
            outlets.service.log.write(.error, "ESPHome: no model is fetched: \(error)")
        }
    }

    /// The model of a word that Home Assistant offers was fetched, or not.
    mutating func fetched(_ result: OfferedFetcher.Result) {
        guard let problem = result.problem else { return outlets.perform(.reload) }
        let text = "ESPHome: the model of \(printable(result.id)) is not used: \(printable(problem))"
        outlets.service.log.write(.error, text)
        play(.failure)
        guard !serviceSettings.wordThresholds.contains(where: { $0.word == result.id }) else { return }
        store.active?.removeAll { $0 == result.id }
        useSettings()
        save()
    }

    /// What only the Home Assistant that hears commands may say.
    private mutating func answerOwner(_ request: APIRequest, _ client: Client, at now: Instant) {
        guard client === owner else { return }
        let moment = moment(now)
        switch request {
        case .answered(let isError): carryOut(assistant.answer(isError: isError, at: moment))
        case .event(let event): carryOut(assistant.receive(event, at: moment))
        case .timer(let timer):
            carryOut(assistant.receive(timer, at: moment))
            keepTimers(at: now)
        case .announce(let request): carryOut(assistant.announce(request))
        default: break
        }
    }

    /// Keeps running timers over a restart.
    private mutating func keepTimers(at now: Instant) {
        guard assistant.timers != keptTimers else { return }
        keptTimers = assistant.timers
        store.keep(keptTimers, at: now, date: .now)
        save()
    }

    private func save() {
        guard let folder = settings.folder else { return }
        do throws(SystemError) {
            try store.write(to: folder)
        } catch {
            outlets.service.log.write(
                .warning,
                "ESPHome: \(printable(folder))/esphome.json: \(error); a restart forgets it"
            )
        }
    }

    // MARK: - Words, sounds and time

    /// Tells Home Assistant of a word.
    mutating func report(_ event: DetectionEvent, at now: Instant) {
        board.note(event)
        refresh(at: now)
        if event.name == configuration.stopWord {
            if let effects = assistant.stop() { return carryOut(effects) }
            if media.stopAnnouncement() { return }
        }
        guard let word = words.starting(event.name) else { return }
        let end = Int((event.end * Double(AudioFormat.sampleRate)).rounded())
        let before = assistant.phase
        carryOut(assistant.wake(word.phrase, after: end, at: moment(now)))
        if assistant.phase != before { counts.commands += 1 }
    }

    /// Carries out what a button says. Returns why not, if it does not.
    mutating func talk(_ step: TalkStep, at now: Instant) -> TalkRefusal? {
        refresh(at: now)
        let before = assistant.phase
        do throws(TalkRefusal) {
            if step == .start || step == .toggle && assistant.state == .idle, wasMuted { throw .isMuted }
            carryOut(try assistant.talk(step, at: moment(now)))
        } catch {
            return error
        }
        if before == .idle, assistant.phase != before { counts.commands += 1 }
        return nil
    }

    mutating func ended(_ end: SoundPlayer.End, at now: Instant) {
        if media.announcementEnded(end) { return }
        carryOut(assistant.ended(end, at: moment(now)))
    }

    mutating func musicEnded(_ end: SoundPlayer.End) {
        if let problem = media.musicEnded(end) { outlets.service.log.write(.error, problem) }
    }

    private mutating func carryOut(_ effects: [Assistant.Effect]) {
        for effect in effects {
            switch effect {
            case .send(let answer): owner?.conversation.send(answer)
            case .play(let id, let sources):
                guard !media.say(id, sources) else { continue }
                carryOut(assistant.ended(.init(id: id, isWhole: false), at: moment(Clock.now)))
            case .stopPlaying(let id): media.stopSaying(id)
            case .sound(let sound): play(sound)
            case .log(let level, let text): outlets.service.log.write(level, text)
            }
        }
        media.hold(assistant.state != .idle)
        tellState()
    }

    /// Tells what the assistant does, for lights.
    private mutating func tellState() {
        let state = assistant.state == .idle && wasMuted ? .muted : assistant.state
        outlets.ducker?.duck(assistant.state != .idle || media.player.state == .announcing)
        guard state != told else { return }
        told = state
        outlets.service.tell(AssistantChange(state))
    }

    private mutating func play(_ sound: Assistant.Sound) {
        if sound == .failure || sound == .lost { outlets.service.tell(AssistantChange(.error)) }
        if let file = configuration.file(of: sound) {
            _ = outlets.service.speaker?.play(file)
        } else if sound == .failure || sound == .lost {
            media.chime(sound == .lost ? .lost : .failure)
        }
    }

    // MARK: - States and audio

    /// Makes the entities anew.
    private mutating func refresh(at now: Instant) {
        let state = outlets.service.state
        board.refresh(state, player: identity.plays ? media.player : nil, at: now)
        let isMuted = state.isMuted == true
        if isMuted, !wasMuted { carryOut(assistant.mute(at: moment(now))) }
        wasMuted = isMuted
        tellState()
    }

    /// Sends audio, states and answers, as far as the system takes them, and removes clients that have ended.
    mutating func send(at now: Instant) {
        for client in clients { client.flush(at: now) }
        if let owner, owner.end == nil { sendAudio(owner, at: now) }
        let isTime = now >= nextCheck
        if isTime {
            nextCheck = now + Self.checkInterval
            carryOut(assistant.tick(at: moment(now)))
            refresh(at: now)
        } else if let timer = assistant.nextTimer, timer <= now {
            carryOut(assistant.tick(at: moment(now)))
        }
        keepTimers(at: now)
        board.send(to: clients)
        for client in clients { client.flush(at: now) }
        guard isTime || clients.contains(where: \.isEnding) else { return }
        for client in clients { client.check(settings, interval: Self.checkInterval, at: now) }
        if let owner, owner.end != nil { carryOut(ownership.lose()) }
        counts.dropped += clients.count(where: { $0.end != nil && $0.end != .gone })
        counts.wrongKeys += clients.count(where: { $0.end != nil && $0.conversation.hasWrongKey })
        clients.removeAll { $0.end != nil }
    }

    private mutating func sendAudio(_ client: Client, at now: Instant) {
        while client.conversation.output.isEmpty, let range = assistant.wanted(upTo: outlets.audio.count) {
            let samples = outlets.audio.samples(range)
            // Older than the history goes back: Home Assistant was too slow.
            guard samples.count == range.count else { return carryOut(assistant.endAudio(at: moment(now))) }
            client.conversation.send(.audio(samples))
            client.flush(at: now)
            counts.samples += samples.count
            lastAudio = now
            carryOut(assistant.sent(range, at: moment(now)))
        }
        guard case .listening = assistant.phase else {
            lastAudio = now
            return
        }
        if now - lastAudio >= settings.longestGap { carryOut(assistant.endAudio(at: moment(now))) }
    }

    /// Tells all clients that the satellite ends.
    mutating func close() {
        offers.close()
        for client in clients where client.conversation.hasIntroduced {
            client.conversation.send(.disconnect)
            client.flush(at: Clock.now)
        }
    }
}
