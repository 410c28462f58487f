private import Core
public import Events
public import JSON
public import Spotting
public import System

/// The state of a service, as it answers `status`: the same type at both ends of the control socket.
///
/// What is not known is nil: a service without a detector has no thresholds, and one of an earlier version does not say all.
/// ``counts`` and ``parts`` are for programs that read the answer; a client of ours does not read them back.
public struct ServiceStatus: Equatable, Sendable {
    /// Where the audio comes from.
    public struct Input: Equatable, Sendable {
        /// That of the microphone, such as `running` or `lost`; `running` for a file or a stream.
        public var state: String
        public var since: Timestamp?
        /// The device, or the name of what is played.
        public var device: String?
        /// Why nothing is heard.
        public var problem: String?
        /// Hertz.
        public var rate: Int?
        public var channels: Int?
        /// What was measured and counted.
        public var counts: [JSON.Member] = []
        /// Whether a channel is the opposite of the others.
        public var channelsCancel: Bool?
        /// Channels whose sign is turned in the mix, and those that are left out of it; empty also for a service of an earlier version.
        public var turnedChannels: [Int] = []
        public var deadChannels: [Int] = []
        public var digitalSilenceSince: Timestamp?
        public var echo: Echo?

        public init(state: String) { self.state = state }

        var json: JSON {
            var json: JSON = ["state": .string(state)]
            json.append([
                "since": since?.text.json, "device": device?.json, "problem": problem?.json,
                "rate": rate.map { .number($0) }, "channels": channels.map { .number($0) },
            ])
            json.append(counts)
            json.append([
                "channelsCancel": channelsCancel.map { .bool($0) }, "turnedChannels": Self.list(turnedChannels),
                "deadChannels": Self.list(deadChannels),
                "digitalSilenceSince": digitalSilenceSince?.text.json, "echo": echo?.json,
            ])
            return json
        }

        init?(_ node: JSONNode) {
            guard let state = node["state"]?.text else { return nil }
            self.state = state
            (since, device, problem) = (node["since"]?.date, node["device"]?.text, node["problem"]?.text)
            (rate, channels) = (node["rate"]?.integer, node["channels"]?.integer)
            (channelsCancel, digitalSilenceSince) = (node["channelsCancel"]?.flag, node["digitalSilenceSince"]?.date)
            turnedChannels = Self.channels(node["turnedChannels"])
            deadChannels = Self.channels(node["deadChannels"])
            echo = node["echo"].map(Echo.init)
        }

        /// Nil for none.
        private static func list(_ channels: [Int]) -> JSON? {
            channels.isEmpty ? nil : .array(channels.map { .number($0) })
        }

        private static func channels(_ node: JSONNode?) -> [Int] { node?.elements.compactMap(\.integer) ?? [] }
    }

    /// The echo of a loudspeaker, which is removed.
    public struct Echo: Equatable, Sendable {
        /// State and name of the device with what is played, and why nothing comes from it; nil for a channel of the microphone.
        public var state: String?
        public var device: String?
        public var problem: String?
        /// Decibels of the echo that are removed; nil while nothing is played.
        public var cancelledDecibels: Double?

        public init() {}

        var json: JSON {
            var json: JSON = [:]
            json.append([
                "state": state?.json, "device": device?.json, "problem": problem?.json,
                "cancelledDecibels": cancelledDecibels.map { .number($0, places: 1) },
            ])
            return json
        }

        init(_ node: JSONNode) {
            (state, device, problem) = (node["state"]?.text, node["device"]?.text, node["problem"]?.text)
            cancelledDecibels = node["cancelledDecibels"]?.number
        }
    }

    /// A word and the threshold in force, nil for one that never fires.
    public struct Threshold: Equatable, Sendable {
        public let word: String
        public let value: Float?

        public init(_ word: String, _ value: Float?) { (self.word, self.value) = (word, value) }

        fileprivate static func json(_ list: [Threshold]) -> JSON {
            .object(list.map { JSON.Member($0.word, $0.value.map { .number($0, places: 3) } ?? .null) })
        }

        fileprivate static func list(_ node: JSONNode) -> [Threshold] {
            node.members.map { Threshold($0.name, $0.node.number.map { Float($0) }) }
        }
    }

    /// The words that a wake word opens.
    public struct Session: Equatable, Sendable {
        public let wake: String
        public let seconds: Double
        public let mode: String
        public let thresholds: [Threshold]

        public init(_ session: WakeSession, labels: [String]) {
            (wake, seconds, mode) = (session.name, session.seconds, session.mode.rawValue)
            thresholds = zip(session.words, session.thresholds).map { label, threshold in
                Threshold(labels.indices.contains(label) ? labels[label] : "", threshold)
            }
        }

        fileprivate init(_ node: JSONNode) {
            (wake, mode) = (node["wake"]?.text ?? "", node["mode"]?.text ?? "")
            seconds = node["seconds"]?.number ?? 0
            thresholds = node["thresholds"].map(Threshold.list) ?? []
        }

        fileprivate var json: JSON {
            [
                "wake": .string(wake), "seconds": .number(seconds, places: 1), "mode": .string(mode),
                "thresholds": Threshold.json(thresholds),
            ]
        }
    }

    /// The sensitivity of all words, nil where a threshold in numbers applies to them, and that of each word that has one of its
    /// own.
    public struct Choices: Equatable, Sendable {
        public let all: String?
        let words: [String: String]

        public init(_ choices: ThresholdChoices) {
            all = choices.all.sensitivity?.rawValue
            words = choices.words.filter { !choices.disabled.contains($0.key) }
                .compactMapValues { $0.sensitivity?.rawValue }
        }

        fileprivate init(_ node: JSONNode) {
            all = node["sensitivity"]?.text
            let own = node["sensitivities"]?.members.compactMap { one in one.node.text.map { (one.name, $0) } } ?? []
            words = Dictionary(own) { $1 }
        }

        fileprivate var json: KeyValuePairs<String, JSON?> {
            let own = words.sorted { $0.key < $1.key }.map { JSON.Member($0.key, .string($0.value)) }
            return ["sensitivity": .optional(all), "sensitivities": own.isEmpty ? nil : .object(own)]
        }
    }

    /// The newest word or phrase.
    public struct Newest: Equatable, Sendable {
        public let name: String
        /// 0…1.
        public let confidence: Float
        public let date: Timestamp
        fileprivate let json: JSON

        public init(_ event: DetectionEvent) {
            (name, confidence, date, json) = (event.name, event.confidence, event.date, event.json)
        }

        fileprivate init?(_ node: JSONNode) {
            guard let name = (node["word"] ?? node["phrase"])?.text, let confidence = node["confidence"]?.number,
                let date = node["date"]?.date
            else { return nil }
            (self.name, self.confidence, self.date, json) = (name, Float(confidence), date, .null)
        }
    }

    /// Nil for a service without a detector.
    public var input: Input?
    /// The name of the service, where it is one of several.
    public var instance: String?
    public var version: String?
    public var model: String?
    public var mode: String?
    /// Whether networks confirm words: `on`, `off`, or `none` for a model that has no such networks.
    public var confirmation: String?
    /// What was counted.
    public var counts: [JSON.Member] = []
    /// Of ``counts``, where it was read: words and phrases since the start.
    public private(set) var events: Int?
    /// Of ``counts``, where it was read: looks of confirming networks, those that found no word, and the milliseconds of the slowest.
    public private(set) var looks: Int?
    public private(set) var refusedLooks: Int?
    public private(set) var longestLook: Double?
    /// Addresses of the web server that the configuration sets.
    public var webListen: [String]?
    public var stateFolder: String?
    /// The counts of integrations and other parts, an object each.
    public var parts: [JSON.Member] = []
    /// Of ``parts``, where it was read: the clients that a wake-word server has; nil without one.
    public private(set) var clients: Int?
    /// Of ``parts``, where it was read: whether MQTT is off after a sudden end.
    public private(set) var isMQTTOff = false
    public var choices: Choices?
    public var thresholds: [Threshold]?
    /// The session that is on, and all; nil without sessions.
    public var session: String?
    public var sessions: [Session]?
    public var newest: Newest?
    /// Wake words that the configuration names and that could not be loaded.
    public var missing: [MissingWakeWord] = []

    public init() {}

    /// The members of the answer.
    var members: [JSON.Member] {
        var json = input?.json ?? [:]
        json.append([
            "instance": instance?.json, "version": version?.json, "model": model?.json, "mode": mode?.json,
            "confirm": confirmation?.json,
        ])
        json.append(counts)
        json.append(["webListen": webListen.map { .strings($0) }])
        if webListen != nil { json.append(["stateFolder": .optional(stateFolder)]) }
        json.append(parts)
        if let choices { json.append(choices.json) }
        json.append(["thresholds": thresholds.map(Threshold.json)])
        if let sessions {
            json.append(["session": .optional(session), "sessions": .array(sessions.map(\.json))])
        }
        if !missing.isEmpty {
            let list = missing.map {
                ["name": .string($0.name), "word": .string($0.word), "reason": .string($0.reason)] as JSON
            }
            json.append(["missingWakeWords": .array(list)])
        }
        json.append(["newest": newest?.json])
        return json.members
    }

    /// Reads an answer, of an earlier version too.
    init(_ node: JSONNode) {
        input = Input(node)
        (version, model, mode) = (node["version"]?.text, node["model"]?.text, node["mode"]?.text)
        (instance, confirmation) = (node["instance"]?.text, node["confirm"]?.text)
        events = node["events"]?.integer
        (looks, refusedLooks) = (node["looks"]?.integer, node["refusedLooks"]?.integer)
        longestLook = node["lookMilliseconds"]?["longest"]?.number
        webListen = node["webListen"]?.elements.compactMap(\.text)
        stateFolder = node["stateFolder"]?.text
        clients = node["wyoming"]?["connections"]?.integer
        isMQTTOff = node["mqtt"]?["off"]?.flag ?? false
        choices = node["sensitivity"] == nil ? nil : Choices(node)
        thresholds = node["thresholds"].map(Threshold.list)
        session = node["session"]?.text
        sessions = node["sessions"]?.elements.map(Session.init)
        newest = node["newest"].flatMap(Newest.init)
        missing = (node["missingWakeWords"]?.elements ?? []).compactMap { node in
            guard let name = node["name"]?.text, let reason = node["reason"]?.text else { return nil }
            return MissingWakeWord(name: name, word: node["word"]?.text ?? name, reason: reason)
        }
    }
}

extension JSONNode {
    fileprivate var date: Timestamp? { text.flatMap { Timestamp($0) } }
}

extension String {
    fileprivate var json: JSON { .string(self) }
}
