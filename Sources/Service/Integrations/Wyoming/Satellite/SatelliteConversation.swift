import Core

/// What Home Assistant says to the satellite on one connection and is answered: bytes in, bytes out, and in between the words that
/// were detected and the audio after them.
///
/// It knows no socket, no clock and no microphone: the owner reports words by ``report(_:after:decidedAt:)`` and gives the samples
/// that ``wanted(upTo:)`` asks for.
final class SatelliteConversation: Conversation {
    enum State: Equatable {
        /// Home Assistant has not asked for words: it may only look what is here.
        case visiting
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

    var isWithinEvent: Bool { parser.isWithinEvent }

    var isStreaming: Bool { if case .streaming = state { true } else { false } }

    /// Begins the client's next turn.
    func beginTurn() { budget.renew() }

    /// Uses bytes of Home Assistant, as far as its turn goes.
    ///
    /// - Parameters:
    ///   - input: what was used is removed from its beginning.
    ///   - mayRun: whether this connection may have the satellite; false while another one has it.
    func advance(
        _ input: inout UnsafeBufferPointer<UInt8>,
        _ words: SatelliteWords,
        mayRun: Bool
    ) -> ConversationPause {
        while true {
            guard output.count < Self.mostOutput else { return .output }
            if parser.payloadLeft > 0 {
                // Speech to play, which a microphone cannot.
                guard !input.isEmpty else { return .needsInput }
                let count = min(input.count, parser.payloadLeft)
                parser.takePayload(count)
                input = UnsafeBufferPointer(rebasing: input[count...])
                continue
            }
            guard !budget.isSpent else { return .turn }
            do throws(ProtocolViolation) {
                guard let event = try parser.next(&input) else { return .needsInput }
                events += 1
                budget.pay(for: event)
                guard event.kind != .runSatellite || mayRun else {
                    output += WyomingAnswer.error("another Home Assistant has this satellite", code: "satellite-taken")
                    return .end
                }
                handle(event, words)
            } catch {
                output += WyomingAnswer.error(error.description, code: "protocol-violation")
                return .end
            }
        }
    }

    private func handle(_ event: WyomingEvent, _ words: SatelliteWords) {
        switch event.kind {
        case .describe: output += words.info
        case .ping: output += WyomingAnswer.pong(event.text)
        case .runSatellite: state = .ready
        case .pauseSatellite: if state != .visiting { state = .paused }
        // The command is complete, or there will be none.
        case .transcript, .error: if isStreaming { state = .ready }
        // The end of speech to play: Home Assistant waits for this answer.
        case .audioStop: output += WyomingAnswer.played
        case .audioStart, .audioChunk, .detect, .other: break
        }
    }

    /// Tells Home Assistant of a word, and that the command follows. Returns false if it does not want words now, or is still
    /// listening to the command after another.
    ///
    /// - Parameters:
    ///   - end: the first sample of the stream after the word.
    ///   - time: the sample of the stream at which the word was decided.
    func report(_ name: String, after end: Int, decidedAt time: Int) -> Bool {
        guard state == .ready else { return false }
        output += WyomingAnswer.detection(name, timestamp: Self.milliseconds(time))
        output += WyomingAnswer.runPipeline
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
