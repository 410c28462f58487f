import Control
import Core
import Events

/// A conversation with Home Assistant's voice assistant: decides what is sent, played and said, from what happens. A pure value.
///
/// It knows no socket, no clock and no microphone. Each happening gives effects, which its owner carries out in their order.
struct Assistant {
    /// When something happens: on the clock, and the newest sample of the stream.
    struct Moment {
        var now: Instant
        var sample: Int
    }

    enum Effect: Equatable {
        case send(APIAnswer)
        /// Sounds that are played as one, under this number.
        case play(Int, [SoundPlayer.Source])
        /// All sounds up to this one end.
        case stopPlaying(Int)
        case sound(Sound)
        case log(LogLevel, String)
    }

    /// What the owner plays at once.
    enum Sound: Equatable {
        /// A word was heard; its command was understood.
        case heard, done
        case failure
        /// There is nobody to hear the command.
        case lost
    }

    enum Phase: Equatable {
        case idle
        /// Home Assistant was asked to listen to what was said from a sample on, and has not answered.
        case starting(from: Int, since: Instant)
        /// The audio of the command is sent: samples of the stream from `next` up to `end`.
        case listening(next: Int, end: Int)
        /// Home Assistant has all of the command.
        case thinking(since: Instant)
    }

    /// What is played.
    private struct Speaking: Equatable {
        enum Kind: Equatable {
            case answer
            case announcement(startsConversation: Bool)
            case ring
        }

        var id: Int
        var kind: Kind
    }

    /// Samples after a word. Home Assistant's own limit is 15 s of a command.
    static let longestCommand = 30 * AudioFormat.sampleRate
    /// Samples of a message, as devices with ESPHome send them.
    static let chunk = 1024
    static let longestStart = Duration.seconds(5)
    /// Home Assistant listens, but says nothing of it.
    static let longestSilence = Duration.seconds(10)
    static let longestThought = Duration.seconds(60)
    static let longestRing = Duration.seconds(600)
    /// Home Assistant tells the end of a timer; where it does not, because it was started again meanwhile, it rings so much later.
    static let timerGrace = Duration.seconds(3)
    /// Most timers, and most bytes of their names; a house has few.
    static let mostTimers = 64
    private static let longestName = 128

    private(set) var phase = Phase.idle
    private(set) var isConnected = false
    private var speaking: Speaking?
    private var newestID = 0
    /// Since when the newest command is under way without a sign that it is worked on; nil if there was one.
    private var unconfirmedStart: Instant?
    /// Whether an answer of the newest command was played or is.
    private var hasAnswered = false
    /// Where the answer is, told before it is complete.
    private var answerAddress: String?
    /// Whether Home Assistant expects an answer to its answer.
    private var continues = false
    /// Whether the command belongs to a conversation: then silence is no failure.
    private var isContinued = false
    /// Running timers, with the time at which they end.
    private(set) var timers: [String: Instant] = [:]
    /// Since when a timer rings.
    private var ringStart: Instant?
    /// What a ringing timer sounds like.
    var ring = SoundPlayer.Source.chime(.timer)

    /// What the assistant does, as people see it.
    var state: AssistantState {
        if ringStart != nil { return .timer }
        switch phase {
        case .starting, .listening: return .listening
        case .thinking: return speaking == nil ? .thinking : .speaking
        case .idle: return speaking == nil ? .idle : .speaking
        }
    }

    /// When a timer ends; nil without one.
    var nextTimer: Instant? { timers.values.min().map { isConnected ? $0 + Self.timerGrace : $0 } }

    // MARK: - The connection

    mutating func connect() { isConnected = true }

    /// Home Assistant is gone. An answer that is played goes on, and so do timers.
    mutating func disconnect() -> [Effect] {
        guard isConnected else { return [] }
        isConnected = false
        defer { (phase, continues) = (.idle, false) }
        guard phase != .idle else { return [] }
        return [.log(.warning, "Home Assistant has gone while it had a command; say it again"), .sound(.lost)]
    }

    // MARK: - What is said

    /// A word was said that starts a command.
    ///
    /// - Parameters:
    ///   - phrase: as Home Assistant knows it.
    ///   - end: the first sample of the stream after the word.
    mutating func wake(_ phrase: String, after end: Int, at moment: Moment) -> [Effect] {
        guard isConnected else {
            // Whoever says a word to a timer that rings wants it to end.
            if ringStart != nil { return silence() }
            return [
                .log(.warning, "“\(printable(phrase))” was said, but no Home Assistant is connected"), .sound(.lost),
            ]
        }
        guard phase == .idle else { return [] }
        return silence() + [.sound(.heard)] + start(phrase, from: max(0, end), isContinued: false, at: moment)
    }

    /// “Stop” was said, or pressed. Returns nil if there was nothing to stop.
    mutating func stop() -> [Effect]? {
        guard speaking != nil || ringStart != nil else { return nil }
        return silence()
    }

    /// The microphone was muted: nothing of a command follows.
    mutating func mute(at moment: Moment) -> [Effect] {
        switch phase {
        case .starting, .listening:
            phase = .idle
            return [.send(.abort)]
        case .idle, .thinking: return []
        }
    }

    /// A button was pressed or released. What was said before is no part of the command.
    mutating func talk(_ step: TalkStep, at moment: Moment) throws(TalkRefusal) -> [Effect] {
        switch step {
        case .start:
            guard isConnected else { throw .alone }
            guard phase == .idle else { throw .isBusy }
            return silence() + [.sound(.heard)] + start("", from: moment.sample, isContinued: false, at: moment)
        case .end:
            if case .starting = phase {
                phase = .idle
                return [.send(.abort)]
            }
            return endAudio(at: moment)
        case .stop:
            let effects = silence()
            guard phase != .idle else { return effects }
            // An answer that is on its way is not wanted any more.
            (phase, hasAnswered) = (.idle, true)
            return effects + [.send(.abort)]
        case .toggle: return try talk(state == .idle ? .start : .stop, at: moment)
        }
    }

    /// Ends what is played.
    private mutating func silence() -> [Effect] {
        ringStart = nil
        continues = false
        guard let speaking = self.speaking.take() else { return [] }
        let effects = [Effect.stopPlaying(speaking.id)]
        return speaking.kind == .ring || !isConnected ? effects : effects + [.send(.played(true))]
    }

    private mutating func start(_ phrase: String, from sample: Int, isContinued: Bool, at moment: Moment) -> [Effect] {
        (phase, self.isContinued) = (.starting(from: sample, since: moment.now), isContinued)
        (hasAnswered, answerAddress, continues, unconfirmedStart) = (false, nil, false, moment.now)
        return [.send(.start(phrase))]
    }

    // MARK: - What Home Assistant says

    /// It listens, or cannot.
    mutating func answer(isError: Bool, at moment: Moment) -> [Effect] {
        guard case .starting(let sample, _) = phase else { return [] }
        guard !isError else {
            phase = .idle
            return [.log(.warning, "Home Assistant does not listen to commands now"), .sound(.failure)]
        }
        phase = .listening(next: sample, end: sample + Self.longestCommand)
        return []
    }

    mutating func receive(_ event: AssistantEvent, at moment: Moment) -> [Effect] {
        unconfirmedStart = nil
        switch event.kind {
        case .runStart: answerAddress = event.data["url"]
        case .progress: if event.data["tts_start_streaming"] == "1" { return play(answer: answerAddress) }
        case .voiceEnd, .speechEnd:
            guard case .listening = phase else { return [] }
            phase = .thinking(since: moment.now)
            return [.sound(.done)]
        case .intentEnd: continues = event.data["continue_conversation"] == "1"
        case .answerEnd: return play(answer: event.data["url"])
        case .error: return fail(event.data["code"] ?? "", event.data["message"] ?? "")
        case .runEnd:
            if phase != .idle { phase = .idle }
            return goOn(at: moment)
        case .speechStart, .intentStart, .answerStart, .wakeStart, .wakeEnd, .voiceStart, nil: break
        }
        return []
    }

    private mutating func play(answer address: String?) -> [Effect] {
        guard !hasAnswered, let address, !address.isEmpty else { return [] }
        hasAnswered = true
        return play([.address(address)], .answer)
    }

    private mutating func play(_ sources: [SoundPlayer.Source], _ kind: Speaking.Kind) -> [Effect] {
        newestID += 1
        speaking = Speaking(id: newestID, kind: kind)
        return [.play(newestID, sources)]
    }

    /// Another device was nearer, or nobody said anything in a conversation: that is no failure.
    private static let silentCodes: Set = ["duplicate_wake_up_detected", "wake-word-timeout"]

    private mutating func fail(_ code: String, _ message: String) -> [Effect] {
        phase = .idle
        continues = false
        let isQuiet = Self.silentCodes.contains(code) || isContinued && code == "stt-no-text-recognized"
        let line = Effect.log(isQuiet ? .info : .warning, "Home Assistant: \(printable(message)) (\(printable(code)))")
        return isQuiet ? [line] : [line, .sound(.failure)]
    }

    mutating func announce(_ request: AnnounceRequest) -> [Effect] {
        guard phase == .idle else {
            // Who gives a command is not talked into.
            return [.send(.played(false))]
        }
        let sources = [request.before, request.media].filter { !$0.isEmpty }.map(SoundPlayer.Source.address)
        let effects = silence()
        guard !sources.isEmpty else { return effects + [.send(.played(true))] }
        return effects + play(sources, .announcement(startsConversation: request.startsConversation))
    }

    // MARK: - What was played

    mutating func ended(_ end: SoundPlayer.End, at moment: Moment) -> [Effect] {
        guard let speaking, speaking.id == end.id else { return [] }
        self.speaking = nil
        var effects: [Effect] = []
        if let problem = end.problem { effects.append(.log(.error, problem)) }
        switch speaking.kind {
        case .ring: return effects + ringAgain(hasFailed: !end.isWhole)
        case .answer:
            if end.problem != nil { effects.append(.sound(.failure)) }
            if isConnected { effects.append(.send(.played(end.isWhole))) }
            return effects + goOn(at: moment)
        case .announcement(let startsConversation):
            guard isConnected else { return effects }
            effects.append(.send(.played(end.isWhole)))
            guard startsConversation, phase == .idle else { return effects }
            return effects + start("", from: moment.sample, isContinued: true, at: moment)
        }
    }

    /// Listens again, if the answer was heard, the run is over, and an answer is expected.
    private mutating func goOn(at moment: Moment) -> [Effect] {
        guard continues, isConnected, phase == .idle, speaking == nil else { return [] }
        return start("", from: moment.sample, isContinued: true, at: moment)
    }

    // MARK: - Timers

    mutating func receive(_ timer: TimerEvent, at moment: Moment) -> [Effect] {
        switch timer.kind {
        case .started, .updated:
            guard timers[timer.id] != nil || timers.count < Self.mostTimers, timer.id.utf8.count <= Self.longestName
            else { return [] }
            timers[timer.id] = timer.isActive ? moment.now + .seconds(timer.left) : nil
        case .cancelled: timers[timer.id] = nil
        case .finished:
            timers[timer.id] = nil
            return startRing(at: moment.now)
        case nil: break
        }
        return []
    }

    /// Goes on with timers that were kept over a restart.
    ///
    /// - Parameter timers: with the time at which they end, which may be over.
    mutating func restore(_ timers: [String: Instant]) { self.timers = timers }

    private mutating func startRing(at now: Instant) -> [Effect] {
        ringStart = ringStart ?? now
        return ringAgain(hasFailed: false)
    }

    /// A command or an answer is not rung into; see ``tick(at:)``.
    private mutating func ringAgain(hasFailed: Bool) -> [Effect] {
        if hasFailed { ringStart = nil }
        guard ringStart != nil, phase == .idle, speaking == nil else { return [] }
        return play([ring], .ring)
    }

    // MARK: - Time and audio

    /// Ends what takes too long, and rings.
    mutating func tick(at moment: Moment) -> [Effect] {
        var effects: [Effect] = []
        switch phase {
        case .starting(_, let since) where moment.now - since >= Self.longestStart:
            phase = .idle
            effects = [.log(.warning, "Home Assistant does not answer to a word"), .send(.abort), .sound(.failure)]
        case .thinking(let since) where moment.now - since >= Self.longestThought:
            phase = .idle
            effects = [.log(.warning, "Home Assistant does not answer to a command"), .send(.abort), .sound(.failure)]
        case .listening:
            guard let start = unconfirmedStart, moment.now - start >= Self.longestSilence else { break }
            (phase, unconfirmedStart) = (.idle, nil)
            effects = [.log(.warning, "Home Assistant does not start its assistant"), .send(.abort), .sound(.failure)]
        default: break
        }
        let grace = isConnected ? Self.timerGrace : .zero
        let due = timers.filter { moment.now - $0.value >= grace }.keys
        for id in due { timers[id] = nil }
        if !due.isEmpty { ringStart = ringStart ?? moment.now }
        if let start = ringStart, moment.now - start >= Self.longestRing { effects += silence() }
        return effects + ringAgain(hasFailed: false)
    }

    /// The samples to send next, at most a message; nil if there is none now.
    ///
    /// - Parameter count: samples of the stream so far.
    func wanted(upTo count: Int) -> Range<Int>? {
        guard case .listening(let next, let end) = phase else { return nil }
        let last = min(count, end, next + Self.chunk)
        return next < last ? next..<last : nil
    }

    /// The samples that ``wanted(upTo:)`` asked for were sent.
    mutating func sent(_ range: Range<Int>, at moment: Moment) -> [Effect] {
        guard case .listening(_, let end) = phase else { return [] }
        phase = .listening(next: range.upperBound, end: end)
        return range.upperBound >= end ? endAudio(at: moment) : []
    }

    /// Ends the command, because there is no more audio.
    mutating func endAudio(at moment: Moment) -> [Effect] {
        guard case .listening = phase else { return [] }
        phase = .thinking(since: moment.now)
        return [.send(.audioEnd)]
    }
}

/// Why a button starts no command.
enum TalkRefusal: Error, CustomStringConvertible {
    case alone, isBusy, isMuted

    var description: String {
        switch self {
        case .alone: "no Home Assistant is connected"
        case .isBusy: "a command is under way already; beckon talk stop ends it"
        case .isMuted: "the microphone is muted"
        }
    }
}
