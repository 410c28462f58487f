private import Core
public import Inference
private import Spotting
private import System

/// Negative examples for calibration: embeddings of hours of talk by many people, and of the model's words.
///
/// They were computed with the model. The file `background.safetensors` in its folder holds them: tensors `talk`, `ends` and
/// `word.LABEL`, each `[vectors × dimensions]` of bytes (value + 128), `ends.utterance`, `[ends]`, and `talk.hours` and `ends.hours`, `[1]`.
public struct NegativeSet: Sendable {
    /// Name of the file in the model's folder.
    public static let fileName = "background.safetensors"

    /// Unit vectors of consecutive hops of talk, `[hops × dimensions]`.
    let talk: [[Float]]
    /// Hours of this talk.
    let talkHours: Double
    /// For each utterance said alone, unit vectors of the hops after it at which `DetectionMode.command` may decide, and of the hop
    /// before these, `[utterances × hops × dimensions]`.
    let ends: [[[Float]]]
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
        func vectors(_ name: String) throws(ModelError) -> [[Float]] {
            let count = file.shape(of: name)?.first ?? 0
            let numbers = try file.floats(name, shape: [count, dimensions])
            return (0..<count).map { row in
                unit(numbers[row * dimensions..<(row + 1) * dimensions].map { $0 - 128 })
            }
        }
        talk = try vectors("talk")
        let hops = try vectors("ends")
        let utterances = try file.floats("ends.utterance", shape: [hops.count])
        ends =
            zip(hops, utterances).reduce(into: (runs: [[[Float]]](), last: Float?.none)) { found, hop in
                if found.last == hop.1, let run = found.runs.indices.last {
                    found.runs[run].append(hop.0)
                } else {
                    found.runs.append([hop.0])
                }
                found.last = hop.1
            }.runs
        talkHours = try file.floats("talk.hours", shape: [1]).first.map(Double.init) ?? 0
        endHours = try file.floats("ends.hours", shape: [1]).first.map(Double.init) ?? 0
        var words: [(name: String, vectors: [[Float]])] = []
        for label in Labels(model.labels).words { words.append((label, try vectors("word.\(label)"))) }
        self.words = words
    }

    /// Reads the set of a model; nil if the model has none.
    ///
    /// - Throws: a `ModelError` if the file is damaged or made with another embedding.
    public static func beside(_ model: Model, in folder: String) throws(ModelError) -> NegativeSet? {
        guard (try? FileStatus(path: folder + "/" + fileName)) != nil else { return nil }
        return try NegativeSet(folder: folder, model: model)
    }

    /// Similarities of a word to the talk, as a detector computes them (the mean of two hops): the peaks, highest first, no two
    /// of them less than a word's length apart.
    func talkSimilarities(_ templates: [[Float]], spacing: Int) -> [Float] {
        guard !templates.isEmpty else { return [] }
        let cosines = templates.map { template in talk.map { dot($0, template) } }
        let similarities = talk.indices.map { hop in
            PersonalWord.similarity(templates: templates.count, spacing: spacing) { template, age in
                talk.indices.contains(hop - age) ? cosines[template][hop - age] : 0
            }
        }
        let means = zip(similarities, similarities.dropFirst()).map { ($0 + $1) / 2 }
        return Self.peaks(means, apart: 7).sorted(by: >)
    }

    /// Similarities of a word's last template to the ends of utterances, as a detector computes them (the mean of two hops): the
    /// highest of each utterance, highest first.
    func endSimilarities(_ templates: [[Float]]) -> [Float] {
        guard let last = templates.first else { return [] }
        return ends.map { hops in
            let similarities = hops.map { dot($0, last) }
            return zip(similarities, similarities.dropFirst()).map { ($0 + $1) / 2 }.max() ?? -1
        }.sorted(by: >)
    }

    /// The peaks among the 400 highest values, none within `apart` positions of a higher one.
    private static func peaks(_ values: [Float], apart: Int) -> [Float] {
        var isTaken = [Bool](repeating: false, count: values.count)
        var peaks: [Float] = []
        for index in values.indices.sorted(by: { values[$0] > values[$1] }).prefix(400) where !isTaken[index] {
            peaks.append(values[index])
            for near in max(0, index - apart)...min(values.count - 1, index + apart) { isTaken[near] = true }
        }
        return peaks
    }
}
