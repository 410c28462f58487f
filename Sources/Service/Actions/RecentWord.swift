public import Core
public import Events
private import Glibc
public import JSON
import Spotting
public import System

/// One detected word, or one that was nearly detected, as the ring keeps it.
public struct RecentWord: Equatable, Sendable {
    /// Counts the entries, also over restarts; names one in commands.
    public let number: Int
    /// The highest number. Above it, JSON readers take some numbers for others (RFC 8259, 6). It is never reached by counting.
    static let highestNumber = (1 << 53) - 1
    /// Whether the word did not reach its threshold, so that nobody was told.
    public let isNear: Bool
    public let word: String
    /// Smoothed posterior, 0…1.
    public let confidence: Double
    /// The threshold at that moment; nil if it is not known.
    public let threshold: Double?
    public let mode: DetectionMode?
    /// Estimated start of the word.
    public let date: Timestamp
    public let sound: WordLevel?
    public let device: String
    /// The path of the clip; nil if there is none (yet).
    public var clip: String?

    init(_ event: DetectionEvent, number: Int) {
        self.number = number
        isNear = event.kind == .nearMiss
        word = event.name
        confidence = Double(event.confidence)
        threshold = event.threshold.map(Double.init)
        mode = event.mode
        date = event.startDate
        sound = event.sound
        device = event.device
    }

    /// One JSON object without a line end.
    public var json: JSON {
        var json: JSON = [
            "number": .number(number), "event": isNear ? "near-miss" : "word", "word": .string(word),
            "confidence": .number(confidence, places: 4),
            "threshold": threshold.map { .number($0, places: 4) } ?? .null,
            "mode": .optional(mode?.rawValue), "date": .string(date.text),
        ]
        sound?.describe(in: &json)
        json.append(["device": .string(device), "clip": .optional(clip)])
        return json
    }

    /// An entry from JSON; nil for anything else.
    init?(_ node: JSONNode) {
        // The file may be anybody's work: only what could have been written is read.
        guard let number = node["number"]?.integer, (1...Self.highestNumber).contains(number),
            let word = node["word"]?.text, let event = node["event"]?.text,
            let confidence = node["confidence"]?.number, (0...1).contains(confidence),
            let date = node["date"]?.text.flatMap({ Timestamp($0) })
        else { return nil }
        self.number = number
        isNear = event == "near-miss"
        self.word = word
        self.confidence = confidence
        threshold = node["threshold"]?.number.flatMap { (0...1).contains($0) ? $0 : nil }
        mode = node["mode"]?.text.flatMap { DetectionMode(rawValue: $0) }
        self.date = date
        sound = node["level"]?.number.map { WordLevel(level: $0, signalToNoise: node["snr"]?.number) }
        device = node["device"]?.text ?? ""
        clip = node["clip"]?.text
    }
}

/// The words that a service keeps, as it answers: the same type at both ends of the control socket.
public struct RecentWordList: Equatable, Sendable {
    /// Whether it keeps any.
    public let isOn: Bool
    /// The folder of the clips; nil without one, and from a service of an earlier version.
    public let folder: String?
    /// How near to its threshold a word must come to be kept.
    let margin: Float
    /// Newest first.
    public let entries: [RecentWord]

    public init(_ entries: [RecentWord], folder: String?, margin: Float) {
        (isOn, self.folder, self.margin, self.entries) = (folder != nil, folder, margin, entries)
    }

    /// Reads an answer, without what is not an entry.
    package init(_ node: JSONNode) {
        isOn = node["on"]?.flag ?? false
        folder = node["dir"]?.text
        margin = node["margin"]?.number.map { Float($0) } ?? 0
        entries = node["misses"]?.elements.compactMap { RecentWord($0) } ?? []
    }

    /// The members of the answer.
    public var members: [JSON.Member] {
        let json: JSON = [
            "on": .bool(isOn), "dir": .optional(folder), "margin": .number(margin, places: 3),
            "misses": .array(entries.map(\.json)),
        ]
        return json.members
    }

    /// The entry of a number; nil if it is not kept any more.
    public subscript(number: Int) -> RecentWord? { entries.first { $0.number == number } }

    /// Largest recording that is read, in bytes; they are some seconds long.
    private static let longestClip = 4 << 20

    /// The bytes of the WAV file of an entry's recording, of this program's own list; nil if it is gone. Only what the service itself
    /// wrote, whatever lies there under this name by now.
    public func readClip(_ number: Int) -> [UInt8]? {
        guard let path = self[number]?.clip, let slash = path.lastIndex(of: "/") else { return nil }
        return try? readFile(
            String(path[path.index(after: slash)...]),
            inFolder: String(path[...slash]),
            owner: geteuid(),
            limit: Self.longestClip
        ).bytes
    }
}
