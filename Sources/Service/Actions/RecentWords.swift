public import Audio
public import Configuration
public import Core
public import Events
import Glibc
public import JSON
import Spotting
import Synchronization
import System

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

    /// The entries in an answer of the control socket.
    public static func list(in answer: String) -> [RecentWord] {
        guard let node = try? JSONNode.parse(answer), case .object(let members) = node.value,
            case .array(let elements)? = members.first(where: { $0.name == "misses" })?.node.value
        else { return [] }
        return elements.compactMap { RecentWord($0) }
    }

    /// An entry from a line of JSON; nil for anything else.
    init?(line: String) {
        guard let node = try? JSONNode.parse(line) else { return nil }
        self.init(node)
    }

    private init?(_ node: JSONNode) {
        guard case .object(let members) = node.value else { return nil }
        var texts: [String: String] = [:]
        var numbers: [String: Double] = [:]
        for member in members {
            switch member.node.value {
            case .string(let text): texts[member.name] = text
            case .number(let number): numbers[member.name] = number
            default: break
            }
        }
        // The file may be anybody's work: only what could have been written is read.
        guard let number = numbers["number"].flatMap({ Int(exactly: $0) }), (1...Self.highestNumber).contains(number),
            let word = texts["word"], let event = texts["event"],
            let confidence = numbers["confidence"], (0...1).contains(confidence),
            let date = texts["date"].flatMap({ Timestamp($0) })
        else { return nil }
        self.number = number
        isNear = event == "near-miss"
        self.word = word
        self.confidence = confidence
        threshold = numbers["threshold"].flatMap { (0...1).contains($0) ? $0 : nil }
        mode = texts["mode"].flatMap { DetectionMode(rawValue: $0) }
        self.date = date
        numbers = numbers.filter { $0.value.isFinite }
        sound = numbers["level"].map { WordLevel(level: $0, signalToNoise: numbers["snr"]) }
        device = texts["device"] ?? ""
        clip = texts["clip"]
    }
}

/// The last words that were detected or nearly detected, each with a clip, if the configuration sets a folder for them.
///
/// The folder also has a file with the list, so that it outlasts a restart.
public final class RecentWords: EventSink {
    /// Seconds of audio before and after the word: enough to hear it, and to teach it as a negative.
    private static let before = 1.0, after = 0.3
    private static let listName = "misses.jsonl"

    private struct State {
        var settings = Configuration.Misses()
        var entries: [RecentWord] = []
        var newest = 0
    }

    private let state: Mutex<State>
    private let clips: ClipSaver

    /// - Parameter history: the detector's audio, from which clips are cut.
    public init(_ settings: Configuration.Misses, history: AudioHistory, log: ServiceLog) {
        clips = ClipSaver(Self.clips(settings), history: history, log: log)
        state = Mutex(State())
        use(settings)
    }

    private static func clips(_ settings: Configuration.Misses) -> Configuration.Clips {
        var clips = Configuration.Clips()
        (clips.dir, clips.keep, clips.quota) = (settings.dir, settings.keep, settings.quota)
        (clips.before, clips.after) = (before, after)
        return clips
    }

    /// Applies other settings from the next event on.
    public func apply(_ settings: Configuration.Misses) {
        guard settings != state.withLock({ $0.settings }) else { return }
        clips.apply(Self.clips(settings))
        use(settings)
    }

    /// Reads the list in the folder, without entries whose clips are gone.
    private func use(_ settings: Configuration.Misses) {
        var entries: [RecentWord] = []
        // Only the last folder: where those above it are missing, the first clip says so.
        if let dir = settings.dir { mkdir(dir, 0o700) }
        if let dir = settings.dir,
            let file = try? readFile(Self.listName, inFolder: dir, owner: geteuid(), limit: 1 << 20)
        {
            entries = Self.entries(in: file.bytes)
                .filter { entry in entry.clip.map { Self.isClip($0, in: dir) } ?? false }
                .suffix(settings.keep)
        }
        state.withLock { state in
            state.settings = settings
            state.entries = entries
            state.newest = entries.map(\.number).max() ?? 0
        }
    }

    /// The entries in the bytes of a list; lines that are none are left out.
    static func entries(in bytes: [UInt8]) -> [RecentWord] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { RecentWord(line: String(decoding: $0, as: UTF8.self)) }
    }

    /// Whether a path is that of a clip in the folder, which the service wrote: whoever has the token gets what it names.
    static func isClip(_ path: String, in folder: String) -> Bool {
        guard path.hasPrefix(folder + "/"), ClipStore.isClip(String(path.dropFirst(folder.count + 1))) else {
            return false
        }
        var status = stat()
        return lstat(FileName.cString(path), &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
            && status.st_uid == geteuid()
    }

    /// The entries, newest first. Any thread.
    public var entries: [RecentWord] { state.withLock { $0.entries.reversed() } }

    /// The entries as members of an answer, newest first. Any thread.
    public var json: JSON {
        let (settings, entries) = state.withLock { ($0.settings, $0.entries) }
        return [
            "on": .bool(settings.dir != nil), "dir": .optional(settings.dir),
            "margin": .number(settings.margin, places: 3),
            "misses": .array(entries.reversed().map(\.json)),
        ]
    }

    /// What became of the clips; nil if none are kept. Any thread.
    public var counts: ClipSaver.Counts? { state.withLock { $0.settings.dir } == nil ? nil : clips.counts }

    public func receive(_ event: DetectionEvent) {
        guard event.kind == .word || event.kind == .nearMiss else { return }
        let number = state.withLock { state -> Int? in
            guard state.settings.dir != nil else { return nil }
            state.newest = min(state.newest + 1, RecentWord.highestNumber)
            state.entries.append(RecentWord(event, number: state.newest))
            if state.entries.count > state.settings.keep { state.entries.removeFirst() }
            return state.newest
        }
        guard let number else { return }
        clips.save(event) { [self] path in note(path, number) }
    }

    /// Drops the clips that are not saved yet.
    public func stop() { clips.stop() }

    /// On the thread that saved the clip: notes its path, forgets clips that made room for it, and writes the list.
    private func note(_ path: String, _ number: Int) {
        // Without the lock, which the dispatcher may wait for: the disk may stall.
        let gone = Set(state.withLock { $0.entries.compactMap(\.clip) }.filter { access($0, F_OK) != 0 })
        let (dir, lines) = state.withLock { state -> (String?, String) in
            for index in state.entries.indices {
                if state.entries[index].number == number { state.entries[index].clip = path }
                if let clip = state.entries[index].clip, gone.contains(clip) { state.entries[index].clip = nil }
            }
            return (state.settings.dir, state.entries.map { "\($0.json)\n" }.joined())
        }
        guard let dir else { return }
        // Not durable, and a failure is not told: without the list, only the entries from before a restart are missing, and the next clip
        // writes it again.
        try? replaceFile("\(dir)/\(Self.listName)", mode: 0o600, durable: false, Array(lines.utf8))
    }
}
