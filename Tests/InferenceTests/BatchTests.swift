import Foundation
import Inference
import KernelInterface
import Kernels
import TestSupport
import Testing

/// Many hops, or many streams, at once must answer to the last bit what one after the other answers.
struct BatchTests {
    private static func models() throws -> [Model] {
        var talking = TestNetwork.medium()
        talking.voice("b1", 64)
        var whole = talking
        whole.json["ranges"] = ["input": 4, "stem": 4, "b1.first": 6, "b1": 6, "b2": 8, "pool": 8]
        // With upper layers of its own for the embedding.
        let shipped = try Model(folder: Folders.models.appendingPathComponent("commands").path)
        return try [TestNetwork.medium().model(), talking.model(seed: 3), whole.model(precision: .int8), shipped]
    }

    @Test(arguments: [1, 2, 3, 5, 8, 16]) func `a stretch of hops is the hops one by one`(hops: Int) throws {
        for model in try Self.models() {
            guard var stretch = Stretch(model, hops: hops, embeds: true) else {
                Issue.record("no stretch of \(hops) hops")
                continue
            }
            var session = Session(model, embeds: true)
            var random = SplitMix(seed: 61)
            let lead = stretch.lead
            // Silence before the start, as both suppose.
            let audio =
                [Float](repeating: 0, count: model.windowSamples)
                + random.floats(3 * hops * model.hopSamples, -0.3...0.3)
            for round in 0..<3 {
                let first = model.windowSamples + round * hops * model.hopSamples
                stretch.score(audio.span.extracting(first - lead..<first + hops * model.hopSamples))
                for hop in 0..<hops {
                    let end = first + (hop + 1) * model.hopSamples
                    session.score(window: audio.span.extracting(end - model.windowSamples..<end))
                    let labels = model.labels.count
                    #expect(Array(stretch.posteriors[hop * labels..<(hop + 1) * labels]) == session.posteriors)
                    let steps = model.activityCount
                    #expect(Array(stretch.activity[hop * steps..<(hop + 1) * steps]) == session.activity)
                    let dimensions = model.embeddingCount
                    #expect(
                        Array(stretch.embeddings[hop * dimensions..<(hop + 1) * dimensions]) == session.embedding
                    )
                }
            }
            stretch.reset()
            session.reset()
            stretch.score(audio.span.extracting(16_000 - lead..<16_000 + hops * model.hopSamples))
            session.score(window: audio.span.extracting(model.hopSamples..<model.hopSamples + model.windowSamples))
            #expect(Array(stretch.posteriors.prefix(model.labels.count)) == session.posteriors)
        }
    }

    @Test(arguments: InstructionSet.supported.filter { $0 != .scalar }, [1, 2, 7, 12, 29])
    func `a batch of streams is the streams one by one`(set: InstructionSet, streams: Int) throws {
        for precision in Precision.allCases { try compare(set, precision, streams: streams) }
    }

    private func compare(_ set: InstructionSet, _ precision: Precision, streams: Int) throws {
        let folder = Folders.models.appendingPathComponent("commands").path
        let model = try Model(folder: folder, kernels: set, precision: precision)
        guard var batch = StreamBatch(model, streams: streams) else {
            Issue.record("no batch of \(streams) streams")
            return
        }
        var random = SplitMix(seed: 62)
        let audio = (0..<streams).map { _ in
            [Float](repeating: 0, count: model.windowSamples) + random.floats(4 * model.hopSamples, -0.3...0.3)
        }
        var answers: [[[Float]]] = []
        for stream in audio {
            var session = Session(model)
            answers.append(
                (1...4).map { hop in
                    let first = hop * model.hopSamples
                    session.score(window: stream.span.extracting(first..<first + model.windowSamples))
                    return session.posteriors + session.activity
                }
            )
        }
        for hop in 1...4 {
            batch.score { stream in
                // The arrays outlive the call.
                audio[stream].withUnsafeBufferPointer {
                    UnsafeBufferPointer(
                        rebasing: $0[hop * model.hopSamples..<hop * model.hopSamples + model.windowSamples]
                    )
                }
            }
            for stream in 0..<streams {
                let labels = model.labels.count
                let steps = model.activityCount
                let posteriors = Array(batch.posteriors[stream * labels..<(stream + 1) * labels])
                let activity = Array(batch.activity[stream * steps..<(stream + 1) * steps])
                #expect(posteriors + activity == answers[stream][hop - 1], "stream \(stream), hop \(hop)")
            }
        }
    }

    @Test func `a model that does not stream has neither`() throws {
        var network = TestNetwork.medium()
        network.json["streaming"] = false
        let model = try network.model()
        if Stretch(model, hops: 4) != nil { Issue.record("a stretch") }
        if StreamBatch(model, streams: 2) != nil { Issue.record("a batch") }
    }
}
