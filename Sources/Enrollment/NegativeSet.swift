private import Core
public import Inference
private import System

/// Negative examples for calibration: embeddings of hours of talk by many people, and of the model's words.
///
/// They were computed with the model. The file `background.safetensors` in its folder holds them, as Models/FORMAT.md says.
public struct NegativeSet: Sendable {
    /// Name of the file in the model's folder.
    public static let fileName = "background.safetensors"

    /// Unit vectors of consecutive hops of talk, `[hops × dimensions]`.
    let talk: VectorTable
    /// Hours of this talk.
    let talkHours: Double
    /// Unit vectors of the hops after utterances said alone at which `DetectionMode.command` may decide, and of the hop before these,
    /// `[hops × dimensions]`.
    let ends: VectorTable
    /// The rows of `ends` of each utterance, in the order of the talk.
    let utterances: [Range<Int>]
    /// Hours of talk that the ends were taken from.
    let endHours: Double
    /// Unit vectors of each of the model's words, `[examples × dimensions]`.
    let words: [(name: String, vectors: [[Float]])]

    /// Reads the set of a model.
    ///
    /// - Parameter folder: the model's folder.
    /// - Throws: a `ModelError` if the file is missing, damaged or made with another embedding.
    public init(folder: String, model: Model) throws(ModelError) {
        let file = try SafeTensors(path: folder + "/" + Self.fileName)
        let dimensions = model.embeddingCount
        talk = try VectorTable(file, "talk", dimensions: dimensions)
        ends = try VectorTable(file, "ends", dimensions: dimensions)
        talkHours = try file.floats("talk.hours", shape: [1]).first.map(Double.init) ?? 0
        endHours = try file.floats("ends.hours", shape: [1]).first.map(Double.init) ?? 0
        let numbers = try file.floats("ends.utterance", shape: [ends.count])
        utterances = numbers.indices.reduce(into: []) { found, row in
            if let last = found.indices.last, numbers[row] == numbers[row - 1] {
                found[last] = found[last].lowerBound..<row + 1
            } else {
                found.append(row..<row + 1)
            }
        }
        var words: [(name: String, vectors: [[Float]])] = []
        for label in Labels(model.labels).words {
            let name = "word.\(label)"
            let count = file.shape(of: name)?.first ?? 0
            let numbers = try file.floats(name, shape: [count, dimensions])
            let vectors = (0..<count).map { unit(numbers[$0 * dimensions..<($0 + 1) * dimensions].map { $0 - 128 }) }
            words.append((label, vectors))
        }
        self.words = words
    }

    /// Reads the set of a model; nil if the model has none.
    ///
    /// - Throws: a `ModelError` if the file is damaged or made with another embedding.
    public static func beside(_ model: Model, in folder: String) throws(ModelError) -> NegativeSet? {
        guard (try? FileStatus(path: folder + "/" + fileName)) != nil else { return nil }
        return try NegativeSet(folder: folder, model: model)
    }
}
