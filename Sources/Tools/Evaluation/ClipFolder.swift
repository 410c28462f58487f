public import Core

/// A folder of clips in the layout of Speech Commands: `<label>/<file>`.
public struct ClipFolder: Sendable {
    public struct Clip: Sendable, Equatable {
        public let path: String
        /// The path within the folder.
        public let name: String
        /// The first component of `name`: what is said.
        public let folder: String
        /// Who says it: of the list, else of its name; nil where it is not known.
        public internal(set) var speaker: String?
    }

    public let path: String
    public private(set) var clips: [Clip] = []
    /// One line for each group of files that is left out.
    public private(set) var problems: [String] = []

    /// - Parameters:
    ///   - path: the folder.
    ///   - files: paths of the audio files in it, each beginning with `path`.
    ///   - list: the clips to take, relative to the folder; nil takes all. Extensions are not compared, because a
    ///     dataset may have been converted since its lists were written.
    ///   - listName: what messages call the list.
    public init(path: String, files: [String], list: ClipList? = nil, listName: String = "") {
        self.path = path
        var loose: [String] = []
        for file in files {
            let name = String(file.dropFirst(path.count).drop { $0 == "/" })
            let parts = name.split(separator: "/")
            if parts.count > 1, let folder = parts.first {
                var clip = Clip(path: file, name: name, folder: String(folder))
                clip.speaker = clip.speakerOfName
                clips.append(clip)
            } else {
                loose.append(name)
            }
        }
        if let list {
            restrict(to: list, named: listName)
        } else if !loose.isEmpty {
            problems.append(Self.summary(loose, of: path, "not in a folder that says what is said"))
        }
    }

    /// Keeps the clips of a list, in its order.
    private mutating func restrict(to list: ClipList, named listName: String) {
        let names = list.names.map(Self.key)
        let known = Dictionary(clips.map { (Self.key($0.name), $0) }, uniquingKeysWith: { first, _ in first })
        var seen: Set<String> = []
        clips = names.filter { seen.insert($0).inserted }.compactMap { name in
            var clip = known[name]
            if let speaker = list.speakers[name] { clip?.speaker = speaker }
            return clip
        }
        let missing = names.filter { known[$0] == nil }
        if !missing.isEmpty { problems.append(Self.summary(missing, of: listName, "not found in \(printable(path))")) }
    }

    /// A name without its extension.
    static func key(_ name: String) -> String {
        let name = name.hasPrefix("./") ? String(name.dropFirst(2)) : name
        return PathName(name).withoutEnding
    }

    private static func summary(_ names: [String], of place: String, _ problem: String) -> String {
        let first = names.prefix(3).map(printable).joined(separator: ", ")
        let count = counted(names.count, "clip is", "clips are")
        return "\(printable(place)): \(count) \(problem) and left out (\(first)\(names.count > 3 ? ", …" : ""))"
    }
}

extension Labels {
    /// What a label stands for.
    public enum Kind: String, Sendable { case word, unknown, silence }

    public func kind(of label: Int) -> Kind {
        wordIndices.contains(label) ? .word : label == silenceIndex ? .silence : .unknown
    }

    /// Name of a label; empty for an index out of range.
    public func name(of label: Int) -> String { names.indices.contains(label) ? names[label] : "" }

    /// The label of clips in a folder of this name, in the layout of Speech Commands (Warden 2018).
    public func label(ofFolder folder: String) -> Int {
        index(of: folder) ?? wordIndices.first { WordName.folded(names[$0]) == WordName.folded(folder) }
            ?? (folder == "silence" || folder == Self.backgroundFolder ? silenceIndex : unknownIndex)
    }

    /// Folder of long recordings without speech, which are cut into clips of silence.
    public static let backgroundFolder = "_background_noise_"
}
