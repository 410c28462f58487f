private import Audio
private import Core
public import Inference
private import Spotting
private import System

/// Common words, and what their embeddings are where people say them, by the text encoder: it knows which ones sound alike.
///
/// The file `neighbours.safetensors` in the model's folder holds them, as Models/FORMAT.md says.
public struct NearWords: Sendable {
    /// Name of the file in the model's folder.
    static let fileName = "neighbours.safetensors"

    private let words: [String]
    private let vectors: VectorTable

    /// Reads the words of a model.
    ///
    /// - Throws: a `ModelError` if the file is missing, damaged or made with another embedding.
    init(folder: String, model: Model) throws(ModelError) {
        let file = try SafeTensors(path: folder + "/" + Self.fileName)
        vectors = try VectorTable(file, "vectors", dimensions: model.embeddingCount)
        let letters = try file.floats("words", shape: [vectors.count, TextEncoder.longest])
        words = (0..<vectors.count).map { row in
            let word = letters[row * TextEncoder.longest..<(row + 1) * TextEncoder.longest]
            return String(decoding: word.prefix { $0 > 0 }.map { UInt8(max(0, min(127, $0))) }, as: UTF8.self)
        }
    }

    /// Reads the words of a model; nil if the model has none.
    ///
    /// - Throws: a `ModelError` if the file is damaged or made with another embedding.
    public static func beside(_ model: Model, in folder: String) throws(ModelError) -> NearWords? {
        guard (try? FileStatus(path: folder + "/" + fileName)) != nil else { return nil }
        return try NearWords(folder: folder, model: model)
    }

    /// The words that are nearest to a vector, the nearest first.
    ///
    /// - Parameters:
    ///   - vector: a unit vector, `[dimensions]`.
    ///   - count: the most words.
    ///   - least: cosine from which a word is near.
    ///   - name: neither it nor a word that begins with it, or with which it begins, is among them.
    func nearest(to vector: [Float], count: Int, least: Float, except name: String) -> [String] {
        let name = name.lowercased()
        let cosines = vectors.cosines(with: vector, 0..<vectors.count)
        let near = words.indices.filter { cosines[$0] >= least }.sorted { cosines[$0] > cosines[$1] }
        return near.lazy.map { words[$0] }.filter { !name.hasPrefix($0) && !$0.hasPrefix(name) }.prefix(count).map {
            $0
        }
    }
}

extension WordStore.Word {
    /// Near words of a single word, and of each word of a phrase.
    private static let (mostOfWord, mostOfPart) = (8, 3)
    /// Cosine of a word with another one from which they may sound alike, by their texts; and with takes, which are less like a text.
    private static let (leastOfTexts, leastOfTakes): (Float, Float) = (0.55, 0.4)

    /// What sounds like this word, or is half of it: texts that may be taken for it. For a phrase its beginnings and ends, and the phrase
    /// with one word replaced by a near one.
    public func similarTexts(_ near: NearWords?, _ negatives: NegativeSet) -> [String] {
        let words = name.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "'" }.map(String.init)
        guard words.count > 1 else {
            guard let near, let end = prototype(cohort: []).first else { return [] }
            return near.nearest(to: end, count: Self.mostOfWord, least: Self.leastOfTakes, except: name)
        }
        var texts: [String] = []
        for place in 1..<words.count {
            texts += [words[..<place], words[place...]].map { $0.joined(separator: " ") }
        }
        guard let near, let encoder = negatives.text else { return texts }
        for (place, word) in words.enumerated() {
            let vector = encoder.vector(of: word)
            guard !vector.isEmpty else { continue }
            for other in near.nearest(to: vector, count: Self.mostOfPart, least: Self.leastOfTexts, except: word) {
                var changed = words
                changed[place] = other
                texts.append(changed.joined(separator: " "))
            }
        }
        return texts
    }

    /// What there is to say of these texts where nobody has tried which of them are taken for the word; empty for none.
    public static func similarRemark(_ texts: [String]) -> [String] {
        guard !texts.isEmpty else { return [] }
        return ["It may be confused with \(texts.map { "'\(printable($0))'" }.joined(separator: ", "))."]
    }

    /// The word's highest probability in a recording, 0…1, as a detector computes it.
    ///
    /// - Parameter samples: `[samples]` at 16 kHz, full scale 1.
    public func highestProbability(in samples: [Float], _ model: Model) -> Float {
        guard let taught, isUsable(by: model) else { return 0 }
        return taught.highestProbability(in: samples, model)
    }
}
