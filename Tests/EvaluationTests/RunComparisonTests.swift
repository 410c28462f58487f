import Core
import Testing

@testable import Evaluation

/// Exact intervals, thresholds that reach a target, and two runs side by side.
struct RunComparisonTests {
    /// Of R 4.2: `binom.test(k, n)$conf.int`.
    @Test func `intervals of shares are Clopper's and Pearson's`() throws {
        let table: [(Int, Int, Double, Double)] = [
            (0, 10, 0, 0.3084971), (10, 10, 0.6915029, 1), (1, 20, 0.00126509, 0.24873279),
            (96, 100, 0.9007429, 0.9889955),
            (5, 10, 0.1870861, 0.8129139),
        ]
        for (count, trials, lower, upper) in table {
            let interval = try #require(Interval(count: count, of: trials))
            #expect(
                abs(interval.lower - lower) < 1e-5 && abs(interval.upper - upper) < 1e-5,
                "\(count)/\(trials) \(interval)"
            )
        }
        #expect(Interval(count: 0, of: 0) == nil && Interval(count: 3, of: 2) == nil)
    }

    /// Of R: `poisson.test(k)$conf.int`.
    @Test func `intervals of rates are Garwood's`() throws {
        for (count, lower, upper) in [(0, 0, 3.688879), (1, 0.02531781, 5.571643), (10, 4.795389, 18.39036)] {
            let interval = try #require(Interval(count: count, seconds: 3600))
            #expect(abs(interval.lower - lower) < 1e-4 && abs(interval.upper - upper) < 1e-4, "\(count) \(interval)")
        }
        let half = try #require(Interval(count: 10, seconds: 1800))
        #expect(abs(half.upper - 2 * 18.39036) < 1e-3)
        #expect(Interval(count: 1, seconds: 0) == nil)
    }

    /// Of R: `binom.test(b, b + c)$p.value`.
    @Test func `McNemar's test is exact`() {
        for (left, right, p) in [
            (0, 0, 1), (1, 0, 1), (5, 0, 0.0625), (0, 10, 0.001953125), (3, 12, 0.03515625), (8, 8, 1),
        ] {
            #expect(abs(RunComparison.mcNemar(left, right) - p) < 1e-9, "\(left) \(right)")
        }
    }

    private static let labels = Labels(["yes", "no", "_unknown_", "_silence_"])

    private static func result(_ file: String, _ heard: String, _ speaker: String? = nil) -> ClipResult {
        let said = file.split(separator: "/").first.map(String.init) ?? ""
        let label = Self.labels.name(of: Self.labels.label(ofFolder: said))
        return ClipResult(
            file: file,
            said: said,
            label: label,
            heard: heard,
            confidence: 0.9,
            margin: 0.8,
            speaker: speaker
        )
    }

    @Test func `two runs are compared on the clips that both have`() throws {
        let first =
            (0..<20).map { Self.result("yes/\($0)", $0 < 10 ? "yes" : "no", "s\($0 % 5)") } + [
                Self.result("bed/1", "_unknown_")
            ]
        let second =
            (0..<20).map { Self.result("yes/\($0)", $0 < 9 || $0 > 14 ? "yes" : "no", "s\($0 % 5)") }
            + [Self.result("no/7", "no"), Self.result("bed/1", "no")]
        let comparison = try #require(RunComparison(first, second))
        #expect(comparison.clips == 21 && comparison.onlyInFirst == 0 && comparison.onlyInSecond == 1)
        let yes = try #require(comparison.words.first { $0.said == "yes" })
        #expect(yes.first == 10 && yes.second == 14 && yes.onlyFirst == 1 && yes.onlySecond == 5)
        #expect(abs(yes.difference - 0.2) < 1e-9 && abs(yes.p - 0.21875) < 1e-9)
        let interval = try #require(yes.interval)
        #expect(interval.lower < 0.2 && interval.upper > 0.2 && interval.lower >= -0.25 && interval.upper <= 0.5)
        #expect(comparison.all.clips == 21 && comparison.all.onlyFirst == 2)
        // Five speakers, and one clip without.
        #expect(comparison.groups == 6 && comparison.hasSpeakers)
        #expect(RunComparison(first, second) == comparison, "the draws are the same at each run")
        #expect(RunComparison(first, [Self.result("no/7", "no")]) == nil)
    }

    /// A speaker whose clips all gain is one draw, not many.
    @Test func `clips of one speaker are drawn together`() throws {
        func interval(_ speaker: (Int) -> String?) throws -> Interval {
            let before = (0..<40).map { Self.result("yes/\($0)", $0 < 20 ? "no" : "yes", speaker($0)) }
            let after = (0..<40).map { Self.result("yes/\($0)", "yes", speaker($0)) }
            return try #require(RunComparison(before, after)?.all.interval)
        }
        let (single, together) = (try interval { _ in nil }, try interval { "\($0 / 20)" })
        #expect(single.upper - single.lower < 0.4)
        #expect(together.lower == 0 && together.upper == 1)
    }

    private static func clips(_ scores: [(String, Float)]) -> [ScoredClip] {
        scores.enumerated().map { number, clip in
            ScoredClip(
                name: "\(clip.0)/\(number)",
                said: clip.0,
                truth: Self.labels.label(ofFolder: clip.0),
                posteriors: [clip.1, 0, 1 - clip.1, 0]
            )
        }
    }

    @Test func `the proposed threshold finds the word most often among those that reach the target`() throws {
        let positives = (0..<100).map { ("yes", Float($0 < 90 ? 0.95 : 0.6)) }
        // One in 3600 s of other speech at 0.97, ten at 0.8.
        let negatives = (0..<3600).map { ("bed", Float($0 < 1 ? 0.97 : $0 < 11 ? 0.8 : 0.01)) }
        let clips = Self.clips(positives + negatives)
        func proposal(_ target: ThresholdTarget) -> ThresholdProposal? {
            ThresholdProposal.all(clips, labels: Self.labels, thresholds: [0.9, nil, nil, nil], target: target).first
        }
        let table: [(ThresholdTarget, threshold: Double?, hits: Int, falseAccepts: Int)] = [
            (.falseAcceptsPerHour(1), 0.95, 90, 1), (.falseAcceptsPerHour(11), 0.6, 100, 11),
            (.falseAcceptsPerHour(0.5), nil, 0, 0), (.precision(0.98), 0.95, 90, 1), (.precision(0.9), 0.6, 100, 11),
        ]
        for row in table {
            let found = try #require(proposal(row.0))
            #expect(found.threshold == row.threshold && found.hits == row.hits, "\(row) \(found)")
            #expect(
                found.falseAccepts == row.falseAccepts && found.said == 100 && found.current == 0.9,
                "\(row) \(found)"
            )
        }
        let one = try #require(proposal(.falseAcceptsPerHour(1)))
        #expect(one.falseAcceptsPerHour == 1 && one.recall == 0.9)
        #expect(
            one.recallInterval == Interval(count: 90, of: 100) && one.precisionInterval == Interval(count: 90, of: 91)
        )
        // A word that nobody says has none.
        let silent = ThresholdProposal.all(
            clips,
            labels: Self.labels,
            thresholds: [nil, 0.9, nil, nil],
            target: .precision(0.9)
        )
        #expect(silent.count == 1 && silent[0].threshold == nil && silent[0].said == 0)
    }

    @Test func `a list names speakers behind tabs, in a table, or in the names of clips`() {
        let files = ["d/yes/a_nohash_0.wav", "d/yes/1.wav", "d/no/2.wav"]
        let table: [([String]?, [String?])] = [
            (nil, ["a", nil, nil]), (["yes/1.wav\tann", "no/2.flac"], ["ann", nil]),
            (["file,speaker,age", "no/2.wav,bob,7", "\"yes/1.wav\",\"ann, b\",8"], ["bob", "ann, b"]),
            (["speaker\tpath", "x\tyes/a_nohash_0.wav", "\tno/2.wav"], ["x", nil]), (["yes/1.wav"], [nil]),
        ]
        for (list, speakers) in table {
            let folder = ClipFolder(path: "d", files: files, list: list.map(ClipList.init), listName: "l")
            #expect(folder.clips.map(\.speaker) == speakers, "\(list ?? [])")
            #expect(folder.problems == [])
        }
    }
}
