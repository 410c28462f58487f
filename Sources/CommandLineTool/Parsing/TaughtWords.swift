private import Core
import Enrollment
private import FoundationEssentials
private import Glibc
import Inference
import Spotting

/// Where the user's own words are kept, and how the commands that listen get at them.
struct TaughtWords {
    /// Nil where the user wants none, or has no place for them.
    let path: String?
    /// The user said where they are, so they must be there.
    private let isNamed: Bool

    /// - Parameter named: a file; "none" for no words; nil for the usual place.
    init(_ named: String?, environment: [String: String] = ProcessInfo.processInfo.environment) {
        isNamed = named != nil && named != "none"
        path = named == "none" ? nil : named ?? Self.usualPath(environment)
    }

    /// `$BECKON_WORDS`; `words` in the service's state directory, for the service itself and for root where there is one; else in
    /// the user's own.
    static func usualPath(_ environment: [String: String]) -> String? {
        func folder(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        if let path = environment["BECKON_WORDS"], !path.isEmpty { return path }
        if let folder = folder("STATE_DIRECTORY")?.split(separator: ":").first { return folder + "/words" }
        if geteuid() == 0, access("/var/lib/beckon", F_OK) == 0 { return "/var/lib/beckon/words" }
        if let folder = folder("XDG_STATE_HOME") { return folder + "/beckon/words" }
        return folder("HOME").map { $0 + "/.local/state/beckon/words" }
    }

    /// The words as a detector hears them, made for this model.
    func load(for model: Model, folder: String?) throws -> [PersonalWord] {
        guard var store = try read() else { return [] }
        // What a new model takes to learn the words again need be read for that alone.
        var background: NegativeSet?
        if store.embedding != model.embeddingIdentity, let folder {
            background = try NegativeSet.beside(model, in: folder)
        }
        for name in store.renew(for: model, background) { Terminal.tell(.warning, Self.lostLine(name)) }
        return store.words.compactMap(\.personal)
    }

    /// The store; nil where there is none and need not be.
    func read() throws -> WordStore? {
        guard let path else { return nil }
        if let store = try WordStoreFile(path: path).read() { return store }
        guard !isNamed else {
            throw Failure("\(printable(path)): no words are kept here; beckon enroll WORD --words FILE teaches some")
        }
        return nil
    }

    /// The names of all words; none where they cannot be read, which others tell of.
    var names: [String] { (try? read())?.words.map(\.name) ?? [] }

    /// The file to change, and its folder made where it is missing.
    func file() throws -> WordStoreFile {
        guard let path else {
            throw Failure("no place to keep words in; name a file with --words FILE or in BECKON_WORDS")
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw Failure(
                "\(printable(folder)): cannot make this folder to keep words in; name a file with --words FILE"
            )
        }
        return WordStoreFile(path: path)
    }

    static func lostLine(_ name: String) -> String {
        "'\(printable(name))' was taught to another model and its recordings were not kept; teach it again: beckon enroll "
            + "'\(printable(name))'"
    }
}
