public import Audio
public import Configuration
import Core
public import Events
import Glibc
private import JSON
import Spotting
import Synchronization
import System

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
    public func update(_ settings: Configuration.Misses) {
        guard settings != state.withLock({ $0.settings }) else { return }
        clips.update(Self.clips(settings))
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
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            (try? JSONNode.parse(String(decoding: line, as: UTF8.self))).flatMap { RecentWord($0) }
        }
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

    /// The entries as a client gets them. Any thread.
    public var list: RecentWordList {
        let state = state.withLock { $0 }
        return RecentWordList(state.entries.reversed(), folder: state.settings.dir, margin: state.settings.margin)
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
        let gone = Set(state.withLock { $0.entries.compactMap(\.clip) }.filter { !fileExists($0) })
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
