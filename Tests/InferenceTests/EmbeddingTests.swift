import Foundation
import TestSupport
import Testing

@testable import Inference

/// The embedding, and the layers that only the embedding needs.
struct EmbeddingTests {
    private static let folder = Folders.models.appendingPathComponent("commands")

    private static func files() throws -> (json: [UInt8], weights: [UInt8]) {
        let bytes = try ["model.json", "model.safetensors"].map {
            [UInt8](try Data(contentsOf: folder.appendingPathComponent($0)))
        }
        return (bytes[0], bytes[1])
    }

    /// `model.json` without the embedding and the layers that only it needs.
    private static func withoutEmbedding() throws -> [UInt8] {
        var json = try JSONSerialization.jsonObject(with: Data(files().json)) as? [String: Any] ?? [:]
        json["embedding"] = nil
        json["ranges"] = (json["ranges"] as? [String: Any] ?? [:]).filter { !$0.key.hasPrefix("words") }
        json["layers"] = (json["layers"] as? [[String: Any]] ?? []).filter { layer in
            guard let name = layer["name"] as? String else { return true }
            return name != "words" && !name.hasPrefix("words.")
        }
        return try [UInt8](JSONSerialization.data(withJSONObject: json))
    }

    @Test func `without the embedding the results are the same, and its layers are not computed`() throws {
        let model = try Model(folder: Self.folder.path)
        var without = InferenceStream(model)
        var with = InferenceStream(model, embeds: true)
        #expect(without.embedding == [] && with.embedding.count == model.embeddingCount)
        let audio = try Reference(Self.folder).waveforms.prefix(4).flatMap { $0 }
        var seen: [[Float]] = []
        for end in stride(from: model.windowSamples, through: audio.count, by: model.hopSamples) {
            let window = audio.span.extracting(end - model.windowSamples..<end)
            without.score(window: window)
            with.score(window: window)
            #expect(without.logits == with.logits && without.activity == with.activity)
            seen.append(with.embedding)
        }
        #expect(Set(seen).count == seen.count)
        without.lookAhead(window: audio.span.extracting(first: model.windowSamples))
        with.lookAhead(window: audio.span.extracting(first: model.windowSamples))
        #expect(without.lookaheadPosteriors == with.lookaheadPosteriors && without.lookaheadEmbedding == [])
        // A hop without the embedding does not count its layers.
        let alone = try Model(
            description: try Self.withoutEmbedding(),
            weights: try Self.files().weights,
            confirms: false
        )
        #expect(model.multiplyAddsPerHop == alone.multiplyAddsPerHop)
    }

    /// The model with other layers as its embedding.
    private static func model(embedding: [String]) throws -> Model {
        var json = try JSONSerialization.jsonObject(with: Data(files().json)) as? [String: Any] ?? [:]
        json["embedding"] = embedding
        return try Model(
            description: [UInt8](JSONSerialization.data(withJSONObject: json)),
            weights: try files().weights,
            confirms: false
        )
    }

    @Test func `several layers make one embedding, in which all weigh the same`() throws {
        let names = ["words", "embedding"]
        let parts = try names.map { try Self.model(embedding: [$0]) }
        let both = try Self.model(embedding: names)
        #expect(both.embeddingCount == parts[0].embeddingCount + parts[1].embeddingCount)
        #expect(
            Set([both, parts[0], parts[1], try Self.model(embedding: names.reversed())].map(\.embeddingIdentity)).count
                == 4
        )
        var first = InferenceStream(parts[0], embeds: true)
        var second = InferenceStream(parts[1], embeds: true)
        var session = InferenceStream(both, embeds: true)
        guard var chunk = ChunkStream(both, hops: 4, embeds: true) else { throw CocoaError(.featureUnsupported) }
        var batch = StreamBatch(both, embeds: true)
        let stream = batch.makeStream()
        #expect(stream.embedding == session.embedding)
        let audio = try Reference(Self.folder).waveforms.prefix(2).flatMap { $0 }
        let hop = both.hopSamples
        let padded = [Float](repeating: 0, count: both.windowSamples) + audio
        var hops: [[Float]] = []
        for end in stride(from: both.windowSamples + hop, through: padded.count, by: hop) {
            let window = padded.span.extracting(end - both.windowSamples..<end)
            first.score(window: window)
            second.score(window: window)
            let expected = [first.embedding, second.embedding].flatMap { part in
                let length = part.reduce(0) { $0 + $1 * $1 }.squareRoot()
                return part.map { $0 / length * Float(0.5).squareRoot() }
            }
            session.score(window: window)
            #expect(zip(session.embedding, expected).allSatisfy { abs($0 - $1) < 1e-5 })
            padded[end - both.windowSamples..<end].withUnsafeBufferPointer { buffer in
                let newest = UnsafeBufferPointer(rebasing: buffer.suffix(batch.newestSamples))
                batch.score([stream]) { _ in newest }
            }
            #expect(stream.embedding == session.embedding)
            hops.append(session.embedding)
        }
        // A chunk has the same embeddings as the hops, to the last bit.
        for first in stride(from: 0, to: hops.count - 3, by: 4) {
            let start = both.windowSamples + first * hop - chunk.contextSamples
            chunk.score(padded.span.extracting(start..<start + chunk.sampleCount))
            #expect(chunk.embeddings == Array(hops[first..<first + 4].joined()))
        }
        // A part that is not a number makes no number of the others.
        session.scoreWhole(window: [Float](repeating: .nan, count: both.windowSamples).span)
        #expect(session.embedding.allSatisfy { $0.isNaN })
    }

    @Test(arguments: [[], ["words", "words"], ["words", "none"], Array(repeating: "words", count: 9)])
    func `an embedding of impossible layers is refused`(names: [String]) throws {
        #expect(throws: ModelError.description) { _ = try Self.model(embedding: names) }
    }

    @Test func `the embedding identity depends on what makes embeddings, and on nothing else`() throws {
        let (json, weights) = try Self.files()
        let model = try Model(description: json, weights: weights, confirms: false)
        func identity(_ change: (String) -> String, flipping byte: Int? = nil) throws -> String {
            var bytes = weights
            if let byte { bytes[byte] ^= 1 }
            let text = change(String(decoding: json, as: UTF8.self))
            return try Model(description: Array(text.utf8), weights: bytes, confirms: false).embeddingIdentity
        }
        #expect(try identity { $0 } == model.embeddingIdentity)
        let threshold = try identity { $0.replacing(/"stop": [0-9.]+/, with: "\"stop\": 0.5") }
        #expect(threshold == model.embeddingIdentity)
        let warmer = try identity {
            $0.replacing(/"temperature": [0-9.]+/, with: "\"temperature\": 0.81")
        }
        #expect(warmer == model.embeddingIdentity)
        let floor = try identity { $0.replacingOccurrences(of: "\"floor\": 1e-06", with: "\"floor\": 1e-05") }
        #expect(floor != model.embeddingIdentity)
        // Weights of the embedding's own layers.
        let begin = 8 + weights.prefix(8).enumerated().reduce(0) { $0 + Int($1.element) << (8 * $1.offset) }
        let header = try JSONSerialization.jsonObject(with: Data(weights[8..<begin])) as? [String: [String: Any]]
        let end = try #require((header?["words.second.bias"]?["data_offsets"] as? [Int])?.last)
        #expect(try identity({ $0 }, flipping: begin + end - 2) != model.embeddingIdentity)
        #expect(try Model(folder: Self.folder.path, precision: .float).embeddingIdentity == model.embeddingIdentity)
    }

    /// A copy of the model in a folder, with other weights.
    private static func copy(_ weights: [UInt8], in folder: TestFolder) throws -> String {
        let path = folder.file("model")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for name in ["model.json", "confirm.safetensors"] {
            try FileManager.default.copyItem(atPath: Self.folder.path + "/" + name, toPath: path + "/" + name)
        }
        try Data(weights).write(to: URL(fileURLWithPath: path + "/model.safetensors"))
        return path
    }

    @Test func `what only the embedding needs is loaded when it is needed, and damage in it is found then`() throws {
        let folder = try TestFolder()
        let (json, weights) = try Self.files()
        let place = try #require(try SafeTensors(bytes: weights, file: "w").entries["words.weight"]?.bytes.upperBound)
        // The last element becomes infinity.
        var damaged = weights
        (damaged[place - 2], damaged[place - 1]) = (0, 0x7C)
        let bad = try Model(folder: Self.copy(damaged, in: folder))
        #expect(throws: ModelError.tensor) { try bad.loadEmbedding() }
        // A stream that needs it nevertheless has zeros.
        var stream = InferenceStream(bad, embeds: true)
        stream.scoreWhole(window: [Float](repeating: 0.1, count: bad.windowSamples).span)
        #expect(stream.embedding == [Float](repeating: 0, count: bad.embeddingCount))

        let model = try Model(folder: Self.folder.path)
        try model.loadEmbedding()
        let inMemory = try Model(description: json, weights: weights, confirms: false)
        let without = try Model(folder: Self.folder.path, confirms: false)
        #expect(without.identity == inMemory.identity && model.identity != inMemory.identity)
        #expect(model.embeddingIdentity == inMemory.embeddingIdentity)
    }

    @Test func `a file that became shorter since the model was loaded is an error, not the end of the program`() throws
    {
        let folder = try TestFolder()
        let path = try Self.copy(Self.files().weights, in: folder)
        let model = try Model(folder: path)
        #expect(truncate(path + "/model.safetensors", 10_000) == 0)
        #expect(throws: ModelError.unreadable) { try model.loadEmbedding() }
        #expect(model.identity.count == 16 && model.embeddingIdentity.count == 16)
    }
}
