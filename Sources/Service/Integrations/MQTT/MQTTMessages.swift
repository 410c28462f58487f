import Configuration
public import Control
import Core
public import Events
public import IntegrationInterface
import JSON
import Spotting

/// One message to a broker.
public struct MQTTMessage: Equatable, Sendable {
    public let topic: String
    public let payload: String
    /// Whether the broker keeps it for clients that come later.
    public let isRetained: Bool

    public init(_ topic: String, _ payload: String, isRetained: Bool) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
    }
}

/// The topics of one device, and the messages for them.
///
/// | topic, below `PREFIX/DEVICE/` | payload | kept |
/// |---|---|---|
/// | `availability` | `online`, or `offline`, which is also the will | yes |
/// | `event` | the event as JSON, with `event_type` | no |
/// | `word` | the word or the phrase | no |
/// | `miss` | a near miss as JSON, with `event_type` | no |
/// | `yielded` | a word on which another device of the group acts, as JSON, with `event_type` and that device as `to` | no |
/// | `mute`, `mute/set` | `ON`, `OFF` | yes, – |
/// | `threshold/WORD`, `threshold/WORD/set` | a number between 0 and 1 | yes, – |
/// | `level` | dB below full scale | yes |
/// | `microphone` | `ok`, `problem` | yes |
///
/// Events are never kept: a broker would hand a kept one to every client that comes later, and the word would seem to be said again.
public struct MQTTTopics: Equatable, Sendable {
    public let base: String

    public init(prefix: String, _ identity: MQTTIdentity) { base = "\(prefix)/\(identity.slug)" }

    public var availability: String { base + "/availability" }
    public var event: String { base + "/event" }
    public var word: String { base + "/word" }
    public var miss: String { base + "/miss" }
    public var yielded: String { base + "/yielded" }
    public var mute: String { base + "/mute" }
    public var level: String { base + "/level" }
    public var microphone: String { base + "/microphone" }
    public func threshold(_ word: String) -> String { "\(base)/threshold/\(MQTTIdentity.slug(word))" }

    /// What to subscribe to for commands.
    public var commands: [String] { [mute + "/set", base + "/threshold/+/set"] }

    public static let online = "online"
    public static let offline = "offline"

    /// The messages of a word, a complete phrase or a near miss; none for other events.
    public func messages(for event: DetectionEvent) -> [MQTTMessage] {
        guard [.word, .phrase, .nearMiss].contains(event.kind) else { return [] }
        let json = JSON.object([JSON.Member("event_type", .string(event.name))] + event.json.members)
        if event.kind == .nearMiss { return [MQTTMessage(miss, json.description, isRetained: false)] }
        return [
            MQTTMessage(self.event, json.description, isRetained: false),
            MQTTMessage(word, event.name, isRetained: false),
        ]
    }

    /// The message of a word on which another device of the group acts.
    func message(for event: DetectionEvent, yieldedTo device: String) -> MQTTMessage {
        let json = JSON.object(
            [JSON.Member("event_type", .string(event.name))] + event.json(withheld: .yielded(to: device)).members
        )
        return MQTTMessage(yielded, json.description, isRetained: false)
    }

    /// The messages that tell of a state; only what has changed if an earlier one was told.
    public func messages(for state: ServiceState, since earlier: ServiceState?) -> [MQTTMessage] {
        var all: [MQTTMessage] = []
        func report(_ topic: String, _ new: String?, _ old: String?) {
            guard let new, new != old else { return }
            all.append(MQTTMessage(topic, new, isRetained: true))
        }
        report(mute, state.isMuted.map { $0 ? "ON" : "OFF" }, earlier?.isMuted.map { $0 ? "ON" : "OFF" })
        func text(_ hasAudio: Bool) -> String { hasAudio ? "ok" : "problem" }
        report(microphone, state.hasAudio.map(text), earlier?.hasAudio.map(text))
        report(level, state.level.map { decimal($0, 1) }, earlier?.level.map { decimal($0, 1) })
        let before = Dictionary(
            (earlier?.words ?? []).map { ($0.name, $0.threshold) },
            uniquingKeysWith: { first, _ in first }
        )
        for word in state.words {
            let old = before[word.name] ?? nil
            report(
                threshold(word.name),
                word.threshold.map { decimal(Double($0), 3) },
                old.map { decimal(Double($0), 3) }
            )
        }
        // An empty kept message takes the topic of a word that is gone.
        for word in earlier?.words ?? [] where !state.words.contains(where: { $0.name == word.name }) {
            all.append(MQTTMessage(threshold(word.name), "", isRetained: true))
        }
        return all
    }

    /// The command of a message.
    ///
    /// - Throws: what would be accepted instead.
    public func command(
        topic: String,
        payload: [UInt8],
        words: [ServiceState.Word]
    ) throws(MQTTError) -> ControlCommand {
        guard topic.hasSuffix("/set") else { throw MQTTError("commands go to \(base)/…/set") }
        let text = payload.count <= 64 ? String(validating: payload, as: UTF8.self) : nil
        let subject = topic.dropLast("/set".count)
        if subject == mute {
            switch text {
            case "ON": return .mute
            case "OFF": return .unmute
            default: throw MQTTError("send ON or OFF")
            }
        }
        guard let word = words.first(where: { threshold($0.name) == subject }) else {
            let known =
                words.isEmpty ? "no word may fire now" : "there are \(words.map(\.name).joined(separator: ", "))"
            throw MQTTError("no word has this topic; \(printable(known))")
        }
        // As a float, which is what is kept: 1e-60 becomes 0.
        guard let text, let number = Double(decimal: text), case let value = Float(number), value > 0, value < 1 else {
            throw MQTTError("send a number between 0 and 1, such as 0.9")
        }
        return .set(ThresholdChange(words: [word.name: .confidence(value)]))
    }
}
