import Inference
import TestSupport
import Testing

struct FeatureExtractorTests {
    @Test func `front end and network, run separately, give the results of a session`() throws {
        let model = try TestNetwork.medium().model()
        var random = SplitMix(seed: 91)
        let audio = random.floats(16000 + 12 * 1600)
        var session = InferenceStream(model)
        var network = NetworkRunner(model)
        var features = FeatureExtractor(model, newest: network.hopColumns)
        for hop in 0...12 {
            let window = audio.span.extracting(hop * 1600..<hop * 1600 + 16000)
            features.run(window: window)
            network.hop(features.columns.span)
            session.score(window: window)
            #expect(features.columns == model.features(of: window, newest: network.hopColumns))
        }
        // Both have run for longer than a window, so their different initial states (zeros, silence) do not matter.
        #expect(network.answer == session.logits)
    }

    @Test func `the number of columns is clamped to those of a window`() throws {
        let model = try TestNetwork.medium().model()
        let window = [Float](repeating: 0, count: 16000)
        for (requested, expected) in [(0, 1), (3, 3), (1000, 79)] {
            var extractor = FeatureExtractor(model, newest: requested)
            extractor.run(window: window.span)
            #expect(extractor.columns.count == expected * 40)
        }
    }
}
