private import Core
private import FoundationEssentials

/// A folder of clips in the layout of Speech Commands: `<label>/<file>`.
struct ClipFolder {
    struct Clip {
        let path: String
        /// The path within the folder.
        let name: String
        /// The first part of `name`: what is said.
        let folder: String
    }

    let path: String
    private(set) var clips: [Clip] = []
    /// One line for each thing that is left out.
    private(set) var problems: [String]

    /// - Parameters:
    ///   - list: a file with the names of the clips to take, relative to the folder, one a line; nil takes all.
    /// - Throws: where the folder is none, or the list cannot be read.
    init(path: String, list: String?) throws {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw Failure("\(printable(path)): no such folder")
        }
        guard isFolder else {
            throw Failure(
                "\(printable(path)): not a folder; evaluate takes one with a folder for each word, or recordings with --stream"
            )
        }
        self.path = path
        let found = FileList(paths: [path])
        problems = found.problems
        var loose: [String] = []
        for file in found.files {
            let name = String(file.dropFirst(path.count).drop { $0 == "/" })
            let parts = name.split(separator: "/")
            if parts.count > 1, let folder = parts.first {
                clips.append(Clip(path: file, name: name, folder: String(folder)))
            } else {
                loose.append(name)
            }
        }
        if let list {
            try restrict(to: list)
        } else if !loose.isEmpty {
            problems.append(Self.summary(loose, of: path, "in no folder that says what is said in it"))
        }
    }

    /// Keeps the clips of a list.
    private mutating func restrict(to list: String) throws {
        guard let data = FileManager.default.contents(atPath: list) else {
            throw Failure("\(printable(list)): cannot read this list of clips")
        }
        let names = FileList.names(in: [UInt8](data), nulSeparated: false).map(Self.key)
        let known = Dictionary(clips.map { (Self.key($0.name), $0) }, uniquingKeysWith: { first, _ in first })
        var seen: Set<String> = []
        clips = names.filter { seen.insert($0).inserted }.compactMap { known[$0] }
        let missing = names.filter { known[$0] == nil }
        if !missing.isEmpty { problems.append(Self.summary(missing, of: list, "not found in \(printable(path))")) }
    }

    /// A name without its ending, as a dataset may have been converted since its lists were written.
    private static func key(_ name: String) -> String {
        let name = name.hasPrefix("./") ? String(name.dropFirst(2)) : name
        return PathName(name).withoutEnding
    }

    private static func summary(_ names: [String], of place: String, _ problem: String) -> String {
        let first = names.prefix(3).map(printable).joined(separator: ", ")
        let count = names.count == 1 ? "1 clip is" : "\(names.count) clips are"
        return "\(printable(place)): \(count) \(problem) and left out (\(first)\(names.count > 3 ? ", …" : ""))"
    }
}
