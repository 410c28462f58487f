public import Audio
public import Configuration
import Core
public import Events
import Glibc
import Spotting
import Synchronization
import System

/// Saves the audio around each detected word and phrase as a WAV file, if the configuration sets a folder for clips.
public final class ClipSaver: EventSink {
    /// Counts of clips since the start.
    public struct Counts: Equatable, Sendable {
        public var saved = 0
        /// Not saved because of an error, such as a full disk; each is logged.
        public var failed = 0
        /// Not saved because too many waited already.
        public var dropped = 0
    }

    private struct State {
        var settings = Configuration.Clips()
        var counts = Counts()
        /// Clips that are waited for or being saved.
        var pending = 0
        var warnings = RateLimit(interval: 60)
    }

    private let history: AudioHistory
    private let log: ServiceLog
    private let state: Mutex<State>
    /// One thread, because the disk may be slow and only one thread at a time may use the store. Clips that find no room
    /// are dropped; their audio would be gone anyway.
    private let saving = WorkQueue(name: "beckon-clip", threads: 1, capacity: 32)

    /// - Parameter history: the detector's audio, from which clips are cut.
    public init(_ settings: Configuration.Clips, history: AudioHistory, log: ServiceLog) {
        self.history = history
        self.log = log
        state = Mutex(State(settings: settings))
    }

    /// The counts so far. Any thread.
    public var counts: Counts { state.withLock { $0.counts } }

    /// Drops the clips that are not saved yet, and reports them.
    public func stop() {
        saving.close()
        let pending = state.withLock { state in
            state.counts.dropped += state.pending
            return state.pending
        }
        if pending > 0 {
            log.write(.warning, "\(counted(pending, "clip was", "clips were")) not saved, as the service is stopping")
        }
    }

    /// Applies other settings from the next event on.
    public func update(_ settings: Configuration.Clips) { state.withLock { $0.settings = settings } }

    public func receive(_ event: DetectionEvent) {
        if event.kind == .word || event.kind == .phrase { save(event) }
    }

    /// Queues the clip of an event; its thread waits for the audio after the word and then saves it.
    ///
    /// - Parameter done: gets the clip's path, on that thread; not called if there is no clip.
    func save(_ event: DetectionEvent, _ done: @escaping @Sendable (String) -> Void = { _ in }) {
        let settings = state.withLock { $0.settings }
        guard let store = ClipStore(settings) else { return }
        let rate = Double(AudioFormat.sampleRate)
        let range = Int(max(0, event.start - settings.before) * rate)..<Int((event.end + settings.after) * rate)
        let wait = max(0, event.end + settings.after - event.time) + 0.2
        let time = Clock.now + .seconds(wait)
        state.withLock { $0.pending += 1 }
        // A source that is faster than speech, and that can wait, does not overtake it.
        let hold = history.hold(from: range.lowerBound)
        let isTaken = saving.submit { [self] in
            while Clock.now < time, history.count < range.upperBound {
                Clock.sleep(until: min(time, Clock.now + .milliseconds(50)))
            }
            let samples = history.samples(range)
            history.move(hold, to: nil)
            attempt { () throws(ActionError) in
                guard !samples.isEmpty else {
                    throw .clip.saying("a clip was too late for its audio; is the disk of \(store.folder) slow?")
                }
                done(try store.save(samples, of: event))
            }
        }
        guard !isTaken else { return }
        history.move(hold, to: nil)
        let warning = state.withLock { state in
            state.pending -= 1
            state.counts.dropped += 1
            return state.warnings.admit("clip", now: Clock.now) != nil ? state.counts.dropped : nil
        }
        if let warning {
            log.write(
                .warning,
                "\(counted(warning, "clip was", "clips were")) dropped so far, as \(store.folder) takes them too slowly"
            )
        }
    }

    private func attempt(_ work: () throws(ActionError) -> Void) {
        do throws(ActionError) {
            try work()
            count { $0.saved += 1 }
        } catch {
            count { $0.failed += 1 }
            log.write(.error, error.description)
        }
    }

    private func count(_ change: (inout Counts) -> Void) {
        state.withLock { state in
            state.pending -= 1
            change(&state.counts)
        }
    }
}

/// A folder of clips: the newest are kept, the oldest are removed. Files with other names are not touched.
///
/// Which clip is older is told by the number in its name, which is one more than the highest in the folder: the wall clock
/// may have been wrong when a clip was saved.
///
/// Not thread-safe: only one thread at a time may use a store.
public struct ClipStore: Sendable {
    private static let prefix = "beckon-"
    private static let ending = ".wav"
    /// What earlier versions named clips that they were writing.
    private static let formerlyUnfinished = ".beckon-unfinished-"

    /// The path of the folder.
    public let folder: String
    private let keep: Int
    private let quota: Int

    /// - Parameters:
    ///   - keep: the largest number of clips, 1 or more.
    ///   - quota: the largest total size in bytes; a larger clip is kept as the only one.
    public init(folder: String, keep: Int, quota: Int) {
        self.folder = folder
        self.keep = max(1, keep)
        self.quota = quota
    }

    /// The store of a configuration; nil if it sets no folder.
    public init?(_ clips: Configuration.Clips) {
        guard let folder = clips.dir else { return nil }
        self.init(folder: folder, keep: clips.keep, quota: clips.quota * 1_000_000)
    }

    /// The file name of an event's clip: start time, number and word.
    public static func name(of event: DetectionEvent, number: UInt64) -> String {
        let word = event.name.unicodeScalars.prefix(40).map { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                ? String(scalar) : "_"
        }.joined()
        return "\(prefix)\(event.startDate.compactText)-\(number)-\(word).wav"
    }

    /// Whether a file's name is that of a clip.
    public static func isClip(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(ending) && !name.contains("/")
    }

    /// The number in a clip's name; 0 if it has none.
    private static func number(_ name: String) -> UInt64 {
        let parts = name.split(separator: "-", maxSplits: 3)
        return parts.count == 4 ? UInt64(digits: parts[2]) ?? 0 : 0
    }

    /// Writes a clip under a temporary name, renames it when complete, and removes the oldest clips beyond the limits.
    ///
    /// - Parameter samples: `[samples]` at 16 kHz, in [−1, 1]; values outside are clipped.
    /// - Returns: the clip's path.
    /// - Throws: ``ActionError/clip``; no partial file is left then.
    @discardableResult
    public func save(_ samples: [Float], of event: DetectionEvent) throws(ActionError) -> String {
        let highest = clips().map(\.number).max() ?? 0
        let name = Self.name(of: event, number: highest < .max ? highest + 1 : highest)
        let path = "\(folder)/\(name)"
        let bytes: [UInt8]
        do throws(AudioError) {
            bytes = try WaveWriter.bytes(samples, sampleRate: AudioFormat.sampleRate)
        } catch {
            throw failure(error.description)
        }
        do throws(SystemError) {
            // Not durable: a clip is worth less than waiting for the disk after each word.
            try replaceFile(path, mode: 0o600, durable: false, bytes)
        } catch {
            throw failure(error.description)
        }
        removeOldest(but: name)
        return path
    }

    private func failure(_ reason: String) -> ActionError {
        let isLimit = reason.hasSuffix(SystemError.text(EMFILE)) || reason.hasSuffix(SystemError.text(ENFILE))
        let remedy =
            isLimit ? FileLimit.remedy : "the folder must exist, be writable for the service and have room left"
        return .clip.saying("cannot save a clip in \(folder): \(reason); \(remedy)")
    }

    private struct Clip {
        let name: String
        let number: UInt64
        let size: Int
    }

    private func removeOldest(but newest: String) {
        // Clips of an earlier version may share a number; those are in the order of their times.
        let clips = clips().sorted { ($0.number, $0.name) < ($1.number, $1.name) }
        var count = clips.count
        // Without overflow, as a sparse file may have any size.
        var size = clips.reduce(0) { $0.addingReportingOverflow($1.size).overflow ? .max : $0 + $1.size }
        for clip in clips where clip.name != newest && (count > keep || size > quota) {
            guard unlink("\(folder)/\(clip.name)") == 0 else { continue }
            count -= 1
            size -= clip.size
        }
    }

    /// The clips in the folder; also removes what a service left that ended while it was writing.
    private func clips() -> [Clip] {
        namesInFolder(folder, hidden: true).compactMap { name in
            let isUnfinished =
                name.hasPrefix(Self.formerlyUnfinished)
                || name.hasPrefix(".\(Self.prefix)") && name.hasSuffix("\(Self.ending).new")
            guard isUnfinished || Self.isClip(name) else { return nil }
            var status = stat()
            guard lstat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            guard !isUnfinished else {
                unlink("\(folder)/\(name)")
                return nil
            }
            return Clip(name: name, number: Self.number(name), size: Int(status.st_size))
        }
    }
}
