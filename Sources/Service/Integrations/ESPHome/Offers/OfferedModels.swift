private import Core
private import Glibc
private import System
import WakeWords

/// Models of wake words that Home Assistant has offered and its user has chosen: each has a folder of its own in a folder of the state
/// folder, with its manifest and its model. What lies there is used.
public enum OfferedModels {
    private static let manifest = "word.json"
    /// A model that is not checked yet; hidden, so that it is not used.
    private static let unfinished = ".new"

    static func folder(in state: String) -> String { state + "/offered-words" }

    /// The manifests of all of them, as names of wake words.
    ///
    /// - Parameter state: the state folder; nil has none.
    public static func manifests(in state: String?) -> [String] {
        guard let state else { return [] }
        let folder = folder(in: state)
        let names = namesInFolder(folder).filter { !$0.hasPrefix(".") }.sorted()
        return names.map { "\(folder)/\($0)/\(manifest)" }.filter { access($0, R_OK) == 0 }
            .prefix(AssistantWords.most).map(\.self)
    }

    /// Keeps a model, if the reader can use it.
    ///
    /// - Parameters:
    ///   - name: of its folder.
    ///   - id: the word that it must be of.
    static func keep(_ name: String, _ id: String, json: [UInt8], model: [UInt8], in state: String)
        throws(OfferProblem)
    {
        let parent = folder(in: state)
        let place = "\(parent)/\(unfinished)"
        StateFolder.make(state)
        mkdir(parent, 0o700)
        remove(place)
        mkdir(place, 0o700)
        defer { remove(place) }
        let file = try read { () throws(WakeWordError) in try WakeWordManifest(json: json).model }
        try write(model, file, in: place)
        try write(json, manifest, in: place)
        let word = try read { () throws(WakeWordError) in try WakeWord(path: "\(place)/\(manifest)") }
        guard word.name == id else { throw OfferProblem("it is of the word '\(printable(word.name))'") }
        let final = "\(parent)/\(name)"
        for (path, kept) in Self.kept(in: state) where kept == id { remove(parentFolder(path)) }
        remove(final)
        guard rename(place, final) == 0 else { throw OfferProblem("rename: \(SystemError.text(errno))") }
    }

    /// The manifests, each with the word that it is of.
    private static func kept(in state: String) -> [(path: String, id: String)] {
        manifests(in: state).map { path in (path, (try? WakeWord.phrase(of: path)).map(WordName.folded) ?? "") }
    }

    /// What the folder of a word is called; nil if its model is not kept.
    static func name(of id: String, in state: String) -> String? {
        kept(in: state).first { $0.id == id }.map { splitPath(parentFolder($0.path)).name }
    }

    /// Removes all but those of these words. Returns whether there were any.
    static func keepOnly(_ ids: [String], in state: String) -> Bool {
        var hasRemoved = false
        for (path, id) in kept(in: state) where !ids.contains(id) {
            remove(parentFolder(path))
            hasRemoved = true
        }
        return hasRemoved
    }

    private static func read<Value>(_ body: () throws(WakeWordError) -> Value) throws(OfferProblem) -> Value {
        do throws(WakeWordError) { return try body() } catch { throw OfferProblem(error.message) }
    }

    private static func write(_ bytes: [UInt8], _ name: String, in folder: String) throws(OfferProblem) {
        do throws(SystemError) {
            try replaceFile("\(folder)/\(name)", mode: 0o600, durable: false, bytes)
        } catch {
            throw OfferProblem("\(folder): \(error)")
        }
    }

    /// Removes a folder with its files.
    private static func remove(_ folder: String) {
        for name in namesInFolder(folder, hidden: true) { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }
}

/// Why a model that was offered is not used.
struct OfferProblem: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
