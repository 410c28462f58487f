import Core
import Glibc
import System

/// The files to process, one at a time: the named files, and the audio files in the named folders, sorted by name.
///
/// Of all folders only the names of the one that is walked, and of those above it, are in memory.
public struct FileWalk: ~Copyable, Sendable {
    public enum Item: Equatable, Sendable {
        case file(String)
        /// A line on a named folder that gave no file, or on a folder or a name that cannot be used.
        case problem(String)
        /// A line on a named folder with sound files that cannot be read.
        case note(String)
    }

    /// The file name extensions that are taken from folders; a file named by the user may have any.
    public static let audioEndings: Set<String> = [
        "wav", "wave", "w64", "rf64", "flac", "ogg", "oga", "opus", "mp3", "aif", "aiff", "aifc", "au", "snd", "caf",
    ]

    /// The file name extensions of sound that is not read: libsndfile has no decoder for them.
    static let otherEndings: Set<String> = [
        "m4a", "m4b", "mp4", "m4v", "mov", "aac", "ac3", "adts", "wma", "wmv", "asf", "webm", "mka", "mkv", "avi",
        "3gp", "amr", "ape", "wv", "mpc", "ra", "dsf", "dff", "spx", "tta",
    ]

    private struct Folder {
        let path: String
        var names: FolderNames
    }

    /// What a named folder gave so far.
    private struct Named {
        let path: String
        var files = 0
        var problems = 0
        var others: [String: Int] = [:]
    }

    private var paths: ArraySlice<String>
    private var list: NameList
    /// The folder that is walked, and those above it.
    private var folders: [Folder] = []
    private var named = Named(path: "")

    /// - Parameters:
    ///   - paths: files and folders.
    ///   - list: further ones, after those.
    public init(paths: [String], list: consuming NameList = NameList()) {
        self.paths = paths[...]
        self.list = list
    }

    /// The next file or line; nil at the end.
    public mutating func next() -> Item? {
        while true {
            if let item = nextInFolder() { return item }
            let path: String
            if let first = paths.popFirst() {
                path = first
            } else {
                switch list.next() {
                case .name(let name): path = name
                case .problem(let line): return .problem(line)
                case nil: return nil
                }
            }
            guard path.utf8.count < NameList.longestName else {
                return .problem(
                    "\(printable(String(path.prefix(40))))…: \(path.utf8.count) bytes, longer than the name of a file can be; "
                        + "give one name per line"
                )
            }
            // A file that does not exist or is not audio is reported later, when it is opened.
            guard isFolder(path) else { return .file(path) }
            named = Named(path: path)
            if let problem = enter(path) { return problem }
        }
    }

    private mutating func nextInFolder() -> Item? {
        while let last = folders.indices.last {
            guard let name = folders[last].names.next() else {
                folders.removeLast()
                if folders.isEmpty, let item = summary { return item }
                continue
            }
            let folder = folders[last].path
            let path = folder.hasSuffix("/") ? folder + name.text : "\(folder)/\(name.text)"
            guard name.isFolder else {
                named.files += 1
                return .file(path)
            }
            if let problem = enter(path) { return problem }
        }
        return nil
    }

    private mutating func enter(_ path: String) -> Item? {
        guard let names = FolderNames(path, others: &named.others) else {
            named.problems += 1
            return .problem("\(printable(path)): cannot read this folder; check its permissions")
        }
        folders.append(Folder(path: path, names: names))
        return nil
    }

    /// What is to be said of a named folder at its end.
    private var summary: Item? {
        let count = named.others.values.reduce(0, +)
        let kinds = named.others.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ".\($0.key): \($0.value)" }
        let advice =
            "these cannot be read (\(kinds.joined(separator: ", "))); convert them, as with ffmpeg -i FILE FILE.wav"
        if named.files == 0 {
            let others = count == 0 ? "" : "; there \(count == 1 ? "is 1 other" : "are \(count) others"), and \(advice)"
            guard named.problems == 0 else { return nil }
            return .problem(
                "\(printable(named.path)): no audio files in this folder (wav, flac, ogg, opus, mp3, aiff, …)\(others)"
            )
        }
        guard count > 0 else { return nil }
        return .note(
            "\(printable(named.path)): left out \(count) \(count == 1 ? "file" : "files"), because \(advice)"
        )
    }
}

/// The folders and audio files in a folder, sorted by the bytes of their names; hidden ones and links to folders are left out.
///
/// A name takes its own bytes and ten more, because a folder may have millions.
private struct FolderNames: Sendable {
    /// For each name, 1 for a folder or 0, the name, and NUL.
    private var bytes: [UInt8] = []
    private var starts: [Int] = []
    private var position = 0

    /// - Parameter others: counts by extension the sound files that cannot be read.
    /// - Returns: nil if the folder cannot be read.
    init?(_ path: String, others: inout [String: Int]) {
        guard let stream = opendir(FileName.cString(path)) else { return nil }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let kind = entry.pointee.d_type
            withUnsafeBytes(of: &entry.pointee.d_name) { name in
                let name = name.prefix { $0 != 0 }
                guard name.first != 0x2E else { return }
                let isFolder = Int(kind) == DT_DIR || Int(kind) == DT_UNKNOWN && Self.isFolder(name, in: stream)
                if !isFolder {
                    let ending = Self.ending(name)
                    guard FileWalk.audioEndings.contains(ending) else {
                        if FileWalk.otherEndings.contains(ending) { others[ending, default: 0] += 1 }
                        return
                    }
                }
                starts.append(bytes.count)
                bytes.append(isFolder ? 1 : 0)
                bytes.append(contentsOf: name)
                bytes.append(0)
            }
        }
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
            starts.sort { strcmp(base + $0 + 1, base + $1 + 1) < 0 }
        }
    }

    mutating func next() -> (text: String, isFolder: Bool)? {
        guard position < starts.count else { return nil }
        let start = starts[position]
        position += 1
        return (FileName.text(bytes[(start + 1)...].prefix { $0 != 0 }), bytes[start] == 1)
    }

    /// For file systems that do not give the kind of an entry.
    private static func isFolder(_ name: Slice<UnsafeRawBufferPointer>, in stream: OpaquePointer) -> Bool {
        var status = stat()
        let name = name.map(CChar.init(bitPattern:)) + [0]
        return fstatat(dirfd(stream), name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The extension without its dot, in small letters; empty if there is none.
    private static func ending(_ name: Slice<UnsafeRawBufferPointer>) -> String {
        guard let dot = name.lastIndex(of: 0x2E), name.endIndex - dot <= 8 else { return "" }
        return String(decoding: name[(dot + 1)...].map { (0x41...0x5A).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
