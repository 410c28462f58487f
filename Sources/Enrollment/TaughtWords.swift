private import Core
private import FoundationEssentials
private import Glibc
public import Inference
public import Spotting

/// The file of taught words: its path, and the words read from it.
public struct TaughtWords: Sendable {
    /// Nil for no words, or if there is no folder to keep them in.
    public let path: String?
    /// An option names the file, so it must exist.
    private let isNamed: Bool

    /// - Parameters:
    ///   - named: a file; "none" for no words; nil for the default file.
    ///   - environment: nil for the program's own.
    public init(_ named: String?, environment: [String: String]? = nil) {
        isNamed = named != nil && named != "none"
        path = named == "none" ? nil : named ?? Self.usualPath(environment ?? ProcessInfo.processInfo.environment)
    }

    /// The default file: `$BECKON_WORDS`, else `words` in the service's state directory (for the service, and for root if that
    /// exists), else in the user's state directory.
    public static func usualPath(_ environment: [String: String]) -> String? {
        func folder(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        if let path = environment["BECKON_WORDS"], !path.isEmpty { return path }
        if let folder = folder("STATE_DIRECTORY")?.split(separator: ":").first { return folder + "/words" }
        if geteuid() == 0, access("/var/lib/beckon", F_OK) == 0 { return "/var/lib/beckon/words" }
        if let folder = folder("XDG_STATE_HOME") { return folder + "/beckon/words" }
        return folder("HOME").map { $0 + "/.local/state/beckon/words" }
    }

    /// The words for a detector that runs this model.
    ///
    /// - Parameter folder: the model's folder, for its ``NegativeSet``; nil for none.
    /// - Returns: the words, and the names of lost words: they were taught to another model and have no recordings.
    /// - Throws: ``EnrollmentError/store``, ``EnrollmentError/damaged``; a `ModelError` if the ``NegativeSet`` is
    ///   damaged.
    public func load(for model: Model, folder: String?) throws -> (words: [PersonalWord], lost: [String]) {
        guard var store = try read() else { return ([], []) }
        // The negative set is large, and needed only to calibrate the words for another model, or words that an earlier
        // version stored without thresholds for sensitivities.
        var negatives: NegativeSet?
        let isOfAnotherModel = store.embedding != model.embeddingIdentity
        if isOfAnotherModel || store.words.contains(where: \.sensitivities.isEmpty), let folder {
            negatives = try NegativeSet.beside(model, in: folder)
        }
        let lost = store.reembed(for: model, negatives)
        if let negatives {
            for index in store.words.indices where store.words[index].sensitivities.isEmpty {
                store.words[index].estimateSensitivities(negatives)
            }
        }
        return (store.words.compactMap(\.personal), lost)
    }

    /// The store; nil if there is none and no option names one.
    ///
    /// - Throws: ``EnrollmentError/store``, ``EnrollmentError/damaged``.
    public func read() throws(EnrollmentError) -> WordStore? {
        guard let path else { return nil }
        if let store = try WordStoreFile(path: path).read() { return store }
        guard !isNamed else {
            throw .store.saying("\(path): no words are kept here; beckon enroll WORD --words FILE adds some")
        }
        return nil
    }

    /// The names of all words; none if they cannot be read, which ``load(for:folder:)`` reports.
    public var names: [String] { (try? read())?.words.map(\.name) ?? [] }

    /// The file to change; its folder is created if it does not exist.
    ///
    /// - Throws: ``EnrollmentError/store``.
    public func file() throws(EnrollmentError) -> WordStoreFile {
        guard let path else {
            throw .store.saying("no place to keep words in; name a file with --words FILE or in BECKON_WORDS")
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw .store.saying("\(folder): cannot create this folder to keep words in; name a file with --words FILE")
        }
        return WordStoreFile(path: path)
    }

    /// The message for a word that ``load(for:folder:)`` returned as lost.
    public static func lostLine(_ name: String) -> String {
        "'\(printable(name))' was taught to another model and its recordings were not kept; teach it again: beckon enroll "
            + "'\(printable(name))'"
    }
}
