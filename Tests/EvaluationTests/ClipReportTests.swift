import Core
import Foundation
import JSON
import Testing

@testable import Evaluation

/// Figures of clips, compared with figures calculated by hand.
struct ClipReportTests {
    private static let labels = Labels(["yes", "no", "_unknown_", "_silence_"])

    /// A clip with its posteriors; the folder gives its true label.
    private func clip(_ name: String, _ folder: String, _ posteriors: [Float]) -> ScoredClip {
        ScoredClip(name: name, said: folder, truth: Self.labels.label(ofFolder: folder), posteriors: posteriors)
    }

    /// Ten clips. Right answers: 3 of 4 yes, 1 of 2 no, 2 of 3 other words, 1 of 1 silence.
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

    @Test func `accuracy by kind`() {
        let accuracy = report.accuracy
        #expect(accuracy.words.clips == 6 && accuracy.words.right == 4 && accuracy.words.share == 4.0 / 6)
        #expect(accuracy.unknown.right == 2 && accuracy.silence.share == 1 && accuracy.all.share == 0.7)
        // 0.8 · 4/6 + 0.1 · 2/3 + 0.1 · 1/1
        #expect(accuracy.twelveClass.map { Int(($0 * 10_000).rounded()) } == 7000)
        let words = Accuracy(Array(clips.prefix(6)), labels: Self.labels)
        #expect(words.twelveClass == nil && words.silence.share == nil)
    }

    @Test func `confusion matrix, precision, recall and F1`() {
        let report = report
        #expect(report.confusion.counts == [[3, 1, 0, 0], [0, 1, 1, 0], [1, 0, 2, 0], [0, 0, 0, 1]])
        #expect(report.labels.map(\.count) == [4, 2, 3, 1])
        let shares: [Double?] = [0.75, 0.5, 2.0 / 3, 1]
        #expect(report.labels.map(\.precision) == shares)
        #expect(report.labels.map(\.recall) == shares)
        #expect(report.labels.map(\.f1) == shares)
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

    @Test func `recall and false accepts of a word over its threshold`() throws {
        let yes = try #require(report.words.first)
        #expect(report.words.map(\.word) == ["yes", "no"])
        // Of the yes clips, those with 0.9 and 0.8 reach 0.7; of the other six clips, one dog clip does.
        #expect(yes.own == WordTradeoff(clips, label: 0, word: "yes", threshold: 0.7).own)
        #expect(yes.own.threshold == 0.7 && yes.own.recall == 0.5 && yes.own.falseAccepts == 1.0 / 6)
        #expect(yes.others.map(\.recall) == [0.75, 0.5, 0.5, 0.25, 0, 0])
        // Times six, because there are six other clips.
        #expect(yes.others.map { ($0.falseAccepts ?? -1) * 6 } == [1, 1, 0, 0, 0, 0])
    }

    @Test func `calibration and the open set are measured on all clips`() {
        #expect(report.calibration.bins.count == 15)
        // Commands at 0.9, 0.8, 0.6, 0.7, 0.8, 0.3 against others at 0.1, 0.3, 0.7: of 18 pairs, 14 in order, 2 ties.
        #expect(report.openSet.auroc == 15.0 / 18)
    }

    @Test func `the report is one JSON object`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let object = try JSONSerialization.jsonObject(with: try encoder.encode(report)) as? [String: Any]
        let keys = "accuracy calibration clips confusion labels mistakes openSet results words".split(separator: " ")
        #expect(object?.keys.sorted() == keys.map(String.init))
        #expect((object?["clips"] as? Int) == 10)
    }
}
