import Inference
import TestSupport
import Testing

struct FeatureRunTests {
    @Test func `front end and network one by one are a session`() throws {
        let model = try TestNetwork.medium().model()
        var random = SplitMix(seed: 91)
        let audio = random.floats(16000 + 12 * 1600)
        var session = Session(model)
        var network = NetworkRun(model)
        var features = FeatureRun(model, newest: network.hopColumns)
        for hop in 0...12 {
            let window = audio.span.extracting(hop * 1600..<hop * 1600 + 16000)
            features.run(window: window)
            network.hop(features.columns.span)
            session.score(window: window)
            #expect(features.columns == model.features(of: window, newest: network.hopColumns))
        }
        // Both have heard more than a window since they began, one with zeros and one with silence.
        #expect(network.answer == session.logits)
    }

    @Test func `the number of columns is kept to what a window has`() throws {
        let model = try TestNetwork.medium().model()
        let window = [Float](repeating: 0, count: 16000)
        for (asked, given) in [(0, 1), (3, 3), (1000, 79)] {
            var run = FeatureRun(model, newest: asked)
            run.run(window: window.span)
            #expect(run.columns.count == given * 40)
        }
    }
}
