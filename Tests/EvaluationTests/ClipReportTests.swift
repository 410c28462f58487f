import Evaluation
import Foundation
import Testing

/// Figures on clips, compared with those worked out by hand.
struct ClipReportTests {
    private static let labels = LabelSet(["yes", "no", "_unknown_", "_silence_"])

    /// A clip with its posteriors; the folder says what it is.
    private func clip(_ name: String, _ folder: String, _ posteriors: [Float]) -> ScoredClip {
        ScoredClip(name: name, said: folder, truth: Self.labels.label(ofFolder: folder), posteriors: posteriors)
    }

    /// Ten clips: 3 of 4 yes right, 1 of 2 no, 2 of 3 others, the one silence.
    private var clips: [ScoredClip] {
        [
            clip("yes/1", "yes", [0.9, 0, 0.1, 0]), clip("yes/2", "yes", [0.8, 0.1, 0.1, 0]),
            clip("yes/3", "yes", [0.6, 0.3, 0.1, 0]), clip("yes/4", "yes", [0.2, 0.7, 0.1, 0]),
            clip("no/1", "no", [0.1, 0.8, 0.1, 0]), clip("no/2", "no", [0.1, 0.3, 0.6, 0]),
            clip("cat/1", "cat", [0.1, 0, 0.9, 0]), clip("dog/1", "dog", [0.3, 0, 0.7, 0]),
            clip("dog/2", "dog", [0.7, 0, 0.3, 0]), clip("silence/1", "silence", [0, 0, 0, 1]),
        ]
    }

    private var report: ClipReport { ClipReport(clips, labels: Self.labels, thresholds: [0.7, 0.8, nil, nil]) }

    @Test(arguments: [
        ("yes", 0), ("no", 1), ("_unknown_", 2), ("unknown", 2), ("cat", 2), ("_silence_", 3), ("silence", 3),
        ("_background_noise_", 3), ("Yes", 2), ("", 2),
    ])
    func `folders and their labels`(_ folder: String, _ label: Int) {
        #expect(Self.labels.label(ofFolder: folder) == label)
    }

    @Test func `accuracy by kind`() {
        let accuracy = report.accuracy
        #expect(accuracy.words.clips == 6 && accuracy.words.right == 4 && accuracy.words.share == 4.0 / 6)
        #expect(accuracy.unknown.right == 2 && accuracy.silence.share == 1 && accuracy.all.share == 0.7)
        // Eight tenths of 4 of 6, one of 2 of 3, one of 1 of 1.
        #expect(accuracy.twelveClass.map { Int(($0 * 10_000).rounded()) } == 7000)
        let words = Accuracy(Array(clips.prefix(6)), labels: Self.labels)
        #expect(words.twelveClass == nil && words.silence.share == nil)
    }

    @Test func `confusion matrix, precision, recall and F1`() {
        let report = report
        #expect(report.confusion.counts == [[3, 1, 0, 0], [0, 1, 1, 0], [1, 0, 2, 0], [0, 0, 0, 1]])
        #expect(report.labels.map(\.count) == [4, 2, 3, 1])
        #expect(report.labels.map(\.precision) == [0.75, 0.5, 2.0 / 3, 1])
        #expect(report.labels.map(\.recall) == [0.75, 0.5, 2.0 / 3, 1])
        #expect(report.labels.map(\.f1) == [0.75, 0.5, 2.0 / 3, 1])
        let none = ClipReport([], labels: Self.labels, thresholds: [0.7, 0.8, nil, nil])
        #expect(none.labels.allSatisfy { $0.precision == nil && $0.recall == nil && $0.f1 == nil })
        #expect(none.calibration.error == nil && none.openSet.auroc == nil && none.accuracy.all.share == nil)
    }

    @Test func `mistakes by what was said, the most frequent first`() {
        let more = clips + (3...6).map { clip("dog/\($0)", "dog", [1, 0, 0, 0]) }
        let mistakes = Confusion.all(in: more, labels: Self.labels)
        #expect(
            mistakes.map { "\($0.said) → \($0.heard) \($0.count)" } == [
                "dog → yes 5", "no → _unknown_ 1", "yes → no 1",
            ]
        )
        #expect(mistakes.first?.clips == ["dog/2", "dog/3", "dog/4"])
    }

    @Test func `what thresholds make of a word`() throws {
        let yes = try #require(report.words.first)
        #expect(report.words.map(\.word) == ["yes", "no"])
        // Of the yes, 0.9 and 0.8 reach 0.7; of the other six, a dog does.
        #expect(yes.own == WordTradeoff(clips, label: 0, word: "yes", threshold: 0.7).own)
        #expect(yes.own.threshold == 0.7 && yes.own.recall == 0.5 && yes.own.falseAccepts == 1.0 / 6)
        #expect(yes.others.map(\.recall) == [0.75, 0.5, 0.5, 0.25, 0, 0])
        // Sixths of the clips that are something else.
        #expect(yes.others.map { ($0.falseAccepts ?? -1) * 6 } == [1, 1, 0, 0, 0, 0])
    }

    @Test func `expected calibration error over bins`() throws {
        // Bins of a fifth: (0.4, wrong) alone; 0.7 and 0.75, one right; 1.0 and 0.9, both right.
        let answers = [(0.45, false), (0.7, true), (0.75, false), (1.0, true), (0.9, true)]
        let calibration = Calibration(answers.map { (confidence: $0.0, isRight: $0.1) }, bins: 5)
        #expect(calibration.bins.map(\.count) == [0, 0, 1, 2, 2])
        #expect(calibration.bins[3].accuracy == 0.5 && calibration.bins[0].accuracy == nil)
        // (0.45 · 1 + (0.725 − 0.5) · 2 + (1 − 0.95) · 2) / 5
        #expect(calibration.error.map { Int(($0 * 10_000).rounded()) } == 2000)
        #expect(report.calibration.bins.count == 15)
    }

    @Test func `AUROC is the share of pairs in the right order`() {
        let table: [([Float], [Float], Double?)] = [
            ([0.9, 0.8], [0.1, 0.2], 1), ([0.1], [0.9], 0), ([0.5], [0.5], 0.5), ([0.9, 0.4], [0.5, 0.3], 0.75),
            ([0.5, 0.5, 0.9], [0.5, 0.1], 5.0 / 6), ([], [0.1], nil), ([0.1], [], nil),
        ]
        for (positives, negatives, auroc) in table {
            #expect(
                DetectionCurve(positives: positives, negatives: negatives).auroc == auroc,
                "\(positives) \(negatives)"
            )
        }
        // Commands at 0.9, 0.8, 0.6, 0.7, 0.8, 0.3 against others at 0.1, 0.3, 0.7: 14 pairs in order, 2 ties, of 18.
        #expect(report.openSet.auroc == 15.0 / 18)
    }

    @Test func `numbers that are none take part without harm`() {
        let curve = DetectionCurve(positives: [0.9, .nan], negatives: [0.1, .nan])
        // 0.9 is above both, NaN is below one and level with the other.
        #expect(curve.auroc == 2.5 / 4)
        let calibration = Calibration([(confidence: .nan, isRight: true), (confidence: -1, isRight: true)], bins: 5)
        #expect(calibration.bins.map(\.count) == [2, 0, 0, 0, 0])
    }

    @Test func `a curve falls from all missed to all accepted`() {
        let curve = DetectionCurve(positives: [0.9, 0.7, 0.4], negatives: [0.8, 0.2])
        #expect(curve.points.map(\.threshold) == [0.9, 0.8, 0.7, 0.4, 0.2])
        #expect(curve.points.map(\.falseAccept) == [0, 0.5, 0.5, 0.5, 1])
        #expect(curve.points.map { ($0.miss * 3).rounded() } == [2, 2, 1, 0, 0])
    }

    @Test func `a curve of many scores is thinned but keeps its shape`() throws {
        // Positives lie evenly above a half, negatives evenly over everything: at any threshold t, misses are 2 t − 1.
        let positives = (0..<20_000).map { 0.5 + 0.5 * (Float($0) + 0.5) / 20_000 }
        let negatives = (0..<20_000).map { (Float($0) + 0.5) / 20_000 }
        let curve = DetectionCurve(positives: positives, negatives: negatives)
        #expect(curve.points.count < 1000)
        for point in curve.points {
            #expect(abs(point.falseAccept - (1 - point.threshold)) < 1e-3)
            let miss = max(0, 2 * point.threshold - 1)
            #expect(abs(point.miss - miss) < 1e-3)
        }
        #expect(abs(try #require(curve.auroc) - 0.75) < 1e-3)
    }

    @Test func `the report is one JSON object`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let object = try JSONSerialization.jsonObject(with: try encoder.encode(report)) as? [String: Any]
        let keys = ["accuracy", "calibration", "clips", "confusion", "labels", "mistakes", "openSet", "words"]
        #expect(object?.keys.sorted() == keys)
        #expect((object?["clips"] as? Int) == 10)
    }
}
