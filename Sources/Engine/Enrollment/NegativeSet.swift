private import Core
public import Inference
import Spotting
private import System

/// What a word is calibrated with: embeddings of hours of talk by many people and of the model's words, and the text encoder.
///
/// They were computed with the model. The file `background.safetensors` in its folder holds them, as Models/FORMAT.md says.
public struct NegativeSet: Sendable {
    /// Name of the file in the model's folder.
    public static let fileName = "background.safetensors"

    /// Unit vectors of consecutive hops of talk, `[hops × dimensions]`.
    let talk: VectorTable
    /// Hours of this talk.
    let hours: Double
    /// For each utterance said alone the rows of `talk` at which `DetectionMode.command` may decide, after the row before these; in the
    /// order of the talk.
    let utterances: [Range<Int>]
    /// Examples of each of the model's words, without recordings.
    let words: [(name: String, takes: [WordStore.Take])]
    /// Nil if the model has none.
    let text: TextEncoder?
    /// The speech embedding of the talk; nil if the model has none.
    let speech: SpeechTalk?

    /// Reads the set of a model.
    ///
    /// - Parameter folder: the model's folder.
    /// - Throws: a `ModelError` if the file is missing, damaged or made with another embedding.
    public init(folder: String, model: Model) throws(ModelError) {
        let file = try SafeTensors(path: folder + "/" + Self.fileName)
        let dimensions = model.embeddingCount
        talk = try VectorTable(file, "talk", dimensions: dimensions)
        hours = try file.floats("talk.hours", shape: [1]).first.map(Double.init) ?? 0
        utterances = try file.ranges("talk.ends", within: talk.count)
        var words: [(name: String, takes: [WordStore.Take])] = []
        for label in Labels(model.labels).words {
            let name = "word.\(label)"
            let count = file.shape(of: name)?.first ?? 0
            let numbers = try file.floats(name, shape: [count, 2, dimensions])
            let takes = stride(from: 0, to: 2 * count, by: 2).map { first in
                let templates = [first, first + 1].map { row in
                    unit(numbers[row * dimensions..<(row + 1) * dimensions].map { $0 - 128 })
                }
                return WordStore.Take(templates: templates, templateSpacing: TemplateAlignment.spacingOfWord)
            }
            words.append((label, takes))
        }
        self.words = words
        text = try TextEncoder(file, dimensions: dimensions)
        speech = try SpeechTalk(file, hops: talk.count)
    }

    /// Reads the set of a model; nil if the model has none.
    ///
    /// - Throws: a `ModelError` if the file is damaged or made with another embedding.
    public static func beside(_ model: Model, in folder: String) throws(ModelError) -> NegativeSet? {
        guard (try? FileStatus(path: folder + "/" + fileName)) != nil else { return nil }
        return try NegativeSet(folder: folder, model: model)
    }
}
