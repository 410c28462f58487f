import Foundation
import Inference
import Testing

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
        var without = Session(model)
        var with = Session(model, embeds: true)
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
        let alone = try Model(description: try Self.withoutEmbedding(), weights: try Self.files().weights)
        #expect(model.multiplyAddsPerHop == alone.multiplyAddsPerHop)
    }

    @Test func `the embedding identity depends on what makes embeddings, and on nothing else`() throws {
        let (json, weights) = try Self.files()
        let model = try Model(description: json, weights: weights)
        func identity(_ change: (String) -> String, flipping byte: Int? = nil) throws -> String {
            var bytes = weights
            if let byte { bytes[byte] ^= 1 }
            let text = change(String(decoding: json, as: UTF8.self))
            return try Model(description: Array(text.utf8), weights: bytes).embeddingIdentity
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
        // The last bytes of the file are weights of the embedding's own layers.
        #expect(try identity({ $0 }, flipping: weights.count - 4) != model.embeddingIdentity)
        #expect(try Model(folder: Self.folder.path, precision: .float).embeddingIdentity == model.embeddingIdentity)
    }
}
