import Configuration
import Core
import Enrollment
private import Inference
private import System

/// `beckon forget`: removes taught words, and says which configuration still names them.
struct ForgetWords {
    let names: [String]
    let taught: TaughtWords
    let listening: ListeningOptions
    let json: Bool

    func run() throws {
        let path = taught.path
        let store = try taught.read()
        if let store { try UnquotedName.check(names, store) }
        if let name = names.first(where: { store?[$0] == nil }), modelWords.contains(name) {
            throw Failure(
                "'\(name)' is one of the model's words, which stay; words: { \(name): { enabled: false } } in the "
                    + "configuration leaves it out"
            )
        }
        guard let path, let store else {
            throw Failure("no word '\(printable(names[0]))' was taught; there are none")
        }
        try WordStoreFile(path: path).update(.announced(path)) { store throws(EnrollmentError) in
            for name in names { try store?.forget(name) }
        }
        if !json { Output.write("Forgotten: \(names.map(printable).joined(separator: ", "))\n") }
        warn(of: store.words.map(\.name).filter { !names.contains($0) })
    }

    private var modelWords: [String] {
        (try? listening.loadModel(detects: false)).map { Labels($0.labels).words } ?? []
    }

    /// Warns of each place in a configuration that names a forgotten word. A word of the model stays known.
    ///
    /// - Parameter others: the other taught words.
    private func warn(of others: [String]) {
        let model = modelWords
        let gone = names.filter { !model.contains($0) }
        guard !gone.isEmpty else { return }
        for path in ConfigurationFile.inUse {
            // A configuration with mistakes of its own is reported when it is read.
            guard let parsed = try? ParsedConfiguration(path: path) else { continue }
            for place in parsed.places(naming: gone, known: model + others) { Output.report(.warning, "\(place)") }
        }
    }
}
