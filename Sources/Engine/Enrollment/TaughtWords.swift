private import Core
private import Glibc
public import Inference
public import Spotting
private import System

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
        path = named == "none" ? nil : named ?? Self.usualPath(environment ?? OwnEnvironment.variables)
    }

    /// The default file: `$BECKON_WORDS`, else `words` in the folder of the system's words (for root, if that exists), else in the
    /// service's state directory (for the service, and for root if that exists), else in the user's state directory.
    ///
    /// - Parameters:
    ///   - isRoot: nil asks the system.
    ///   - exists: whether there is a file at a path; nil asks the system.
    public static func usualPath(
        _ environment: [String: String],
        isRoot: Bool? = nil,
        exists: ((String) -> Bool)? = nil
    ) -> String? {
        if let path = environment["BECKON_WORDS"], !path.isEmpty { return path }
        let isThere: (String) -> Bool = exists ?? { fileExists($0) }
        if isRoot ?? (geteuid() == 0), environment["STATE_DIRECTORY"] == nil, isThere(StateFolder.ofWords) {
            return StateFolder.ofWords + "/words"
        }
        return StateFolder.path { environment[$0] }.map { $0 + "/words" }
    }

    /// Whether root's words are not those of the system's service although it is installed: its state folder does not exist yet.
    ///
    /// - Parameters:
    ///   - isRoot: nil asks the system.
    ///   - exists: whether there is a file at a path; nil asks the system.
    public static func isBeforeService(
        _ environment: [String: String],
        isRoot: Bool? = nil,
        exists: ((String) -> Bool)? = nil
    ) -> Bool {
        let isThere: (String) -> Bool = exists ?? { fileExists($0) }
        guard isRoot ?? (geteuid() == 0), environment["BECKON_WORDS"] ?? "" == "",
            environment["STATE_DIRECTORY"] == nil,
            !isThere(StateFolder.ofWords), !isThere(StateFolder.ofService)
        else { return false }
        return ["/etc", "/usr/lib", "/usr/local/lib", "/lib"].contains {
            isThere($0 + "/systemd/system/beckon.service")
        }
    }

    /// The words for a detector.
    public struct Loaded: Sendable {
        /// Those that the model can find.
        public fileprivate(set) var words: [TaughtWord] = []
        /// Those with sounds; the ones with takes too are among ``words`` as well, if the model can find them by these.
        public fileprivate(set) var typed: [WordStore.Word] = []
        /// The names of the others: they were taught to another model and have no recordings.
        public fileprivate(set) var lost: [String] = []
        /// The names of words that were forgotten, and of those that are lost: a configuration may still name them.
        public var gone: [String] { forgotten + lost }
        /// The names of words that were forgotten.
        fileprivate var forgotten: [String] = []
        /// One line about words that were learnt anew for the model; nil if there were none.
        public fileprivate(set) var note: String?
    }

    /// The words for a detector that runs this model. Words of another model are learnt anew from their recordings.
    ///
    /// - Parameters:
    ///   - folder: the model's folder, for its ``NegativeSet``; nil for none.
    ///   - stores: whether to store the words that were learnt anew, if that is possible at once and loses nothing. Set it
    ///     for a service when it starts: without it, the words are learnt anew at each start. Two services with different
    ///     models that stored at each change of the file would never come to rest.
    /// - Throws: ``EnrollmentError/store``, ``EnrollmentError/damaged``; a `ModelError` if the ``NegativeSet`` is
    ///   damaged.
    public func load(for model: Model, folder: String?, stores: Bool = false) throws -> Loaded {
        guard let stored = try read({ file throws(EnrollmentError) in try file.readWithoutAudio() }), let path else {
            return Loaded()
        }
        let file = WordStoreFile(path: path)
        let unusable = stored.unusable(by: model)
        let renews = !unusable.isEmpty && !file.recordedWords().isDisjoint(with: unusable)
        let incomplete = stored.incomplete(for: model)
        let completes = !incomplete.isEmpty && !file.recordedWords().isDisjoint(with: incomplete)
        var negatives: NegativeSet?
        // The negative set is large, and needed only to calibrate the words for another model, or words that an earlier
        // version stored without thresholds for sensitivities, or without sequences.
        if renews || completes && stores || stored.lacksEstimates(for: model), let folder {
            negatives = try NegativeSet.beside(model, in: folder)
        }
        guard renews || completes || negatives != nil else {
            return Loaded(
                words: stored.taught(for: model),
                typed: stored.typed,
                lost: unusable,
                forgotten: stored.forgotten
            )
        }
        func complete(_ store: inout WordStore, _ renewal: WordStore.Renewal) -> Bool {
            store.complete(for: model, negatives)
            return store.renew(for: model, negatives, renewal)
        }
        var loaded = Loaded()
        var updated: WordStore?
        if stores {
            do throws(EnrollmentError) {
                try file.update(.none) { store throws(EnrollmentError) in
                    guard var changed = store else { return }
                    if complete(&changed, .complete) {
                        loaded.note = "\(path): the words were learnt anew for the model \(model.name), and stored"
                    }
                    store = changed
                    updated = changed
                }
            } catch {
                if renews { loaded.note = "\(error); words are learnt anew for the model \(model.name) at each start" }
            }
        }
        var known = try updated ?? (renews || completes ? file.read() : nil) ?? stored
        _ = complete(&known, .partial)
        loaded.words = known.taught(for: model)
        loaded.typed = known.typed
        loaded.lost = known.unusable(by: model)
        loaded.forgotten = known.forgotten
        return loaded
    }

    /// The store; nil if there is none and no option names one.
    ///
    /// - Throws: ``EnrollmentError/store``, ``EnrollmentError/damaged``.
    public func read() throws(EnrollmentError) -> WordStore? {
        try read { file throws(EnrollmentError) in try file.read() }
    }

    private func read(
        _ read: (WordStoreFile) throws(EnrollmentError) -> WordStore?
    ) throws(EnrollmentError) -> WordStore? {
        guard let path else { return nil }
        if let store = try read(WordStoreFile(path: path)) { return store }
        guard !isNamed else {
            throw .store.saying("\(path): no words are kept here; beckon enroll WORD --words FILE adds some")
        }
        return nil
    }

    /// The names of all words; none if they cannot be read, which ``load(for:folder:stores:)`` reports.
    public var names: [String] { storeWithoutAudio?.words.map(\.name) ?? [] }

    /// The names of words that were forgotten; none if they cannot be read.
    public var forgotten: [String] { storeWithoutAudio?.forgotten ?? [] }

    private var storeWithoutAudio: WordStore? {
        try? read { file throws(EnrollmentError) in try file.readWithoutAudio() }
    }

    /// The file to change; its folder is created if it does not exist.
    ///
    /// - Throws: ``EnrollmentError/store``.
    public func file() throws(EnrollmentError) -> WordStoreFile {
        guard let path else {
            throw .store.saying("no place to keep words in; name a file with --words FILE or in BECKON_WORDS")
        }
        let folder = parentFolder(path)
        StateFolder.make(folder)
        guard isFolder(folder) else {
            throw .store.saying("\(folder): cannot create this folder to keep words in; name a file with --words FILE")
        }
        return WordStoreFile(path: path)
    }

    /// The message for a word that ``load(for:folder:stores:)`` returned as lost.
    public static func lostLine(_ name: String) -> String {
        "'\(printable(name))' was taught to another model and its recordings were not kept; teach it again: beckon enroll "
            + ShellWord.quoted(printable(name))
    }
}
