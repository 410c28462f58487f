public import Inference
private import System

/// What a new word has to stand apart from: an hour of talk by many people, and examples of the model's own words.
///
/// Both are embeddings, made when the model was; they lie beside it.
public struct NegativeSet: Sendable {
    public static let fileName = "background.safetensors"

    /// Unit vectors of hops of talk, one after the other.
    let talk: [[Float]]
    /// Unit vectors at the ends of utterances that were said alone: where words are decided that are said alone.
    let ends: [[Float]]
    /// Hours of talk in which there were so many ends.
    let endHours: Double
    /// Unit vectors of the model's words, by name.
    let words: [(name: String, vectors: [[Float]])]
    let hopsPerHour: Double

    /// Reads what lies beside a model.
    ///
    /// - Throws: a `ModelError` where it is missing, damaged or of another embedding.
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
        ends = try vectors("ends")
        endHours = try file.floats("ends.hours", shape: [1]).first.map(Double.init) ?? 0
        var words: [(name: String, vectors: [[Float]])] = []
        for label in model.labels.dropLast(2) { words.append((label, try vectors("word.\(label)"))) }
        self.words = words
        hopsPerHour = 3600 * Double(model.sampleRate) / Double(model.hopSamples)
    }

    /// What lies beside a model; nil where nothing does.
    ///
    /// - Throws: a `ModelError` where it is damaged or of another embedding.
    public static func beside(_ model: Model, in folder: String) throws(ModelError) -> NegativeSet? {
        guard (try? FileStatus(path: folder + "/" + fileName)) != nil else { return nil }
        return try NegativeSet(folder: folder, model: model)
    }

    /// How like a word's anchors each moment of talk is, as a detector that averages two hops sees it, highest first; one
    /// value for moments closer to each other than a word is long.
    func talkLikenesses(_ anchors: [[Float]], lag: Int) -> [Float] {
        guard let last = anchors.first else { return [] }
        var plain = talk.map { dot($0, last) }
        for (number, anchor) in anchors.enumerated().dropFirst() {
            let before = talk.map { dot($0, anchor) }
            for hop in plain.indices {
                let place = hop - number * lag
                let near = max(0, place - 1)...max(0, place + 1)
                plain[hop] += place >= 0 ? before[near.clamped(to: before.indices.closed)].max() ?? 0 : 0
            }
        }
        let held = zip(plain, plain.dropFirst()).map { ($0 + $1) / 2 / Float(anchors.count) }
        return Self.peaks(held, apart: 7).sorted(by: >)
    }

    /// How like a word's last anchor the ends of utterances are, highest first.
    func endLikenesses(_ anchors: [[Float]]) -> [Float] {
        guard let last = anchors.first else { return [] }
        return ends.map { dot($0, last) }.sorted(by: >)
    }

    /// The highest values, no two of them closer than so many places.
    private static func peaks(_ values: [Float], apart: Int) -> [Float] {
        var taken = [Bool](repeating: false, count: values.count)
        var peaks: [Float] = []
        for index in values.indices.sorted(by: { values[$0] > values[$1] }).prefix(400) where !taken[index] {
            peaks.append(values[index])
            for near in max(0, index - apart)...min(values.count - 1, index + apart) { taken[near] = true }
        }
        return peaks
    }
}

extension Range<Int> {
    /// The same places; of an empty range 0.
    fileprivate var closed: ClosedRange<Int> { lowerBound...Swift.max(lowerBound, upperBound - 1) }
}
