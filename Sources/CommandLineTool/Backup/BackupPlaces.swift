import Configuration
import Core
import Enrollment
private import Glibc
import System

/// Where on this machine lies what a backup has: the system's services' for root, where they are installed, else the user's.
///
/// A name in a backup begins with the place: `configuration/kitchen.json5`, `words/words`, `state@kitchen/web.token`, `named/1/ca.pem`.
struct BackupPlaces {
    /// Folders by the first part of names.
    let folders: [(place: String, folder: String)]
    let configurations: [InstanceConfiguration]
    let isOfSystem: Bool

    /// Of the folder of taught words: their file, and the added wake words.
    private static let words = "words", wakeWords = "wake-words"
    /// Of a state folder: the page's token, the key and the state of ESPHome, what clients of the wake-word server are called.
    private static let state = ["web.token", "esphome.key", "esphome.json", "clients.json"]
    /// Files that configurations name elsewhere, each in a folder of its own.
    static let named = "named"
    /// The folder beside the configurations into which these are restored.
    static let restored = "restored"

    private static let mostDepth = 4

    /// - Throws: if there is no home and this is not root.
    init(environment: [String: String]) throws(Failure) {
        let systemFolder = ConfigurationFile.systemFolder
        let ofSystem = [systemFolder, StateFolder.ofWords, StateFolder.ofService]
        isOfSystem = geteuid() == 0 && ofSystem.contains(where: fileExists)
        // The service's own, not those of the instance that was named.
        var own = environment
        own[Instance.variable] = nil
        let user = ConfigurationFile.userPath(environment: own).map { String(splitPath($0).folder.dropLast()) }
        guard let configuration = isOfSystem ? systemFolder : user,
            let words = TaughtWords.usualPath(own),
            let state = isOfSystem ? StateFolder.ofService : StateFolder.path({ own[$0] })
        else { throw Failure("there is no home: HOME is not set") }
        let prefix = splitPath(configuration).folder + splitPath(configuration).name + "/"
        configurations = InstanceConfiguration.all(environment: own).filter { $0.path.hasPrefix(prefix) }
        let parent = splitPath(state).folder
        folders =
            [("configuration", configuration), ("words", String(splitPath(words).folder.dropLast())), ("state", state)]
            + (isOfSystem ? [("state-serve", parent + "beckon-serve")] : [])
            + namesInFolder(parent).filter { $0.hasPrefix("beckon@") }.sorted().map {
                ("state" + $0.dropFirst(6), parent + $0)
            }
        wordsName = splitPath(words).name
        stateParent = parent
    }

    private let wordsName: String
    private let stateParent: String

    /// The file on this machine of a name in a backup: its folder, and the parts below it.
    ///
    /// - Returns: nil for a name that no backup has, so that nothing else is ever written.
    func target(_ name: String) -> (folder: String, parts: [String])? {
        let parts = name.split(separator: "/").map(String.init)
        guard let place = parts.first, parts.count >= 2 else { return nil }
        let rest = Array(parts.dropFirst())
        switch place {
        case "configuration": return (folder(place) ?? "", rest)
        case "words":
            let isKnown = rest == [Self.words] || rest.count > 1 && rest.first == Self.wakeWords
            return isKnown ? (folder(place) ?? "", rest == [Self.words] ? [wordsName] : rest) : nil
        case Self.named:
            return parts.count == 3
                ? (folder("configuration") ?? "", [Self.restored, rest.joined(separator: "-")]) : nil
        case let state where state.hasPrefix("state"):
            guard rest.count == 1, Self.state.contains(rest[0]) else { return nil }
            let instance = state.dropFirst("state".count)
            guard
                instance.isEmpty || instance == "-serve"
                    || instance.first == "@" && Instance(String(instance.dropFirst())) != nil
            else { return nil }
            // A user's services share one folder, but for instances.
            return (
                folder(instance == "-serve" && !isOfSystem ? "state" : state) ?? stateParent + "beckon" + instance, rest
            )
        default: return nil
        }
    }

    private func folder(_ place: String) -> String? { folders.first { $0.place == place }?.folder }

    // MARK: - What there is

    /// The files that there are, by their names in a backup, and what is left out, a line each.
    ///
    /// - Throws: for a file that cannot be read: a backup without a password would be found out too late.
    func read() throws(Failure) -> (files: [BackupArchive.File], named: [String], notes: [String]) {
        var (files, notes) = ([BackupArchive.File](), [String]())
        for (place, folder) in folders {
            switch place {
            case "configuration": try add(folder, place, depth: Self.mostDepth, &files, &notes)
            case "words":
                try addFile(folder + "/" + wordsName, "\(place)/\(Self.words)", &files)
                try add(folder + "/" + Self.wakeWords, "\(place)/\(Self.wakeWords)", depth: 2, &files, &notes)
            default: for name in Self.state { try addFile("\(folder)/\(name)", "\(place)/\(name)", &files) }
            }
        }
        for configuration in configurations where !configuration.isReadable {
            notes.append("\(configuration.path) has mistakes: files that it names elsewhere are not in the backup")
        }
        var named: [String] = []
        for path in configurations.flatMap(\.namedFiles)
        where !folders.contains(where: { path.hasPrefix($0.folder + "/") }) {
            for file in Self.files(at: path) where !named.contains(file) {
                named.append(file)
                try addFile(file, "\(Self.named)/\(named.count)/\(splitPath(file).name)", &files)
            }
        }
        return (files, named, notes)
    }

    /// A file with those beside it that belong to it, as the model of a wake word to its manifest; those of a folder.
    private static func files(at path: String) -> [String] {
        let isFolder = NamedFile.kind(path) == .folder
        let folder = isFolder ? path + "/" : splitPath(path).folder
        let endings = ["json", "tflite", "onnx"]
        let others = namesInFolder(folder).sorted().filter { name in
            endings.contains(String(PathName(name).ending))
                && (isFolder || PathName(folder + name).withoutEnding == PathName(path).withoutEnding)
        }
        return isFolder || endings.contains(String(PathName(path).ending)) ? others.map { folder + $0 } : [path]
    }

    private func add(
        _ folder: String,
        _ name: String,
        depth: Int,
        _ files: inout [BackupArchive.File],
        _ notes: inout [String]
    ) throws(Failure) {
        for entry in namesInFolder(folder).sorted() {
            let path = "\(folder)/\(entry)"
            var status = stat()
            guard lstat(FileName.cString(path), &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            // What a link leads to is kept as a file.
            case S_IFLNK where NamedFile.kind(path) == .regular, S_IFREG: try addFile(path, "\(name)/\(entry)", &files)
            case S_IFDIR where depth > 0: try add(path, "\(name)/\(entry)", depth: depth - 1, &files, &notes)
            default: notes.append("\(path) is left out: it is no file")
            }
        }
    }

    private func addFile(_ path: String, _ name: String, _ files: inout [BackupArchive.File]) throws(Failure) {
        do throws(ReadFileError) {
            let file = try readFile(path, limit: BackupArchive.mostOfFile)
            files.append(BackupArchive.File(name: name, mode: file.status.permissions & 0o777, bytes: file.bytes))
        } catch {
            if case .system(SystemError("open", ENOENT)) = error { return }
            throw Failure(
                "\(printable(path)): \(error); nothing was written"
                    + (geteuid() == 0 ? "" : "; run this as root, or as its owner")
            )
        }
    }
}
