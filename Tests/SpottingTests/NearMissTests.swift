import Core
import Testing

@testable import Spotting

/// Near misses on stream time: capital letters reach the threshold of 0.8, small ones (0.6) stay under it.
struct NearMissTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let rule: String
        let said: String
        var margin: Float? = 0.25
        var flushAt: Int?
        /// Whether the audio ends there.
        var ends = false
        let expected: String
        var testDescription: String { rule }
    }

    private static func handler(_ margin: Float?) -> PosteriorHandler {
        var settings = GateSettings()
        settings.smoothing = 1
        settings.nearMissMargin = margin
        return ScoreTrace.handler(settings)
    }

    private static func reported(_ row: Row) -> [(hop: Int, detection: Detection)] {
        var handler = handler(row.margin)
        var reported: [(Int, Detection)] = []
        for (index, hop) in ScoreTrace(row.said).hops.enumerated() {
            if index == row.flushAt { handler.flush() }
            handler.process(HopScores(posteriors: hop.scores), activity: hop.activity) { reported.append((index, $0)) }
        }
        if row.ends, let last = ScoreTrace(row.said).hops.last {
            handler.finish(activity: last.activity) { reported.append((-1, $0)) }
        }
        return reported
    }

    @Test(arguments: [
        Row(
            rule: "a score under the threshold is reported a second after it fell",
            said: "..uu.............",
            expected: "near-miss up@14"
        ),
        Row(rule: "without a margin nothing is", said: "..uu.............", margin: nil, expected: ""),
        Row(rule: "the margin counts from the threshold", said: "..uu.............", margin: 0.15, expected: ""),
        Row(rule: "a word that fires is not a near miss", said: "..uUUu...............", expected: "word up@3"),
        Row(rule: "nor is what its audio resembles before", said: "..ssUU...............", expected: "word up@5"),
        Row(rule: "nor after", said: "..UUss...............", expected: "word up@3"),
        Row(rule: "a peak at the threshold that did not fire is none", said: "...U.................", expected: ""),
        Row(
            rule: "of two close together the first is enough",
            said: "..uu.ss..............",
            expected: "near-miss up@14"
        ),
        Row(
            rule: "two apart are two",
            said: "..uu............ss................",
            expected: "near-miss up@14 near-miss stop@28"
        ),
        Row(
            rule: "at the end of the audio none is waited for",
            said: "..uu..",
            ends: true,
            expected: "near-miss up@-1"
        ),
        Row(rule: "nor the end of the score", said: "..uuu", ends: true, expected: "near-miss up@-1"),
        Row(rule: "a word at the end is not a near miss", said: "..UUUu", ends: true, expected: "word up@3"),
        Row(rule: "after a gap nothing from before is reported", said: "..uu.............", flushAt: 8, expected: ""),
    ])
    func `near misses are reported by the rules`(_ row: Row) {
        let text = Self.reported(row).map {
            "\($0.detection.kind.key) \(ScoreTrace.labels[$0.detection.index])@\($0.hop)"
        }
        #expect(text.joined(separator: " ") == row.expected)
    }

    @Test func `a near miss has its score, its threshold and the time of its audio`() throws {
        let all = Self.reported(Row(rule: "", said: "..uu.............", expected: ""))
        let miss = try #require(all.first?.detection)
        #expect(miss.confidence == 0.6 && miss.threshold == 0.8 && miss.mode == .spot)
        #expect(miss.start >= 0 && miss.start < miss.end && miss.end <= 0.4 + 1e-9 && abs(miss.time - 1.5) < 1e-9)
    }

    @Test func `a changed margin applies from the next hop on, and a word has its threshold and mode`() throws {
        let vocabulary = Vocabulary(try RecordedVoice.model(confirms: false))
        var settings = DetectorSettings(vocabulary)
        settings.gate.smoothing = 1
        settings.thresholds.setAll(0.8)
        var handler = PosteriorHandler(settings)
        settings.gate.nearMissMargin = 0.3
        #expect(handler.update(settings, replacing: vocabulary) == nil)
        var reported: [Detection] = []
        for hop in ScoreTrace("..uu............UU.........").hops {
            let scores = vocabulary.labels.map { ScoreTrace.labels.firstIndex(of: $0).map { hop.scores[$0] } ?? 0 }
            handler.process(HopScores(posteriors: scores), activity: hop.activity) { reported.append($0) }
        }
        #expect(reported.map(\.kind) == [.nearMiss, .word])
        #expect(reported.allSatisfy { $0.threshold == 0.8 && $0.mode == .spot })
    }
}
