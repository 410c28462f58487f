public import Core
public import JSON
public import Spotting
public import System

/// A word or phrase that the service detected, or a session that began or ended, with all data for actions and integrations.
///
/// The dispatcher makes it once for each ``Detection`` and hands it to every ``EventSink``.
public struct DetectionEvent: Equatable, Sendable {
    /// Number of the detection since the service started, from 1; a gap means that one was lost or suppressed.
    public let sequence: UInt64
    public let kind: Detection.Kind
    /// The word, the phrase's text, or the session's wake word.
    public let name: String
    /// Posterior, 0…1.
    public let confidence: Float
    /// Of a word that networks confirmed: its score in the streaming network, and their posterior.
    public let proposed: Float?
    public let confirmed: Float?
    /// Estimated start of the word, in seconds since the service began to listen.
    public let start: Double
    /// Estimated end, in the same seconds.
    public let end: Double
    /// Time of the decision, in the same seconds.
    public let time: Double
    /// Time of the decision, on the wall clock.
    public let date: Timestamp
    /// Name of the capture device.
    public let device: String
    /// The wake word of the session that a word belongs to; nil for words outside of sessions and for other kinds.
    public let session: String?
    /// The threshold of a word or near miss at that moment; nil for other kinds.
    public let threshold: Float?
    /// The mode of a word or near miss; nil for other kinds.
    public let mode: DetectionMode?
    /// How loud the word or phrase was; nil where its audio is not known.
    public let sound: WordLevel?

    /// What a client of the wake-word server is called in whose audio it is; nil for the service's own audio.
    public let client: String?
    /// Whether a loudspeaker said it: nothing acts on it.
    public let isOwnSpeech: Bool

    /// - Parameters: `session`, `device` and `client` are names; `date` is that of the decision.
    public init(
        _ detection: Detection,
        sequence: UInt64,
        name: String,
        date: Timestamp,
        device: String,
        session: String? = nil,
        client: String? = nil,
        sound: WordLevel? = nil
    ) {
        (kind, confidence, mode) = (detection.kind, detection.confidence, detection.mode)
        (start, end, time) = (detection.start, detection.end, detection.time)
        threshold = detection.mode == nil ? nil : detection.threshold
        (proposed, confirmed) = (detection.proposed, detection.confirmed)
        (self.sequence, self.name, self.date, self.device) = (sequence, name, date, device)
        (self.session, self.client, self.sound) = (session, client, sound)
        isOwnSpeech = detection.isOwnSpeech
    }

    /// Estimated start of the word, on the wall clock.
    public var startDate: Timestamp { date.adding(seconds: start - time) }
    /// Estimated end of the word, on the wall clock.
    public var endDate: Timestamp { date.adding(seconds: end - time) }

    /// Whether it is a word or a complete phrase.
    public var isWhole: Bool { kind == .word || kind == .phrase }

    /// One JSON object without a line end. The keys up to `time` are those of `beckon classify --json`.
    public var json: JSON {
        var json: JSON = [
            "event": .string(kind.key), kind.subjectKey: .string(name),
            "confidence": .number(confidence, places: 4), "start": .number(start, places: 3),
            "end": .number(end, places: 3), "time": .number(time, places: 3), "sequence": .number(sequence),
            "device": .string(device), "date": .string(date.text), "startDate": .string(startDate.text),
            "endDate": .string(endDate.text),
        ]
        sound?.describe(in: &json)
        if let session { json.append(["session": .string(session)]) }
        if let client { json.append(["client": .string(client)]) }
        if let proposed { json.append(["proposed": .number(proposed, places: 4)]) }
        if let confirmed { json.append(["confirmed": .number(confirmed, places: 4)]) }
        if kind == .nearMiss {
            json.append([
                "threshold": threshold.map { .number($0, places: 4) } ?? .null, "mode": .optional(mode?.rawValue),
            ])
        }
        return json
    }

    /// The same as ``json`` for a word or phrase on which this device does not act: the event `yielded` with the device as `to`, or
    /// `own-speech` with `ownSpeech`.
    public func json(withheld reason: WithheldReason) -> JSON {
        let (event, more): (String, JSON.Member) =
            switch reason {
            case .yielded(let device): ("yielded", JSON.Member("to", .string(device)))
            case .ownSpeech: ("own-speech", JSON.Member("ownSpeech", true))
            }
        let members = json.members.map { $0.name == "event" ? JSON.Member("event", .string(event)) : $0 }
        return .object(members + [more])
    }

    /// Environment variables of actions and fields of journal entries: names and values, in a fixed order.
    public var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = [
            ("BECKON_EVENT", kind.key), ("BECKON_WORD", name), ("BECKON_CONFIDENCE", decimal(Double(confidence), 4)),
            ("BECKON_TIME", date.text), ("BECKON_START", startDate.text), ("BECKON_END", endDate.text),
            ("BECKON_DEVICE", device), ("BECKON_SEQUENCE", String(sequence)),
        ]
        if let session { fields.append(("BECKON_SESSION", session)) }
        if let client { fields.append(("BECKON_CLIENT", client)) }
        if let sound { fields.append(("BECKON_LEVEL", decimal(sound.level, 1))) }
        if let ratio = sound?.signalToNoise { fields.append(("BECKON_SNR", decimal(ratio, 1))) }
        if let proposed { fields.append(("BECKON_PROPOSED", decimal(Double(proposed), 4))) }
        if let confirmed { fields.append(("BECKON_CONFIRMED", decimal(Double(confirmed), 4))) }
        return fields
    }

    /// What the journal's entries about events have as `MESSAGE_ID`, so that they can be asked for.
    public static let messageID = "688bf8cac4189fcd1db84aa91325af10"

    /// Fields of an entry about it in the system's journal: ``fields``, and what it is found and printed again by.
    ///
    /// - Parameter reason: why the device does not act on it; nil where it does.
    public func journalFields(withheld reason: WithheldReason? = nil) -> [(name: String, value: String)] {
        let json = reason.map { self.json(withheld: $0) } ?? json
        return [
            ("MESSAGE_ID", Self.messageID), ("BECKON_SCORE", decimal(Double(confidence), 4)),
            ("BECKON_JSON", "\(json)"),
        ]
            + fields
    }
}

/// A receiver of the service's events: actions, the control socket, saved clips, a terminal, an integration.
///
/// It gets near misses too, where the configuration turns them on; most sinks ignore them.
public protocol EventSink: Sendable {
    /// Takes one event. Called on the dispatcher's thread, in the order of the events.
    ///
    /// It must not block on a device, a reader or a network; a sink that must uses a bounded queue and a thread.
    func receive(_ event: DetectionEvent)

    /// Takes a word or phrase, or the beginning or end of its session, on which this device does not act: only to tell of it.
    func withheld(_ event: DetectionEvent, _ reason: WithheldReason)
}

/// Why a device does not act on a word or phrase.
public enum WithheldReason: Equatable, Sendable {
    /// Another device of the group acts, of this name.
    case yielded(to: String)
    /// A loudspeaker said it.
    case ownSpeech
}

extension EventSink {
    /// Ignores it: most sinks act.
    public func withheld(_ event: DetectionEvent, _ reason: WithheldReason) {}
}
