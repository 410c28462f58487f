import Foundation
import Inference
import KernelInterface
import Kernels
import TestSupport
import Testing

/// A batch of streams must give the results of each stream alone, to the last bit.
struct StreamBatchTests {
    /// The outputs of each hop of one stream alone, after a second of silence.
    private func expected(_ model: Model, _ audio: [Float], embeds: Bool) -> [[Float]] {
        var session = InferenceStream(model, embeds: embeds)
        return (1...(audio.count - model.windowSamples) / model.hopSamples).map { hop in
            let first = hop * model.hopSamples
            session.score(window: audio.span.extracting(first..<first + model.windowSamples))
            return session.posteriors + session.activity + session.embedding
        }
    }

    private func audio(_ model: Model, streams: Int) -> [[Float]] {
        var random = SplitMix(seed: 62)
        return (0..<streams).map { _ in
            [Float](repeating: 0, count: model.windowSamples) + random.floats(4 * model.hopSamples, -0.3...0.3)
        }
    }

    /// Scores one hop of each of these streams, counted from 1.
    private func score(
        _ batch: inout StreamBatch,
        _ streams: [(stream: BatchStream, audio: [Float], hop: Int)]
    ) -> [[Float]] {
        let (window, hop, newest) = (batch.model.windowSamples, batch.model.hopSamples, batch.newestSamples)
        batch.score(streams.map(\.stream)) { index in
            let end = streams[index].hop * hop + window
            // The arrays outlive the call.
            return streams[index].audio.withUnsafeBufferPointer {
                UnsafeBufferPointer(rebasing: $0[end - newest..<end])
            }
        }
        return streams.map { $0.stream.posteriors + $0.stream.activity + $0.stream.embedding }
    }

    @Test(arguments: InstructionSet.supported.filter { $0 != .scalar }, [1, 2, 7, 12, 29])
    func `a batch of streams gives the results of the streams one by one`(set: InstructionSet, streams: Int) throws {
        let folder = Folders.models.appendingPathComponent("commands").path
        for (precision, embeds) in Precision.allCases.flatMap({ [($0, false), ($0, true)] }) {
            let model = try Model(folder: folder, kernels: set, precision: precision)
            var batch = StreamBatch(model, embeds: embeds)
            let all = self.audio(model, streams: streams).map { (batch.makeStream(), $0) }
            let expected = all.map { self.expected(model, $0.1, embeds: embeds) }
            for hop in 1...4 {
                let scores = score(&batch, all.map { ($0.0, $0.1, hop) })
                for stream in 0..<streams {
                    #expect(scores[stream] == expected[stream][hop - 1], "stream \(stream), hop \(hop)")
                }
            }
        }
    }

    @Test func `streams may come, pause, begin again and go`() throws {
        let model = try Model(folder: Folders.models.appendingPathComponent("commands").path)
        var batch = StreamBatch(model)
        let audio = self.audio(model, streams: 3)
        let expected = audio.map { self.expected(model, $0, embeds: false) }
        let first = batch.makeStream()
        #expect(score(&batch, [(first, audio[0], 1)]) == [expected[0][0]])
        let second = batch.makeStream()
        #expect(score(&batch, [(second, audio[1], 1), (first, audio[0], 2)]) == [expected[1][0], expected[0][1]])
        // The first pauses for a hop; the second begins again, with other audio.
        batch.reset(second)
        #expect(score(&batch, [(second, audio[2], 1)]) == [expected[2][0]])
        #expect(score(&batch, [(first, audio[0], 3), (second, audio[2], 2)]) == [expected[0][2], expected[2][1]])
    }

    @Test func `a model that does not stream computes whole windows`() throws {
        var network = TestNetwork.medium()
        network.json["streaming"] = false
        let model = try network.model()
        var batch = StreamBatch(model)
        #expect(batch.newestSamples == model.windowSamples)
        let audio = self.audio(model, streams: 2)
        let expected = audio.map { self.expected(model, $0, embeds: false) }
        let streams = [batch.makeStream(), batch.makeStream()]
        for hop in 1...2 {
            let scores = score(&batch, [(streams[1], audio[1], hop), (streams[0], audio[0], hop)])
            #expect(scores == [expected[1][hop - 1], expected[0][hop - 1]])
        }
    }
}
