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
            rule: "a score under the threshold is reported a second and a half after it fell",
            said: "..uu..................",
            expected: "near-miss up@19"
        ),
        Row(rule: "without a margin nothing is", said: "..uu.............", margin: nil, expected: ""),
        Row(rule: "the margin counts from the threshold", said: "..uu.............", margin: 0.15, expected: ""),
        Row(rule: "a word that fires is not a near miss", said: "..uUUu...............", expected: "word up@3"),
        Row(rule: "nor is what its audio resembles before", said: "..ssUU...............", expected: "word up@5"),
        Row(rule: "nor after", said: "..UUss...............", expected: "word up@3"),
        Row(rule: "a peak at the threshold that did not fire is none", said: "...U.................", expected: ""),
        Row(
            rule: "of two close together the first is enough",
            said: "..uu.ss...................",
            expected: "near-miss up@19"
        ),
        Row(
            rule: "two apart are two",
            said: "..uu....................ss.....................",
            expected: "near-miss up@19 near-miss stop@41"
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
        let all = Self.reported(Row(rule: "", said: "..uu..................", expected: ""))
        let miss = try #require(all.first?.detection)
        #expect(miss.confidence == 0.6 && miss.threshold == 0.8 && miss.mode == .spot)
        #expect(miss.start >= 0 && miss.start < miss.end && miss.end <= 0.4 + 1e-9 && abs(miss.time - 2.0) < 1e-6)
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
        for hop in ScoreTrace("..uu........................UU.........").hops {
            let scores = vocabulary.labels.map { ScoreTrace.labels.firstIndex(of: $0).map { hop.scores[$0] } ?? 0 }
            handler.process(HopScores(posteriors: scores), activity: hop.activity) { reported.append($0) }
        }
        #expect(reported.map(\.kind) == [.nearMiss, .word])
        #expect(reported.allSatisfy { $0.threshold == 0.8 && $0.mode == .spot })
    }

    // MARK: - The filter

    private static func word(_ start: Double, _ end: Double, at time: Double) -> Detection {
        Detection(kind: .word, index: 0, confidence: 0.9, start: start, end: end, time: time)
    }

    private static func miss(_ start: Double, _ end: Double, _ score: Float = 0.6, of threshold: Float = 0.8)
        -> Detection
    {
        Detection(kind: .nearMiss, index: 1, confidence: score, start: start, end: end, time: end, threshold: threshold)
    }

    @Test func `no near miss is within a second of a detection, before or after, whichever is told first`() {
        // A near miss from 10 to 10.5 s, told when its score falls at 11 s; words that are decided 0.3 s after their end.
        let table: [(start: Double, end: Double, isNear: Bool)] = [
            (8.0, 8.5, false), (8.3, 8.69, false), (8.3, 8.71, true), (9.0, 9.5, true), (10, 10.5, true),
            (10.2, 10.9, true),
            (11.0, 11.5, true), (11.49, 12.0, true), (11.51, 12.0, false), (13, 13.5, false),
        ]
        for row in table {
            var filter = NearMissFilter()
            var reported: [Detection] = []
            let decided = row.end + 0.3
            for hop in 1...200 {
                let time = Double(hop) / 10
                if hop == Int((decided * 10).rounded(.up)) { filter.note(Self.word(row.start, row.end, at: decided)) }
                if hop == 110 { filter.add(Self.miss(10, 10.5), at: time) }
                if let miss = filter.take(at: time) { reported.append(miss) }
            }
            #expect(reported.isEmpty == row.isNear, "a word from \(row.start) to \(row.end)")
            #expect(reported.allSatisfy { abs($0.time - 12.5) < 0.01 })
        }
    }

    @Test func `of near misses of two kinds at one time the one that is nearest to its threshold counts`() {
        for isReversed in [false, true] {
            var filter = NearMissFilter()
            let both = [Self.miss(10, 10.5, 0.6, of: 0.8), Self.miss(10.1, 10.6, 0.4, of: 0.5)]
            for miss in isReversed ? both.reversed() : both { filter.add(miss, at: 11) }
            #expect(filter.take(at: 12) == nil)
            #expect(filter.take(at: 13)?.threshold == 0.5)
            #expect(filter.take(at: 20) == nil)
        }
        var filter = NearMissFilter()
        filter.add(Self.miss(10, 10.5), at: 11)
        #expect(filter.take(at: 11, isEnd: true) != nil, "the audio ends")
        filter.add(Self.miss(20, 20.5), at: 21)
        filter.flush()
        #expect(filter.take(at: 30) == nil, "after a gap")
    }
}
