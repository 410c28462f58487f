import Inference
import TestSupport
import Testing

struct NetworkRunnerTests {
    @Test func `the network alone gives the results of a session`() throws {
        var network = TestNetwork.medium()
        network.voice("b1", 64)
        let model = try network.model()
        var random = SplitMix(seed: 5)
        let audio = random.floats(16000 + 12 * 1600)
        let windows = (0...12).map { $0 * 1600..<$0 * 1600 + 16000 }
        let last = audio.span.extracting(windows[12])
        var session = InferenceStream(model)
        session.scoreWhole(window: last)
        let expected = session.logits + session.activity

        var runner = NetworkRunner(model)
        let columns = model.features(of: last)
        #expect(columns.count == runner.windowColumns * runner.channels)
        runner.window(columns.span)
        let answer = runner.answer
        #expect(largestDifference(answer, expected) < 1e-5)
        runner.runWindow()
        #expect(runner.answer == answer)

        for window in windows {
            runner.hop(model.features(of: audio.span.extracting(window), newest: runner.hopColumns).span)
        }
        #expect(largestDifference(runner.answer, expected) < 1e-5)
    }
}
