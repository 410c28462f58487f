import Core
public import Evaluation

/// A `ClipReport` as tables and as plain text.
public struct ClipReportTables: Sendable {
    private let report: ClipReport

    /// Largest number of mistakes listed.
    private static let mistakes = 12

    public init(_ report: ClipReport) { self.report = report }

    /// All tables as plain text.
    ///
    /// - Parameters:
    ///   - room: columns of the terminal that it goes to; nil where it goes elsewhere.
    ///   - errors: how many wrong clips are listed, each in a line of its own.
    public func text(room: Int?, errors: Int = 0) -> String {
        func shown(_ table: TextTable) -> String { room.map { table.text(columns: $0) } ?? table.text }
        return [
            shown(accuracy) + (twelveClass.isEmpty ? "" : twelveClass + "\n"), shown(labels),
            report.confusion.text(room: room ?? 80),
            report.mistakes.isEmpty ? "" : shown(mistakes),
            errors == 0 || report.mistakes.isEmpty ? "" : shown(wrongClips(errors)),
            calibrationError + "\n" + shown(calibration),
            "Recall / false accepts in %, at thresholds of the word's posterior; a word's own is that of mode command:\n"
                + shown(tradeoffs),
            openSet + "\n", report.proposals.map { shown(TextTable($0)) } ?? "",
        ].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// The clips by what is said.
    private var kinds: [(name: String, count: Accuracy.Count)] {
        let accuracy = report.accuracy
        return [
            ("words", accuracy.words), (Labels.spoken(Labels.unknown), accuracy.unknown),
            (Labels.spoken(Labels.silence), accuracy.silence),
        ]
    }

    /// How many clips are labelled right, in one sentence.
    var headline: String {
        let parts = kinds.filter { $0.count.clips > 0 }.map { "\($0.name) \(shareText($0.count.share))" }
        let share = shareText(report.accuracy.all.share)
        return "\(share) of the clips are labelled right: \(parts.joined(separator: ", "))."
    }

    var accuracy: TextTable {
        var table = TextTable(["CLIPS OF", "COUNT", "RIGHT", "ACCURACY"])
        for (name, count) in kinds + [("all", report.accuracy.all)] {
            table.add([name, "\(count.clips)", "\(count.right)", shareText(count.share, places: 2)])
        }
        return table
    }

    var twelveClass: String {
        report.accuracy.twelveClass.map {
            "12-class accuracy, other speech and no speech weighing 10 % each: \(shareText($0, places: 2))"
        } ?? ""
    }

    var labels: TextTable {
        var table = TextTable(["LABEL", "PRECISION", "RECALL", "F1", "CLIPS"])
        for score in report.labels {
            table.add([
                Labels.spoken(score.label), shareText(score.precision), shareText(score.recall),
                numberText(score.f1, 3),
                "\(score.count)",
            ])
        }
        return table
    }

    /// The wrong clips, those of one kind of mistake together, the surest first.
    private func wrongClips(_ count: Int) -> TextTable {
        var table = TextTable(["SAID", "HEARD", "CONFIDENCE", "MARGIN", "CLIP"], names: [0, 1, 4])
        let wrong = report.results.filter { !$0.isRight }.sorted {
            ($0.said, $0.heard, $1.confidence) < ($1.said, $1.heard, $0.confidence)
        }
        for clip in wrong.prefix(count) {
            table.add([
                Labels.spoken(clip.said), Labels.spoken(clip.heard), decimal(clip.confidence, 3),
                decimal(clip.margin, 3), clip.file,
            ])
        }
        return table
    }

    var mistakes: TextTable {
        var table = TextTable(["SAID", "HEARD", "CLIPS", "EXAMPLES"], names: [0, 1, 3])
        for mistake in report.mistakes.prefix(Self.mistakes) {
            table.add([
                printable(Labels.spoken(mistake.said)), Labels.spoken(mistake.heard), "\(mistake.count)",
                mistake.clips.map(printable).joined(separator: " "),
            ])
        }
        return table
    }

    var calibrationError: String { "Calibration error (ECE, 15 bins): \(numberText(report.calibration.error, 4))" }

    var calibration: TextTable {
        var table = TextTable(["CONFIDENCE", "CLIPS", "MEAN", "RIGHT"])
        for bin in report.calibration.bins where bin.count > 0 {
            table.add([
                "\(decimal(bin.lower * 100, 0))–\(decimal(bin.upper * 100, 0)) %", "\(bin.count)",
                shareText(bin.confidence), shareText(bin.accuracy),
            ])
        }
        return table
    }

    var tradeoffs: TextTable {
        let thresholds = WordTradeoff.thresholds.map { decimal(Double($0), 2) }
        var table = TextTable(["WORD", "OWN THRESHOLD", "AT OWN"] + thresholds)
        for word in report.words {
            table.add(
                [word.word, decimal(word.own.threshold, 2)]
                    + ([word.own] + word.others).map { point in
                        "\(perCentText(point.recall)) / \(perCentText(point.falseAccepts, places: 2))"
                    }
            )
        }
        return table
    }

    /// Of ``tradeoffs``, the recall alone: short cells, which fit a page.
    var recalls: TextTable { points { perCentText($0.recall) } }

    /// Of ``tradeoffs``, the false accepts alone.
    var falseAccepts: TextTable { points { perCentText($0.falseAccepts, places: 2) } }

    private func points(_ text: (WordTradeoff.Point) -> String) -> TextTable {
        var table = TextTable(
            ["WORD", "IN USE", "WITH IT"] + WordTradeoff.thresholds.map { "AT " + decimal(Double($0), 2) }
        )
        for word in report.words {
            table.add([word.word, decimal(word.own.threshold, 2)] + ([word.own] + word.others).map(text))
        }
        return table
    }

    var openSet: String {
        "Commands against other words by the highest posterior of any command: AUROC "
            + numberText(report.openSet.auroc, 4)
    }
}
