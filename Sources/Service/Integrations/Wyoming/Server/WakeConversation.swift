import Audio
import Core
import Network
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

    /// Made when audio begins: who sends none costs the server little.
    private(set) var stream: DetectorStream?
    var output: [UInt8] = []
    private(set) var events = 0

    private var parser = WyomingParser()
    private var converter = PCMConverter()
    private var budget = TurnBudget()
    private var phase = Phase.waiting
    private var isChunk = false
    /// The names that the client asked for; nil for all words.
    private var names: [String]?
    /// The words that are meant by them, of the words with this number, each with the name that the client has for it; nil for all.
    private var wanted: (words: [String: String]?, number: Int) = (nil, 0)
    /// Given back in answers.
    private var context: String?
    /// Whether the client was told of a word, or that there is none, since the audio began.
    private var hasAnswered = false
    /// Samples of the stream before the audio began.
    private var beginning = 0
    /// A sample of the audio, and the client's time of it in milliseconds.
    private var mark = (sample: 0, milliseconds: 0)
    /// Samples of the audio before the converter began with its format.
    private var formatStart = 0
    /// Hops of audio since ``tellOfChannels()`` looked; whether it has told.
    private var unheardHops = 0
    private var hasToldOfChannels = false
    private let onNotice: (WakeNotice) -> Void
    /// Nil where clients are told of their words alone.
    private let recorder: ClientRecorder?
    /// Hops of audio after which it looks again.
    private static let comparedHops = 50
    /// Most names of a `detect`; there are never so many words.
    private static let mostNames = 1024

    /// - Parameters:
    ///   - recorder: keeps the client's words with their sound, and what others look at.
    ///   - onNotice: called with what is worth a line of the log.
    init(recorder: ClientRecorder? = nil, onNotice: @escaping (WakeNotice) -> Void) {
        (self.recorder, self.onNotice) = (recorder, onNotice)
    }

    var isWithinEvent: Bool { parser.isWithinEvent }

    /// Whether a hop must be processed before the next bytes are used.
    private var isHopComplete: Bool { stream?.isComplete ?? false }

    /// Begins the client's next turn.
    func beginTurn() { budget.renew() }

    /// Uses bytes of the client, as far as its turn goes.
    ///
    /// - Parameter input: what was used is removed from its beginning.
    func advance(
        _ input: inout UnsafeBufferPointer<UInt8>,
        _ words: AnnouncedWords,
        _ detector: inout BatchDetector
    ) -> ConversationPause {
        follow(words)
        while true {
            guard !isHopComplete else { return .hop }
            guard output.count < Self.mostOutput else { return .output }
            do throws(ProtocolViolation) {
                if case .stopping(let silence) = phase {
                    stop(silence)
                } else if parser.payloadLeft > 0 {
                    guard !input.isEmpty else { return .needsInput }
                    if isChunk, converter.needsFilter {
                        guard !budget.isSpent else { return .turn }
                        budget.spend()
                    }
                    takePayload(&input)
                } else {
                    // The filters may hold samples for which the hop before had no room.
                    if isChunk { takeAudio(&input, most: 0) }
                    guard !isHopComplete else { return .hop }
                    isChunk = false
                    guard !budget.isSpent || input.isEmpty else { return .turn }
                    guard let event = try parser.next(&input) else { return .needsInput }
                    events += 1
                    budget.pay(for: event)
                    handle(event, words, &detector)
                }
            } catch {
                output += WyomingAnswer.error(error.description, code: "protocol-violation")
                return .end
            }
        }
    }

    /// Tells the client of a word, if it asked for it. Returns whether it did.
    func report(_ detection: Detection, _ words: AnnouncedWords) -> Bool {
        let name = words.detector.name(of: detection)
        guard [.word, .phrase, .nearMiss].contains(detection.kind) else { return false }
        // A client that asks for "okay_nabu" waits for that name.
        guard let asked = wanted.words.map({ $0[name] }) ?? name else { return false }
        if detection.kind != .phrase { recorder?.receive(detection, name) }
        guard detection.kind != .nearMiss else { return false }
        if let event = recorder?.event(detection, name) { onNotice(.heard(event)) }
        hasAnswered = true
        let sample = Int((detection.time * Double(AudioFormat.sampleRate)).rounded()) - beginning
        let later = (sample - mark.sample) * 1000 / AudioFormat.sampleRate
        output += WyomingAnswer.detection(asked, timestamp: mark.milliseconds &+ later, context: context)
        return true
    }

    /// A hop of its audio was scored.
    func hopWasScored() {
        guard let recorder, let stream else { return }
        recorder.show(stream.scores)
    }

    // MARK: - Events

    private func handle(_ event: WyomingEvent, _ words: AnnouncedWords, _ detector: inout BatchDetector) {
        switch event.kind {
        case .describe: output += words.info
        case .ping: output += WyomingAnswer.pong(event.text)
        case .detect:
            names = event.names.flatMap { $0.isEmpty ? nil : Array($0.prefix(Self.mostNames)) }
            context = event.context
            resolve(words, isNew: true)
        case .audioStart: begin(event, &detector)
        case .audioChunk: beginChunk(event, &detector)
        case .audioStop: phase = endOfAudio()
        case .info: if let name = event.name { recorder?.name(name) }
        case .pong, .runSatellite, .pauseSatellite, .transcript, .error, .other: break
        }
    }

    /// Looks its names up again where there are other words now: one of them may have been taught, or forgotten.
    private func follow(_ words: AnnouncedWords) {
        if wanted.number != words.number { resolve(words, isNew: false) }
    }

    private func resolve(_ words: AnnouncedWords, isNew: Bool) {
        let former = wanted.words
        guard let names else {
            wanted = (nil, words.number)
            return
        }
        var known: [String: String] = [:]
        var unknown: [String] = []
        for name in names {
            let meant = words.meant(by: name)
            if meant.isEmpty { unknown.append(name) }
            for word in meant { known[word] = word == name ? name : known[word] ?? name }
        }
        wanted = (known, words.number)
        if !unknown.isEmpty, isNew || known != former { onNotice(.unknownNames(unknown)) }
        if case .running = phase { answerUnknown() }
    }

    /// Tells a client whose words are all unknown that none of them will come.
    private func answerUnknown() {
        guard let known = wanted.words, known.isEmpty, !hasAnswered else { return }
        hasAnswered = true
        output += WyomingAnswer.notDetected(context: context)
    }

    private func begin(_ event: WyomingEvent, _ detector: inout BatchDetector) {
        hasAnswered = false
        if let stream {
            detector.reset(stream)
        } else {
            stream = detector.makeStream()
            budget.spend()
        }
        beginning = stream?.sampleCount ?? 0
        if recorder?.begin(at: beginning) == false { onNotice(.noRoomForWords) }
        mark = (0, event.timestamp ?? 0)
        phase = .running
        answerUnknown()
        convert(PCMFormat(event, else: .usual))
    }

    private func convert(_ format: PCMFormat?) {
        guard let format else { return refuse(PCMFormat.limits) }
        guard converter.accepts(format) else { return refuse(PCMConverter.tooManyRates) }
        formatStart = audioSamples
        do throws(AudioError) { try converter.begin(format) } catch { refuse(error.description) }
    }

    private func refuse(_ reason: String) {
        phase = .refused
        output += WyomingAnswer.error(reason, code: "unsupported-audio")
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
        mark = (formatStart + Resampler.outputLength(of: converter.framesTaken, at: converter.format.rate), timestamp)
    }

    /// Samples since the audio began.
    private var audioSamples: Int { (stream?.sampleCount ?? 0) - beginning }

    private func endOfAudio() -> Phase {
        tellOfChannels()
        switch phase {
        case .running where audioSamples > 0 || converter.framesTaken > 0:
            // A second after the last word, up to the end of a hop.
            let hop = AudioFormat.hopSamples
            return .stopping(silence: ClosingSilence.samples + (hop - audioSamples % hop) % hop)
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
        var failure: AudioError?
        stream?.fill { room in
            do throws(AudioError) {
                let result = try converter.convert(bytes, into: room)
                used = result.used
                recorder?.add(room[..<result.written])
                return result.written
            } catch {
                failure = error
                return 0
            }
        }
        if let failure {
            isChunk = false
            refuse(failure.description)
        }
        parser.takePayload(used)
        input = UnsafeBufferPointer(rebasing: input[used...])
        if let line = converter.warning() { onNotice(.samples(line)) }
        guard isHopComplete, converter.format.channels > 1 else { return }
        unheardHops += 1
        if unheardHops == Self.comparedHops { tellOfChannels() }
    }

    /// Says once if a channel is the opposite of the others.
    private func tellOfChannels() {
        unheardHops = 0
        guard !hasToldOfChannels, converter.faults.hasTurned else { return }
        hasToldOfChannels = true
        onNotice(.oppositeChannels)
    }

    /// Fills the next hop with what the filters hold, then with silence; after the last of it, answers.
    private func stop(_ silence: Int) {
        guard let stream else {
            phase = .waiting
            return
        }
        var written = 0
        stream.fill { room in
            written = (try? converter.drain(into: room)) ?? 0
            recorder?.add(room[..<written])
            return written
        }
        guard written == 0 else { return }
        guard silence > 0 else {
            try? converter.begin(converter.format)
            phase = .waiting
            if !hasAnswered { output += WyomingAnswer.notDetected(context: context) }
            return
        }
        stream.fill { room in
            written = min(room.count, silence)
            // What the filters held may have moved the end into a hop, which is filled: only whole hops are processed.
            let count = written == silence ? room.count : written
            for index in 0..<count { room[index] = 0 }
            recorder?.add(room[..<count])
            return count
        }
        stream.endsWithHop = written == silence
        phase = .stopping(silence: silence - written)
    }
}
