import Audio
import Core
import Spotting

/// What one client says and is answered: bytes in, bytes out, and a stream of audio for the detector in between.
///
/// It knows no socket and no clock. The owner gives it bytes by ``advance(_:_:)``, which stops where the next hop is complete, lets the
/// detector process the hop, and reports the detections; so every event takes effect exactly between the hops where it stands.
final class WakeConversation: Conversation {
    /// Where the audio stands.
    private enum Phase {
        case waiting
        /// `audio-start`, or a first chunk, has come.
        case running
        /// `audio-stop` has come: these samples of silence follow before the answer, so that the last word is decided.
        case stopping(silence: Int)
        /// The audio is in a format that cannot be converted; it is dropped until it begins again.
        case refused
    }

    /// Bytes of output from which on no input is read.
    private static let mostOutput = 64 << 10

    let stream: DetectorStream
    var output: [UInt8] = []
    private(set) var events = 0

    private var parser = WyomingParser()
    private var converter = PCMConverter()
    private var phase = Phase.waiting
    private var isChunk = false
    /// Words that the client asked for; nil for all.
    private var wanted: [String]?
    /// Given back in answers.
    private var context: String?
    private var hasDetected = false
    /// Samples of the stream before the audio began.
    private var beginning = 0
    /// A sample of the audio, and the client's time of it in milliseconds.
    private var mark = (sample: 0, milliseconds: 0)
    /// Samples of the audio before the converter began with its format.
    private var formatStart = 0
    /// Called with names of which none is known.
    private let onUnknown: ([String]) -> Void

    init(_ stream: DetectorStream, onUnknown: @escaping ([String]) -> Void) {
        self.stream = stream
        self.onUnknown = onUnknown
    }

    var isWithinEvent: Bool { parser.isWithinEvent }

    /// Uses bytes of the client.
    ///
    /// - Parameter input: what was used is removed from its beginning.
    func advance(
        _ input: inout UnsafeBufferPointer<UInt8>,
        _ words: WakeWords,
        _ detector: inout BatchDetector
    ) -> ConversationPause {
        while true {
            guard !stream.isComplete else { return .hop }
            guard output.count < Self.mostOutput else { return .output }
            do throws(ProtocolViolation) {
                if case .stopping(let silence) = phase {
                    stop(silence)
                } else if parser.payloadLeft > 0 {
                    guard !input.isEmpty else { return .needsInput }
                    takePayload(&input)
                } else {
                    // The filters may hold samples for which the hop before had no room.
                    if isChunk { takeAudio(&input, most: 0) }
                    guard !stream.isComplete else { return .hop }
                    if isChunk { converter.endPiece() }
                    isChunk = false
                    guard let event = try parser.next(&input) else { return .needsInput }
                    events += 1
                    handle(event, words, &detector)
                }
            } catch {
                output += WyomingAnswer.error(error.description, code: "protocol-violation")
                return .end
            }
        }
    }

    /// Tells the client of a word, if it asked for it. Returns whether it did.
    func report(_ detection: Detection, _ words: WakeWords) -> Bool {
        let name = detection.name(labels: words.vocabulary.labels, phrases: words.phrases)
        guard detection.kind == .word || detection.kind == .phrase, wants(name, words) else { return false }
        hasDetected = true
        let sample = Int((detection.time * Double(AudioFormat.sampleRate)).rounded()) - beginning
        let later = (sample - mark.sample) * 1000 / AudioFormat.sampleRate
        output += WyomingAnswer.detection(name, timestamp: mark.milliseconds &+ later, context: context)
        return true
    }

    // MARK: - Events

    private func handle(_ event: WyomingEvent, _ words: WakeWords, _ detector: inout BatchDetector) {
        switch event.kind {
        case .describe: output += words.info
        case .ping: output += WyomingAnswer.pong(event.text)
        case .detect:
            wanted = accepted(event.names, words)
            context = event.context
        case .audioStart: begin(event, &detector)
        case .audioChunk: beginChunk(event, &detector)
        case .audioStop: phase = endOfAudio()
        case .runSatellite, .pauseSatellite, .transcript, .error, .other: break
        }
    }

    /// The words that a client asks for; nil, which is all, where none of them is known.
    private func accepted(_ names: [String]?, _ words: WakeWords) -> [String]? {
        guard let names, !names.isEmpty else { return nil }
        if !names.contains(where: words.names.contains) { onUnknown(names) }
        return names
    }

    /// Decided for each word, because words that are taught later may be among those that a client asked for.
    private func wants(_ name: String, _ words: WakeWords) -> Bool {
        guard let wanted else { return true }
        return wanted.contains(name) || !wanted.contains(where: words.names.contains)
    }

    private func begin(_ event: WyomingEvent, _ detector: inout BatchDetector) {
        hasDetected = false
        detector.reset(stream)
        beginning = stream.sampleCount
        mark = (0, event.timestamp ?? 0)
        phase = .running
        convert(PCMFormat(event, else: .usual))
    }

    private func convert(_ format: PCMFormat?) {
        guard let format else { return refuse() }
        formatStart = audioSamples
        do throws(AudioError) { try converter.begin(format) } catch { refuse() }
    }

    private func refuse() {
        phase = .refused
        output += WyomingAnswer.error(PCMFormat.limits, code: "unsupported-audio")
    }

    private func beginChunk(_ event: WyomingEvent, _ detector: inout BatchDetector) {
        switch phase {
        case .refused: return
        case .waiting: begin(event, &detector)
        case .running:
            // A chunk in another format than the one before: the stream goes on.
            let format = PCMFormat(event, else: converter.format)
            if format != converter.format { convert(format) }
        case .stopping: break
        }
        guard case .running = phase else { return }
        isChunk = true
        // Counted from what was received: filters hold some samples back.
        guard let timestamp = event.timestamp else { return }
        mark = (formatStart + Resampler.outputLength(of: converter.frames, at: converter.format.rate), timestamp)
    }

    /// Samples since the audio began.
    private var audioSamples: Int { stream.sampleCount - beginning }

    private func endOfAudio() -> Phase {
        switch phase {
        case .running where audioSamples > 0:
            // A second after the last word, up to the end of a hop.
            let hop = AudioFormat.hopSamples
            return .stopping(silence: AudioFormat.windowSamples + (hop - audioSamples % hop) % hop)
        case .running, .stopping: return .stopping(silence: 0)
        case .waiting, .refused: return .waiting
        }
    }

    // MARK: - Audio

    private func takePayload(_ input: inout UnsafeBufferPointer<UInt8>) {
        let count = min(input.count, parser.payloadLeft)
        guard isChunk else {
            parser.takePayload(count)
            input = UnsafeBufferPointer(rebasing: input[count...])
            return
        }
        takeAudio(&input, most: count)
    }

    /// Fills the next hop from at most this many bytes.
    private func takeAudio(_ input: inout UnsafeBufferPointer<UInt8>, most: Int) {
        let bytes = UnsafeBufferPointer(rebasing: input[..<most])
        var used = 0
        var hasFailed = false
        stream.fill { room in
            do throws(AudioError) {
                let result = try converter.convert(bytes, into: room)
                used = result.used
                return result.written
            } catch {
                hasFailed = true
                return 0
            }
        }
        if hasFailed {
            isChunk = false
            refuse()
        }
        parser.takePayload(used)
        input = UnsafeBufferPointer(rebasing: input[used...])
    }

    /// Fills the next hop with what the filters hold, then with silence; after the last of it, answers.
    private func stop(_ silence: Int) {
        var written = 0
        stream.fill { room in
            written = (try? converter.drain(into: room)) ?? 0
            return written
        }
        guard written == 0 else { return }
        guard silence > 0 else {
            try? converter.begin(converter.format)
            phase = .waiting
            if !hasDetected { output += WyomingAnswer.notDetected(context: context) }
            return
        }
        stream.fill { room in
            written = min(room.count, silence)
            // What the filters held may have moved the end into a hop, which is filled: only whole hops are processed.
            let count = written == silence ? room.count : written
            for index in 0..<count { room[index] = 0 }
            return count
        }
        stream.endsWithHop = written == silence
        phase = .stopping(silence: silence - written)
    }
}
