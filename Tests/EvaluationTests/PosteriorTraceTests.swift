import Evaluation
import Spotting
import Testing

struct PosteriorTraceTests {
    private static let labels = ["up", "stop", "_unknown_", "_silence_"]

    /// One second of silence, 1.5 s of a word, and 1.5 s of silence.
    private var trace: PosteriorTrace {
        var trace = PosteriorTrace(labels: 4, silence: 3, hopSeconds: 0.1)
        for hop in 0..<40 {
            let isWord = (10..<25).contains(hop)
            trace.add(
                HopScores(posteriors: isWord ? [0.85, 0.05, 0.1, 0] : [0, 0, 0, 1]),
                activity: ActivityHistory()
            )
        }
        return trace
    }

    private func words(threshold: Float) -> [Detection] {
        var thresholds = Thresholds(labels: Self.labels, defaults: [])
        thresholds.setAll(threshold)
        var settings = GateSettings()
        settings.smoothing = 5
        return trace.detections(settings: settings, thresholds: thresholds)
    }

    @Test func `one trace is scored at many thresholds`() {
        let low = words(threshold: 0.3)
        let high = words(threshold: 0.8)
        #expect(low.map(\.index) == [0] && high.map(\.index) == [0])
        // The average of five scores rises hop by hop, so a higher threshold is reached later.
        #expect((low.first?.time ?? 0) < (high.first?.time ?? 0))
        #expect(words(threshold: 0.9) == [])
        #expect(words(threshold: 0.3) == low)
    }

    @Test func `a hop with another number of labels is ignored`() {
        var trace = PosteriorTrace(labels: 4, silence: 3, hopSeconds: 0.1)
        for _ in 0..<20 { trace.add(HopScores(posteriors: [1, 0]), activity: ActivityHistory()) }
        let thresholds = Thresholds(labels: Self.labels, defaults: [])
        #expect(trace.detections(settings: GateSettings(), thresholds: thresholds) == [])
    }
}
