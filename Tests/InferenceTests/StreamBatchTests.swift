import Foundation
import Inference
import KernelInterface
import Kernels
import TestSupport
import Testing

/// A batch of streams must give the results of each stream alone, to the last bit.
struct StreamBatchTests {
    @Test(arguments: InstructionSet.supported.filter { $0 != .scalar }, [1, 2, 7, 12, 29])
    func `a batch of streams gives the results of the streams one by one`(set: InstructionSet, streams: Int) throws {
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
        var expected: [[[Float]]] = []
        for stream in audio {
            var session = Session(model)
            expected.append(
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
                #expect(posteriors + activity == expected[stream][hop - 1], "stream \(stream), hop \(hop)")
            }
        }
    }

    @Test func `a model that does not stream has no batch`() throws {
        var network = TestNetwork.medium()
        network.json["streaming"] = false
        let model = try network.model()
        if StreamBatch(model, streams: 2) != nil { Issue.record("a batch") }
    }
}
