import Configuration
import Core
import Enrollment
import Inference

/// `beckon words rename`: gives a taught word another name, and says which configuration still has the old one.
struct RenamedWord {
    let name: String
    let new: String
    let taught: TaughtWords
    let listening: ListeningOptions
    let json: Bool

    func run() throws {
        let (model, negatives) = try listening.loadModelWithNegatives()
        let known = Labels(model.labels).words
        let file = try taught.file()
        try file.rename(name, to: new, for: model, negatives, .announced(file.path))
        if !json { Output.write("Renamed: \(printable(name)) is \(printable(new)) now\n") }
        // A word of the model stays known under its own name.
        guard !known.contains(name) else { return }
        let others = (try taught.read()?.words ?? []).map(\.name)
        for path in ConfigurationFile.inUse {
            // A configuration with mistakes of its own is reported when it is read.
            guard let parsed = try? ParsedConfiguration(path: path) else { continue }
            for place in parsed.places(naming: [name], known: known + others, newName: new) {
                Output.report(.warning, "\(place)")
            }
        }
    }
}

extension ListeningOptions {
    /// The model to learn words by, and its negative set; nil if it has none.
    func loadModelWithNegatives() throws -> (Model, NegativeSet?) {
        let model = try loadModel(detects: false)
        let negatives = try ModelFolder.find(modelFolder).flatMap { folder throws(ModelError) in
            try NegativeSet.beside(model, in: folder)
        }
        return (model, negatives)
    }
}
