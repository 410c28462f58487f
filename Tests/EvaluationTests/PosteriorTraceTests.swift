import Inference
import Spotting
import TestSupport
import Testing

@testable import Evaluation

struct PosteriorTraceTests {
    private static let vocabulary = Result { Vocabulary(try Model(folder: Checkout.model, confirms: false)) }

    /// One second of silence, 1.5 s of a word, and 1.5 s of silence.
    private static func trace() throws -> PosteriorTrace {
        let labels = try vocabulary.get().labels
        func scores(_ said: [String: Float]) -> HopScores { HopScores(posteriors: labels.map { said[$0] ?? 0 }) }
        var trace = PosteriorTrace()
        for hop in 0..<40 {
            let isWord = (10..<25).contains(hop)
            trace.add(
                scores(isWord ? ["up": 0.85, "stop": 0.05, "_unknown_": 0.1] : ["_silence_": 1]),
                activity: ActivityHistory()
            )
        }
        return trace
    }

    private func words(threshold: Float) throws -> [Detection] {
        var settings = DetectorSettings(try Self.vocabulary.get())
        settings.thresholds.setAll(threshold)
        settings.gate.smoothing = 5
        return try Self.trace().detections(settings)
    }

    @Test func `one trace is scored at many thresholds`() throws {
        let low = try words(threshold: 0.3)
        let high = try words(threshold: 0.8)
        let up = try Self.vocabulary.get().labels.firstIndex(of: "up")
        #expect(low.map(\.index) == [up] && high.map(\.index) == [up])
        // The average of five scores rises hop by hop, so a higher threshold is reached later.
        #expect((low.first?.time ?? 0) < (high.first?.time ?? 0))
        #expect(try words(threshold: 0.9) == [])
        #expect(try words(threshold: 0.3) == low)
    }

    @Test func `a hop with another number of labels is ignored`() throws {
        var trace = PosteriorTrace()
        for _ in 0..<20 { trace.add(HopScores(posteriors: [1, 0]), activity: ActivityHistory()) }
        #expect(trace.detections(DetectorSettings(try Self.vocabulary.get())) == [])
    }
}
