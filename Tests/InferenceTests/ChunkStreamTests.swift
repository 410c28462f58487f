import Foundation
import Inference
import TestSupport
import Testing

/// A chunk of hops must give the results of the hops one by one, to the last bit.
struct ChunkStreamTests {
    private static func models() throws -> [Model] {
        var withActivity = TestNetwork.medium()
        withActivity.voice("b1", 64)
        var quantised = withActivity
        quantised.json["ranges"] = ["input": 4, "stem": 4, "b1.first": 6, "b1": 6, "b2": 8, "pool": 8]
        // The shipped model has layers that only the embedding needs.
        let shipped = try Model(folder: Folders.models.appendingPathComponent("commands").path)
        return try [
            TestNetwork.medium().model(), withActivity.model(seed: 3), quantised.model(precision: .int8), shipped,
        ]
    }

    @Test(arguments: [1, 2, 3, 5, 8, 16]) func `a chunk of hops gives the results of the hops one by one`(hops: Int)
        throws
    {
        for model in try Self.models() {
            guard var chunk = ChunkStream(model, hops: hops, embeds: true) else {
                Issue.record("no chunk of \(hops) hops")
                continue
            }
            var session = InferenceStream(model, embeds: true)
            var random = SplitMix(seed: 61)
            let context = chunk.contextSamples
            // Both assume silence before the start.
            let audio =
                [Float](repeating: 0, count: model.windowSamples)
                + random.floats(3 * hops * model.hopSamples, -0.3...0.3)
            for round in 0..<3 {
                let first = model.windowSamples + round * hops * model.hopSamples
                chunk.score(audio.span.extracting(first - context..<first + hops * model.hopSamples))
                for hop in 0..<hops {
                    let end = first + (hop + 1) * model.hopSamples
                    session.score(window: audio.span.extracting(end - model.windowSamples..<end))
                    let labels = model.labels.count
                    #expect(Array(chunk.posteriors[hop * labels..<(hop + 1) * labels]) == session.posteriors)
                    let steps = model.activityCount
                    #expect(Array(chunk.activity[hop * steps..<(hop + 1) * steps]) == session.activity)
                    let dimensions = model.embeddingCount
                    #expect(
                        Array(chunk.embeddings[hop * dimensions..<(hop + 1) * dimensions]) == session.embedding
                    )
                }
            }
            chunk.reset()
            session.reset()
            chunk.score(audio.span.extracting(16_000 - context..<16_000 + hops * model.hopSamples))
            session.score(window: audio.span.extracting(model.hopSamples..<model.hopSamples + model.windowSamples))
            #expect(Array(chunk.posteriors.prefix(model.labels.count)) == session.posteriors)
        }
    }

    @Test func `a model that does not stream has no chunk session`() throws {
        var network = TestNetwork.medium()
        network.json["streaming"] = false
        let model = try network.model()
        if ChunkStream(model, hops: 4) != nil { Issue.record("a chunk session") }
    }
}
