import Core
import Network
import Playback

/// What Home Assistant says to the satellite on one connection and is answered: bytes in, bytes out, and in between the words that
/// were detected and the audio after them.
///
/// It knows no socket, no clock and no microphone: the owner reports words by ``report(_:after:decidedAt:)`` and gives the samples
/// that ``wanted(upTo:)`` asks for.
final class SatelliteConversation: Conversation {
    enum State: Equatable {
        /// Home Assistant has not asked for words: it may only look what is here.
        case visiting
        /// After `run-satellite`, while it is not decided whether it may have the satellite.
        case waiting
        /// After `run-satellite`: words are reported.
        case ready
        /// The audio after a word is sent: samples of the stream from `next` up to `end`.
        case streaming(next: Int, end: Int)
        /// After `pause-satellite`: nothing is reported or sent.
        case paused
    }

    /// Samples after a word. Home Assistant's own limit is 15 s of a command.
    static let longestStream = 30 * AudioFormat.sampleRate
    /// Bytes of output from which on no input is read.
    private static let mostOutput = 64 << 10

    private(set) var state = State.visiting
    var output: [UInt8] = []
    private(set) var events = 0
    private var parser = WyomingParser()
    private var budget = TurnBudget()
    private var speech: SatelliteSpeech
    /// Whether the payload that is read is speech.
    private var isSpeech = false
    /// An event of the next speech, which waits until the one before was heard.
    private var held: WyomingEvent?
    /// How often Home Assistant has said that it is there: by a ping, or by the answer to one.
    private(set) var signs = 0
    /// Commands that were understood and not taken by ``takeUnderstood()`` yet.
    private var understood = 0

    /// - Parameter speech: begins to play speech of a rate in hertz; nil where that is not possible.
    init(speech: @escaping (Int) -> SpeechStream? = { _ in nil }) { self.speech = SatelliteSpeech(open: speech) }

    var isWithinEvent: Bool { parser.isWithinEvent }

    var isStreaming: Bool { if case .streaming = state { true } else { false } }

    /// Begins the client's next turn.
    func beginTurn() { budget.renew() }

    /// Whether it waits until speech was played.
    var isSpeaking: Bool { speech.isEnding }

    /// Tells Home Assistant that its speech was heard, once it was.
    func reportPlayed() {
        guard speech.isPlayed else { return }
        output += WyomingAnswer.played
        speech.close()
    }

    /// Tells Home Assistant that the satellite is there while nothing is read of what it sends. It connects again where it gets nothing for
    /// five seconds, and its pings wait behind the speech.
    func reportAlive() { if output.isEmpty { output += WyomingAnswer.playing } }

    /// How many commands Home Assistant has understood since the last call.
    func takeUnderstood() -> Int {
        defer { understood = 0 }
        return understood
    }

    /// Uses bytes of Home Assistant, as far as its turn goes.
    ///
    /// - Parameters:
    ///   - input: what was used is removed from its beginning.
    ///   - mayRun: whether this connection may have the satellite at once; else it waits for ``admit()`` or ``refuse(_:code:)``.
    func advance(
        _ input: inout UnsafeBufferPointer<UInt8>,
        _ words: SatelliteWords,
        mayRun: Bool
    ) -> ConversationPause {
        while true {
            guard output.count < Self.mostOutput else { return .output }
            if let event = held {
                reportPlayed()
                guard !speech.isEnding else { return .speaker }
                held = nil
                guard execute(event, words) else { return .end }
                continue
            }
            if parser.payloadLeft > 0 {
                guard !input.isEmpty else { return .needsInput }
                var count = min(input.count, parser.payloadLeft)
                if isSpeech { count = speech.take(UnsafeBufferPointer(rebasing: input[..<count])) }
                guard count > 0 else { return .speaker }
                parser.takePayload(count)
                input = UnsafeBufferPointer(rebasing: input[count...])
                continue
            }
            guard !budget.isSpent else { return .turn }
            do throws(ProtocolViolation) {
                guard let event = try parser.next(&input) else { return .needsInput }
                events += 1
                budget.pay(for: event)
                if event.kind == .runSatellite, !mayRun, state == .visiting || state == .waiting {
                    state = .waiting
                } else if speech.isEnding, [.audioStart, .audioChunk, .audioStop].contains(event.kind) {
                    held = event
                } else if !execute(event, words) {
                    return .end
                }
            } catch {
                refuse(error)
                return .end
            }
        }
    }

    /// Gives the satellite to one that waits for it.
    func admit() { if state == .waiting { state = .ready } }

    /// Tells Home Assistant why it does not get what it wants.
    func refuse(_ reason: String, code: String) { output += WyomingAnswer.error(reason, code: code) }

    /// Asks Home Assistant whether it is there; see ``signs``.
    func ask() { output += WyomingAnswer.ping }

    private func refuse(_ violation: ProtocolViolation) { refuse(violation.description, code: "protocol-violation") }

    /// Returns false where it breaks the protocol.
    private func execute(_ event: WyomingEvent, _ words: SatelliteWords) -> Bool {
        do throws(ProtocolViolation) {
            try handle(event, words)
            return true
        } catch {
            refuse(error)
            return false
        }
    }

    private func handle(_ event: WyomingEvent, _ words: SatelliteWords) throws(ProtocolViolation) {
        isSpeech = event.kind == .audioChunk
        switch event.kind {
        case .describe: output += words.info
        case .ping:
            signs += 1
            output += WyomingAnswer.pong(event.text)
        case .pong: signs += 1
        case .runSatellite: state = .ready
        case .pauseSatellite: state = state == .visiting || state == .waiting ? .visiting : .paused
        // The command is complete, or there will be none.
        case .transcript, .error:
            if event.kind == .transcript, isStreaming { understood += 1 }
            if isStreaming { state = .ready }
        case .audioStart: try speech.begin(event, isNew: true)
        case .audioChunk: try speech.begin(event, isNew: false)
        case .audioStop:
            // Home Assistant waits for the answer, which comes at once where nothing is played.
            speech.end()
            reportPlayed()
        case .detect, .info, .other: break
        }
    }

    /// Tells Home Assistant of a word, and that the command follows; an answer that is played ends. Returns false if it does not want
    /// words now, or is still listening to the command after another.
    ///
    /// - Parameters:
    ///   - end: the first sample of the stream after the word.
    ///   - time: the sample of the stream at which the word was decided.
    ///   - plays: whether the answer can be played.
    func report(_ name: String, after end: Int, decidedAt time: Int, plays: Bool = false) -> Bool {
        guard state == .ready else { return false }
        output += WyomingAnswer.detection(name, timestamp: Self.milliseconds(time))
        output += WyomingAnswer.runPipeline(plays: plays)
        speech.interrupt()
        state = .streaming(next: max(0, end), end: max(0, end) + Self.longestStream)
        return true
    }

    /// The samples to send next, at most a block; nil if there is none now, or what was sent before still waits: what Home Assistant
    /// does not take must not pile up, nor go out after a pause.
    ///
    /// - Parameter count: samples of the stream so far.
    func wanted(upTo count: Int) -> Range<Int>? {
        guard case .streaming(let next, let end) = state, output.isEmpty else { return nil }
        let last = min(count, end, next + AudioFormat.hopSamples)
        return next < last ? next..<last : nil
    }

    /// Sends the samples that ``wanted(upTo:)`` asked for, and ends the stream after the last that it may have.
    func send(_ samples: [Float]) {
        guard case .streaming(let next, let end) = state else { return }
        output += WyomingAnswer.audioChunk(samples, timestamp: Self.milliseconds(next))
        state = .streaming(next: next + samples.count, end: end)
        if next + samples.count >= end { endAudio() }
    }

    /// Ends the stream early, because there is no more audio.
    func endAudio() {
        guard case .streaming(let next, _) = state else { return }
        output += WyomingAnswer.audioStop(timestamp: Self.milliseconds(next))
        state = .ready
    }

    private static func milliseconds(_ sample: Int) -> Int { sample * 1000 / AudioFormat.sampleRate }
}
