private import Core
private import Glibc
private import Inference
private import System
public import WakeWords

/// The folder `wake-words` beside the file of taught words: wake words with models of their own that a user added. Each has a folder of its own
/// there, with its manifest and its model.
public struct WakeWordFolder: Sendable {
    public let path: String

    /// - Parameter words: the file of taught words; without one, the folder is beside the default file.
    /// - Returns: nil if there is no place to keep words in.
    public init?(beside words: TaughtWords = TaughtWords(nil)) {
        guard let file = words.path ?? TaughtWords(nil).path else { return nil }
        path = parentFolder(file) + "/wake-words"
    }

    /// A wake word that is there.
    public struct Entry: Sendable {
        /// As it is called in the configuration, such as `hey_house`.
        public let name: String
        /// The file of the manifest.
        public let manifest: String
        /// Whether it came with the program.
        public let isShipped: Bool
    }

    /// The wake words that came with the program, by name.
    public static var shipped: [Entry] { shipped(beside: nil) }

    /// The same; where the program has none, such as one that only links the library, those beside a model's folder.
    static func shipped(beside model: String?) -> [Entry] {
        guard let folder = ModelFolder.shippedFile("wake-words") ?? model.map({ $0 + "/../wake-words" }) else {
            return []
        }
        return entries(folder).filter { $0.hasSuffix(".json") }.map { file in
            Entry(name: String(file.dropLast(5)), manifest: "\(folder)/\(file)", isShipped: true)
        }
    }

    /// The wake words that were added, by name.
    public var added: [Entry] {
        Self.entries(path).compactMap { name in
            manifest(of: name).map { Entry(name: name, manifest: $0, isShipped: false) }
        }
    }

    /// The models in a folder of the user's, by name: manifests, and models without one beside them. Of a model that is there as TFLite and as
    /// ONNX only the first counts.
    ///
    /// - Returns: nil for what is not a folder.
    /// - Throws: `WakeWordError.unreadable` for a folder without models.
    static func models(in folder: String) throws(WakeWordError) -> [String]? {
        guard isFolder(folder) else { return nil }
        let place = folder + (folder.hasSuffix("/") ? "" : "/")
        var models: [String: String] = [:]
        let entries = entries(folder)
        func files(_ ending: String) -> [String] {
            entries.filter { PathName($0).ending.lowercased() == ending }
        }
        for file in files("onnx") + files("tflite") { models[PathName(file).withoutEnding] = file }
        for file in files("json") {
            let stem = PathName(file).withoutEnding
            if let manifest = try? WakeWordManifest(path: place + file) {
                // It may be called otherwise than its model.
                models[PathName(manifest.model).withoutEnding] = nil
                models[stem] = file
            } else if models[stem] != nil {
                models[stem] = file
            }
        }
        guard !models.isEmpty else { throw .noModels(in: folder) }
        return models.sorted { $0.key < $1.key }.map { place + $0.value }
    }

    private static func entries(_ folder: String) -> [String] {
        namesInFolder(folder).sorted()
    }

    /// The manifest of a wake word that was added; nil if there is none of this name.
    public func manifest(of name: String) -> String? {
        guard let folder = Self.folderName(name) else { return nil }
        let file = "\(path)/\(folder)/\(folder).json"
        return fileExists(file) ? file : nil
    }

    /// The name of a word's folder, `hey_house`; nil for a name that no file can have.
    private static func folderName(_ name: String) -> String? {
        let folder = WordName.folded(name).replacing(" ", with: "_")
        let isUsable = !folder.isEmpty && folder.utf8.count <= 100 && !folder.hasPrefix(".") && !folder.contains("/")
        return isUsable && !folder.contains("\0") ? folder : nil
    }

    /// Copies a wake word into the folder after it was read and checked.
    ///
    /// - Parameter file: its manifest, or its model with the manifest beside it; a head of openWakeWord without one gets it.
    /// - Returns: the word, and the name of its folder.
    /// - Throws: `WakeWordError` for a file that cannot be used; ``EnrollmentError`` for a name that is taken, or a folder that cannot be written.
    public func add(_ file: String) throws -> (word: WakeWord, name: String) {
        let word = try WakeWord(path: file, embedding: SpeechEmbedding.shipped)
        guard let name = Self.folderName(word.name) else {
            throw EnrollmentError.name.saying("\(file): no file can be called like the word '\(printable(word.name))'")
        }
        guard manifest(of: name) == nil else {
            throw EnrollmentError.name.saying(
                "\(name) was added already; beckon model remove \(ShellWord.quoted(name)) removes it"
            )
        }
        if word.path != file, Self.isLink(word.path) {
            throw EnrollmentError.store.saying(
                "\(printable(word.path)): a link, which a manifest must not name; put the model itself beside the manifest"
            )
        }
        // What is above is the user's own, as for taught words.
        StateFolder.make(parentFolder(path))
        mkdir(path, 0o755)
        let folder = "\(path)/\(name)"
        let new = try Self.makeFolder(in: path)
        do {
            try Self.write(word, as: name, into: new)
            // Both files at once. What has the name already, but for an empty folder, stays: also a link.
            guard rename(new, folder) == 0 else {
                throw EnrollmentError.store.saying(
                    errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR
                        ? "\(folder) is there, but is no wake word's; move it away"
                        : "\(folder): cannot be made: \(SystemError.text(errno)); check the permissions"
                )
            }
        } catch {
            try? removeFolder(new)
            throw error
        }
        return (word, name)
    }

    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// A new folder with a name that nobody knows before, hidden so that it is no wake word yet.
    private static func makeFolder(in path: String) throws(EnrollmentError) -> String {
        var template = Array("\(path)/.new-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw .store.saying("\(path): cannot make a folder here: \(SystemError.text(errno)); check its permissions")
        }
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        chmod(folder, 0o755)
        return folder
    }

    /// Writes manifest and model of a word into an empty folder.
    private static func write(_ word: WakeWord, as name: String, into folder: String) throws(EnrollmentError) {
        for (source, target) in [(word.path, word.manifest.model), (word.manifestPath, name + ".json")] {
            do {
                let isWritten = source == word.manifestPath && !word.hasManifest
                let bytes =
                    try isWritten
                    ? Array(word.manifest.json.utf8) : readFile(source, limit: WakeWord.mostBytes).bytes
                try replaceFile("\(folder)/\(target)", mode: 0o644, durable: true, isForFolderOwner: true, bytes)
            } catch {
                throw EnrollmentError.store.saying("\(printable(source)): cannot be copied to \(folder): \(error)")
            }
        }
    }

    /// Removes a wake word that was added.
    ///
    /// - Returns: the name of its folder.
    /// - Throws: ``EnrollmentError``.
    public func remove(_ name: String) throws(EnrollmentError) -> String {
        guard let folder = Self.folderName(name), manifest(of: folder) != nil else {
            let isShipped = Self.shipped.contains { WordName.folded($0.name) == WordName.folded(name) }
            throw .unknown.saying(
                isShipped
                    ? "'\(printable(name))' came with the program and stays; it is off unless it is named"
                    : "no wake word '\(printable(name))' was added; beckon model list lists them"
            )
        }
        do {
            try removeFolder("\(path)/\(folder)")
        } catch {
            throw .store.saying("\(path)/\(folder): cannot be removed; check its permissions")
        }
        // The folder of all, if this was the last word.
        rmdir(path)
        return folder
    }
}
