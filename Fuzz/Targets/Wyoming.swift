import Core
import JSON
import Network

@testable import Playback
@testable import Wyoming

/// What a parser reads from bytes in pieces of this size.
private func read(_ bytes: [UInt8], piece: Int) -> (events: [WyomingEvent], payload: [UInt8], error: ProtocolViolation?)
{
    var parser = WyomingParser()
    var events: [WyomingEvent] = []
    var payload: [UInt8] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        let part = Array(rest.prefix(piece))
        rest = rest.dropFirst(piece)
        var error: ProtocolViolation?
        part.withUnsafeBufferPointer { part in
            var input = part
            do throws(ProtocolViolation) {
                while true {
                    if parser.payloadLeft > 0 {
                        let count = min(parser.payloadLeft, input.count)
                        guard count > 0 else { return }
                        payload += input[..<count]
                        parser.takePayload(count)
                        input = UnsafeBufferPointer(rebasing: input[count...])
                    } else if let event = try parser.next(&input) {
                        events.append(event)
                    } else {
                        check(input.isEmpty, "bytes were left")
                        return
                    }
                }
            } catch let violation {
                error = violation
            }
        }
        if let error { return (events, payload, error) }
    }
    return (events, payload, nil)
}

/// A Wyoming client's bytes: the events are the same however the bytes are divided, and all lengths are within their limits.
func fuzzWyoming(_ bytes: [UInt8]) {
    let whole = read(bytes, piece: .max)
    for event in whole.events {
        check((0...WyomingParser.mostPayload).contains(event.payloadLength), "payload of \(event.payloadLength)")
        if let format = PCMFormat(event, else: .usual) { convert(whole.payload, format) }
        if let text = event.text {
            let answer = read(WyomingAnswer.pong(text), piece: .max)
            check(answer.error == nil && answer.events.map(\.text) == [text], "a pong does not read back")
        }
    }
    for piece in [1, 7] {
        let parts = read(bytes, piece: piece)
        // A line that is too long is noticed before its end in small pieces, and a wrong event after others in both.
        check(parts.events == whole.events && parts.error == whole.error, "other events in pieces of \(piece)")
    }
    let satellite = converse(bytes, piece: .max)
    let inPieces = converse(bytes, piece: 5)
    check(inPieces.answers == satellite.answers, "other answers of the satellite in pieces")
    check(inPieces.speech == satellite.speech, "other speech in pieces")
    check(satellite.speech.allSatisfy { $0.magnitude <= 1 }, "speech beyond full scale")
    check(read(satellite.answers, piece: .max).error == nil, "an answer of the satellite does not read back")
}

private let satelliteWords = SatelliteWords(["left"], info: WyomingAnswer.encode("info", [:]))

/// A speaker that plays when it is asked to.
private final class SlowSpeaker {
    private var streams: [SpeechStream] = []
    private(set) var samples: [Float] = []

    func begin(rate: Int) -> SpeechStream? {
        let stream = SpeechStream(rate: rate) {}
        streams.append(stream)
        return stream
    }

    func play() {
        for stream in streams where !stream.isOver {
            let isAtEnd = withUnsafeTemporaryAllocation(of: Float.self, capacity: stream.rate) { room in
                let (count, isAtEnd) = stream.take(into: room)
                samples += room.prefix(count)
                return isAtEnd
            }
            if isAtEnd { stream.close() }
        }
    }
}

/// What the satellite answers to bytes in pieces of this size, and to a word after them, and what it plays.
private func converse(_ bytes: [UInt8], piece: Int) -> (answers: [UInt8], speech: [Float]) {
    let speaker = SlowSpeaker()
    let conversation = SatelliteConversation { speaker.begin(rate: $0) }
    var rest = bytes[...]
    var answers: [UInt8] = []
    while !rest.isEmpty {
        let part = Array(rest.prefix(piece))
        rest = rest.dropFirst(piece)
        var pause = ConversationPause.output
        part.withUnsafeBufferPointer { part in
            var input = part
            conversation.beginTurn()
            while pause == .output || pause == .turn || pause == .speaker {
                if pause == .speaker { speaker.play() }
                if pause == .turn { conversation.beginTurn() }
                pause = conversation.advance(&input, satelliteWords, mayRun: true)
                answers += conversation.output
                conversation.output = []
            }
            check(pause == .end || input.isEmpty, "bytes were left")
        }
        if pause == .end { return (answers, speaker.samples) }
    }
    speaker.play()
    conversation.reportPlayed()
    _ = conversation.report("left", after: 1600, decidedAt: 4800)
    answers += conversation.output
    conversation.output = []
    if let range = conversation.wanted(upTo: 4000) {
        check(range == 1600..<3200, "samples \(range)")
        conversation.send([Float](repeating: .nan, count: range.count))
    }
    return (answers + conversation.output, speaker.samples)
}

/// The samples are the same for every size of pieces and rooms, and finite. They are within what the resampler makes of full
/// scale: its filter's weights without their signs add up to less than 8.
private func convert(_ bytes: [UInt8], _ format: PCMFormat) {
    guard bytes.count < 4096 else { return }
    func samples(piece: Int, room: Int) -> [Float] {
        var converter = PCMConverter()
        guard (try? converter.begin(format)) != nil else { return [] }
        var samples: [Float] = []
        var memory = [Float](repeating: 0, count: room)
        var rest = bytes[...]
        while true {
            let part = Array(rest.prefix(piece))
            var (used, written) = (0, 0)
            part.withUnsafeBufferPointer { part in
                memory.withUnsafeMutableBufferPointer { memory in
                    (used, written) = (try? converter.convert(part, into: memory)) ?? (0, 0)
                }
            }
            samples += memory[..<written]
            rest = rest.dropFirst(used)
            if used == 0, written == 0 { break }
        }
        check(rest.isEmpty, "bytes were left")
        return samples
    }
    let whole = samples(piece: .max, room: 1600)
    check(whole.allSatisfy { $0.magnitude <= 8 }, "a sample of \(whole.max() ?? 0)")
    check(samples(piece: 3, room: 5) == whole, "other samples in pieces")
}
