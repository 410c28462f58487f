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
    /// One that has said nothing yet keeps its place so long.
    private static let leastTime = Duration.milliseconds(200)
    private static let bufferSize = 16 << 10
    /// How often there may be new audio to send.
    private static let audioInterval = Duration.milliseconds(20)
    private static let checkInterval = Duration.milliseconds(500)
    /// How often the level of the microphone is told.
    private static let levelInterval = Duration.seconds(5)

    private var counts = ESPHomeSatellite.Counts()
    private(set) var clients: [Client] = []
    /// The Home Assistant that hears commands.
    private var owner: Client?
    private var assistant = Assistant()
    private var words: AssistantWords
    private var media: MediaPlayer
    private var store: DeviceStore
    private var configuration: Configuration.ESPHome
    private var serviceSettings: ServiceSettings
    private let identity: DeviceIdentity
    private let settings: ESPHomeSatellite.Settings
    private let outlets: SatelliteOutlets
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 64)
    private var nextCheck = Clock.now
    /// When the last audio was sent.
    private var lastAudio = Clock.now
    /// The signs of life of the owner when it was asked for one, and when that was.
    private var asked: (signs: Int, time: Instant)?
    private var entities = DeviceEntities(.init())
    private var shown = DeviceEntities.State()
    private var nextLevel = Clock.now
    private var wasMuted = false
    /// The state that clients of the control socket were told last.
    private var told = AssistantState.idle.rawValue

    init(
        _ identity: DeviceIdentity,
        _ settings: ESPHomeSatellite.Settings,
        _ store: DeviceStore,
        _ outlets: SatelliteOutlets
    ) {
        (self.identity, self.settings, self.store, self.outlets) = (identity, settings, store, outlets)
        serviceSettings = outlets.service.currentSettings
        configuration = serviceSettings.configuration.esphome
        words = AssistantWords(serviceSettings, chosen: store.active)
        media = MediaPlayer(outlets.music, outlets.answers, volume: store.volume)
    }

    /// To be called once, before all else.
    // Not in `init`, where Swift 6.2 lets no mutating method of a type with a constant be called.
    mutating func begin() {
        setSounds()
        refresh(at: Clock.now)
    }

    deinit { buffer.deallocate() }

    var currentCounts: ESPHomeSatellite.Counts {
        var counts = counts
        counts.connections = clients.count
        counts.state = owner == nil ? "alone" : assistant.state.rawValue
        return counts
    }

    /// Uses other words and sounds from now on.
    mutating func update(_ settings: ServiceSettings) {
        serviceSettings = settings
        configuration = settings.configuration.esphome
        words = AssistantWords(settings, chosen: store.active)
        setSounds()
    }

    private mutating func setSounds() {
        assistant.ring = configuration.timerSound.map { .file($0) } ?? .chime(.timer)
    }

    // MARK: - Connections

    mutating func add(_ connection: consuming Connection) {
        let now = Clock.now
        let holders = clients.map { client in
            let isNew = !client.hasSpoken && now - client.start < Self.leastTime
            var holder = client.holder(at: now, isKept: client === owner || isNew)
            if client !== owner, !client.conversation.wantsStates { holder.isSilent = true }
            return holder
        }
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
        let isNeeded = !clients.isEmpty || assistant.isBusy
        return (requests, [isNeeded ? nextCheck : nil, assistant.nextTimer].compactMap(\.self).min())
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
        decide(at: now)
    }

    /// Gives the satellite to one that wants it, if it is free.
    private mutating func decide(at now: Instant) {
        if let owner, owner.isEnding || !owner.conversation.wantsAssistant { loseOwner() }
        let waiting = clients.filter { !$0.isEnding && $0 !== owner && $0.conversation.wantsAssistant }
        guard !waiting.isEmpty else {
            asked = nil
            return
        }
        if let owner {
            // One that has lost its network does not say so.
            guard let question = asked else {
                owner.conversation.send(.ping)
                asked = (owner.conversation.signs, now)
                return
            }
            guard owner.conversation.signs == question.signs else {
                // It is there; the others may look. They are asked about again as long as they wait.
                if now - question.time >= settings.longestSilence { asked = nil }
                return
            }
            guard now - question.time >= settings.longestSilence else { return }
            owner.finish(.gone)
            loseOwner()
        }
        // The newest of those at the last one's address is the same Home Assistant, which has connected again.
        guard let new = waiting.last else { return }
        (owner, asked) = (new, nil)
        assistant.connect()
        outlets.service.log.write(.notice, "Home Assistant is connected to the satellite from \(Self.name(new))")
    }

    private mutating func loseOwner() {
        owner = nil
        asked = nil
        outlets.service.log.write(.notice, "Home Assistant is no longer connected to the satellite")
        carryOut(assistant.disconnect())
    }

    private static func name(_ client: Client) -> String { client.address?.text ?? client.peer.description }

    // MARK: - Requests

    private func moment(_ now: Instant) -> Assistant.Moment { .init(now: now, sample: outlets.audio.count) }

    private mutating func answer(_ request: APIRequest, _ client: Client, at now: Instant) {
        switch request {
        case .listEntities:
            refresh(at: now)
            for message in entities.list { client.conversation.send(message) }
            client.conversation.send(.listDone)
        case .turn(let key, let isOn):
            if entities.target(key) == .mute { outlets.perform(isOn ? .mute : .unmute) }
        case .number(let key, let value):
            guard case .threshold(let word) = entities.target(key), value > 0, value < 1 else { return }
            outlets.perform(.set(ThresholdChange(words: [word: .confidence(value)])))
        case .mediaPlayer(let command):
            guard entities.target(command.key) == .player else { return }
            media.execute(command)
            if store.volume != media.volume {
                store.volume = media.volume
                save()
            }
        case .configuration:
            client.conversation.send(.configuration(words.available, active: words.active, most: AssistantWords.most))
        case .activate(let ids):
            store.active = Array(ids.prefix(AssistantWords.most))
            words = AssistantWords(serviceSettings, chosen: store.active)
            save()
        case .answered, .event, .timer, .announce: answerOwner(request, client, at: now)
        case .hello, .authentication, .disconnect, .ping, .pong, .deviceInfo, .subscribeStates, .subscribeAssistant,
            .other:
            break
        }
    }

    /// What only the Home Assistant that hears commands may say.
    private mutating func answerOwner(_ request: APIRequest, _ client: Client, at now: Instant) {
        guard client === owner else { return }
        let moment = moment(now)
        switch request {
        case .answered(let isError): carryOut(assistant.answer(isError: isError, at: moment))
        case .event(let event): carryOut(assistant.receive(event, at: moment))
        case .timer(let timer): carryOut(assistant.receive(timer, at: moment))
        case .announce(let request): carryOut(assistant.announce(request))
        default: break
        }
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
        shown.lastWord = event.name
        shown.ratio = event.sound?.signalToNoise
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

    /// Tells clients of the control socket what the assistant does, for lights.
    private mutating func tellState() {
        let state = assistant.state == .idle && wasMuted ? "muted" : assistant.state.rawValue
        guard state != told else { return }
        told = state
        outlets.tell(state)
    }

    private mutating func play(_ sound: Assistant.Sound) {
        if sound == .failure || sound == .lost { outlets.tell("error") }
        let file: String? =
            switch sound {
            case .heard: configuration.heardSound
            case .done: configuration.doneSound
            case .failure, .lost: configuration.errorSound
            }
        if let file {
            _ = outlets.service.speaker?.play(file)
        } else if sound == .failure || sound == .lost {
            media.chime(sound == .lost ? .lost : .failure)
        }
    }

    // MARK: - States and audio

    /// Makes the entities anew.
    private mutating func refresh(at now: Instant) {
        let state = outlets.service.state
        shown.words = state.words.map { .init(name: $0.name, threshold: $0.threshold) }
        shown.isMuted = state.isMuted
        if now >= nextLevel {
            shown.level = state.level.map { ($0 * 2).rounded() / 2 }
            nextLevel = now + Self.levelInterval
        }
        shown.player = identity.plays ? media.player : nil
        entities = DeviceEntities(shown)
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
            if !clients.isEmpty { refresh(at: now) }
        } else if let timer = assistant.nextTimer, timer <= now {
            carryOut(assistant.tick(at: moment(now)))
        }
        sendStates()
        for client in clients { client.flush(at: now) }
        guard isTime || clients.contains(where: \.isEnding) else { return }
        for client in clients { check(client, at: now) }
        if let owner, owner.end != nil { loseOwner() }
        counts.dropped += clients.count(where: { $0.end != nil && $0.end != .gone })
        counts.wrongKeys += clients.count(where: { $0.end != nil && $0.conversation.hasWrongKey })
        clients.removeAll { $0.end != nil }
    }

    private func check(_ client: Client, at now: Instant) {
        if client.conversation.isLeaving { client.finish(.gone) }
        if now - client.lastInput >= settings.pingInterval, client.conversation.hasIntroduced,
            client.conversation.output.isEmpty, now - client.lastInput < settings.pingInterval + Self.checkInterval
        {
            client.conversation.send(.ping)
        }
        client.check(at: now, settings.limits, isFull: false)
    }

    private func sendStates() {
        for client in clients where client.conversation.wantsStates && client.conversation.isKeepingUp {
            for (key, answer) in entities.states where client.conversation.known[key] != answer {
                client.conversation.known[key] = answer
                client.conversation.send(answer)
            }
        }
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
        for client in clients where client.conversation.hasIntroduced {
            client.conversation.send(.disconnect)
            client.flush(at: Clock.now)
        }
    }
}
