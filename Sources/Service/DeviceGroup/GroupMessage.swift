import Core
public import JSON

/// What a device tells the others of its group about a word. The same bytes go over a broker and between the services of a machine.
public struct GroupMessage: Equatable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        /// It has heard the word, and would act on it.
        case claim
        /// It acts on the word.
        case act
    }

    public let kind: Kind
    public let group: String
    /// The word or the phrase.
    public let word: String
    public let bid: Bid

    /// More than a message has: names are of 60 characters, words of 200 bytes or a phrase of them.
    public static let longest = 2048

    public init(_ kind: Kind, group: String, word: String, bid: Bid) {
        (self.kind, self.group, self.word, self.bid) = (kind, group, word, bid)
    }

    /// One JSON object without a line end: `{"group", "device", "claim": WORD, "confidence", "snr", "level"}`.
    public var json: JSON {
        var json: JSON = [
            "group": .string(group), "device": .string(bid.device), kind.rawValue: .string(word),
            "confidence": .number(bid.confidence, places: 4),
        ]
        if let ratio = bid.signalToNoise { json.append(["snr": .number(ratio, places: 1)]) }
        if let level = bid.level { json.append(["level": .number(level, places: 1)]) }
        return json
    }

    /// Reads a message; nil for bytes that are none. Other programs may have sent them.
    public init?(bytes: [UInt8]) {
        guard bytes.count <= Self.longest, let text = String(validating: bytes, as: UTF8.self),
            let node = try? JSONNode.parse(text), node.isObject,
            let group = node["group"]?.text, let device = node["device"]?.text, !device.isEmpty,
            let kind = Kind.allCases.first(where: { node[$0.rawValue] != nil }),
            let word = node[kind.rawValue]?.text, !word.isEmpty,
            let confidence = node["confidence"]?.number, (0...1).contains(confidence)
        else { return nil }
        func decibels(_ key: String) -> Double?? {
            guard let node = node[key] else { return .some(nil) }
            guard let number = node.number, (-200...200).contains(number) else { return nil }
            return number
        }
        guard let ratio = decibels("snr"), let level = decibels("level") else { return nil }
        let bid = Bid(signalToNoise: ratio, level: level, confidence: confidence, device: device)
        self.init(kind, group: group, word: word, bid: bid)
    }
}
