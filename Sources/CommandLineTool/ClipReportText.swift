import Evaluation

/// A report on clips as plain text for people.
struct ClipReportText {
    private let report: ClipReport
    private let labels: LabelSet

    /// Mistakes listed.
    private static let mistakes = 12

    init(_ report: ClipReport, labels: LabelSet) {
        self.report = report
        self.labels = labels
    }

    var text: String {
        [accuracy, perLabel, confusion, mistakes, calibration, tradeoffs, openSet].joined(separator: "\n")
    }

    private var accuracy: String {
        var table = Columns(["", "CLIPS", "RIGHT", "ACCURACY"])
        let accuracy = report.accuracy
        let rows = [
            ("words", accuracy.words), ("unknown", accuracy.unknown), ("silence", accuracy.silence),
            ("all", accuracy.all),
        ]
        for (name, count) in rows {
            table.add([name, "\(count.clips)", "\(count.right)", shareText(count.share, places: 2)])
        }
        guard let twelve = accuracy.twelveClass else { return table.text }
        return table.text
            + "12-class accuracy, unknown and silence weighing 10 % each: \(shareText(twelve, places: 2))\n"
    }

    private var perLabel: String {
        var table = Columns(["LABEL", "PRECISION", "RECALL", "F1", "CLIPS"])
        for score in report.labels {
            table.add([
                score.label, shareText(score.precision), shareText(score.recall), numberText(score.f1, 3),
                "\(score.count)",
            ])
        }
        return table.text
    }

    private var confusion: String {
        var table = Columns(["SAID ↓ HEARD →"] + report.confusion.labels)
        for (label, counts) in zip(report.confusion.labels, report.confusion.counts)
        where counts.contains(where: { $0 > 0 }) {
            table.add([label] + counts.map { $0 == 0 ? "·" : "\($0)" })
        }
        return table.text
    }

    private var mistakes: String {
        guard !report.mistakes.isEmpty else { return "No mistakes.\n" }
        var table = Columns(["SAID", "HEARD", "CLIPS", "SUCH AS"], names: [0, 1, 3])
        for mistake in report.mistakes.prefix(Self.mistakes) {
            table.add([
                printable(mistake.said), mistake.heard, "\(mistake.count)",
                mistake.clips.map(printable).joined(separator: " "),
            ])
        }
        return table.text
    }

    private var calibration: String {
        var table = Columns(["CONFIDENCE", "CLIPS", "MEAN", "RIGHT"])
        for bin in report.calibration.bins where bin.count > 0 {
            table.add([
                "\(decimal(bin.lower * 100, 0))–\(decimal(bin.upper * 100, 0)) %", "\(bin.count)",
                shareText(bin.confidence), shareText(bin.accuracy),
            ])
        }
        return "Calibration error (ECE, 15 bins): \(numberText(report.calibration.error, 4))\n" + table.text
    }

    private var tradeoffs: String {
        let thresholds = WordTradeoff.thresholds.map { decimal(Double($0), 2) }
        var table = Columns(["WORD", "ITS OWN", ""] + thresholds)
        for word in report.words {
            table.add(
                [word.word, decimal(word.own.threshold, 2)]
                    + ([word.own] + word.others).map { point in
                        "\(perCentText(point.recall)) / \(perCentText(point.falseAccepts, places: 2))"
                    }
            )
        }
        return "Recall / false accepts in %, of clips whose posterior of the word reaches a threshold:\n" + table.text
    }

    private var openSet: String {
        "Commands against other words by the highest posterior of any command: AUROC "
            + numberText(report.openSet.auroc, 4) + "\n"
    }
}
