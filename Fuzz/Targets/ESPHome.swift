import Control
import Core
import Events
import Network

@testable import ESPHome

private let device = DeviceIdentity(
    name: "kitchen",
    title: "Kitchen",
    address: "02:AB:00:11:22:33",
    version: "1",
    isEncrypted: false,
    plays: true
)

/// What a conversation answers to bytes in pieces of this size, and what it asks its owner for.
private func converse(_ bytes: [UInt8], key: [UInt8]?, piece: Int) -> (output: [UInt8], requests: [APIRequest]) {
    let conversation = APIConversation(device, key: key)
    var (output, requests): ([UInt8], [APIRequest]) = ([], [])
    var rest = bytes[...]
    var pause = ConversationPause.needsInput
    while !rest.isEmpty, pause != .end {
        let part = Array(rest.prefix(piece))
        rest = rest.dropFirst(piece)
        part.withUnsafeBufferPointer { part in
            var input = part
            repeat {
                conversation.beginTurn()
                pause = conversation.advance(&input)
                output += conversation.output
                conversation.output = []
                requests += conversation.takeRequests()
            } while pause == .turn || pause == .output
            check(pause == .end || input.isEmpty, "bytes were left")
        }
    }
    return (output, requests)
}

/// What an ESPHome client sends: the answers are the same however the bytes are divided; whatever Home Assistant says, the assistant's
/// audio follows without a gap, its timers are few, and in the end it is idle. Buttons may be pressed at any time.
func fuzzESPHome(_ bytes: [UInt8]) {
    let greeting = FrameParser.plain(1, [])
    for (bytes, key) in [(greeting + bytes, nil), (bytes, [UInt8](repeating: 7, count: 32))] as [([UInt8], [UInt8]?)] {
        let whole = converse(bytes, key: key, piece: .max)
        for piece in [1, 7] {
            let parts = converse(bytes, key: key, piece: piece)
            check(
                parts.output == whole.output && parts.requests == whole.requests,
                "other answers in pieces of \(piece)"
            )
        }
        follow(whole.requests)
    }
}

private func follow(_ requests: [APIRequest]) {
    var assistant = Assistant()
    var media = MediaPlayer(nil, nil, volume: 1)
    var (seconds, sample, last) = (0.0, 0, 0)
    assistant.connect()
    func moment() -> Assistant.Moment { .init(now: Instant(nanoseconds: 0) + .seconds(seconds), sample: sample) }
    for request in requests {
        (seconds, sample) = (seconds + 0.5, sample + 8000)
        var effects: [Assistant.Effect] = []
        switch request {
        case .answered(let isError):
            effects = assistant.wake("x", after: sample, at: moment())
            if !effects.isEmpty { last = sample }
            effects += assistant.answer(isError: isError, at: moment())
        case .event(let event): effects = assistant.receive(event, at: moment())
        case .timer(let timer): effects = assistant.receive(timer, at: moment())
        case .announce(let request): effects = assistant.announce(request)
        case .mediaPlayer(let command):
            media.execute(command)
            check((0...1).contains(media.volume), "a volume of \(media.volume)")
        case .turn(let key, _):
            let step = TalkStep.allCases[Int(key % UInt32(TalkStep.allCases.count))]
            effects = (try? assistant.talk(step, at: moment())) ?? []
        case .configuration(let offered):
            for word in offered where word.isUsable {
                let address = OfferedFetcher.address(of: word.phrase, beside: word.address)
                check(!address.contains(" ") || word.address.contains(" "), "a model's address with blanks: \(address)")
            }
        default: effects = assistant.stop() ?? []
        }
        for case .play(let id, _) in effects where id % 2 == 0 {
            effects = assistant.ended(.init(id: id, isWhole: true), at: moment())
        }
        if case .starting(let from, _) = assistant.phase { last = from }
        while let range = assistant.wanted(upTo: sample) {
            check(range.lowerBound == last && range.count <= Assistant.chunk, "samples \(range) after \(last)")
            last = range.upperBound
            _ = assistant.sent(range, at: moment())
        }
        _ = assistant.tick(at: moment())
        check(assistant.timers.count <= Assistant.mostTimers, "\(assistant.timers.count) timers")
    }
    _ = assistant.disconnect()
    _ = assistant.stop()
    check(assistant.phase == .idle && assistant.state == .idle, "the assistant is \(assistant.state)")
}
