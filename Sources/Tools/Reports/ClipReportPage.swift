import Charts
import Core
public import Evaluation

/// A `ClipReport` as an HTML page with charts.
public struct ClipReportPage: Sendable {
    private let report: ClipReport
    private let name: String
    private let model: String

    /// - Parameters:
    ///   - name: name of the folder of clips.
    ///   - model: name of the model.
    public init(_ report: ClipReport, name: String, model: String) {
        self.report = report
        self.name = name
        self.model = model
    }

    /// HTML source of the page.
    public var html: String {
        let tables = ClipReportTables(report)
        var page = Page(title: "Model \(model) on \(counted(report.clips, "clip")) in the folder \(name)")
        page.add(.element("p", ["class": "lead"], [.text(tables.headline)]))
        if !tables.twelveClass.isEmpty { page.paragraph(tables.twelveClass + ".") }
        page.add(PageTable(tables.accuracy))
        page.figure(
            "Confusion matrix",
            "Rows are the words said, columns the labels detected; cells count clips, and are the darker the larger their share "
                + "of the row.",
            [confusion]
        )
        page.figure(
            "Reliability",
            tables.calibrationError
                + ". Each bar is the accuracy of the answers in one range of confidence, the dot their mean "
                + "confidence: where both agree, the confidence can be believed. The number of answers stands at the right.",
            [reliability.markup]
        )
        let own = report.words.filter { $0.own.recall != nil }.map { tradeoff($0.word, $0.curve, $0.own) }
        let absent = report.words.filter { $0.own.recall == nil }.map(\.word)
        page.figure(
            "Misses against false accepts, by word",
            "Each curve runs over all thresholds of a word's posterior; lower and further left is better. The dot is the "
                + "threshold in use. On these axes the curve of normally distributed scores is a straight line; shares of 0 "
                + "cannot be drawn.",
            own.count > 12 ? [.fold("DET curves of \(own.count) words", [.grid(own)])] : [.grid(own)]
        )
        if !absent.isEmpty { page.paragraph("There are no clips of \(absent.joined(separator: ", ")).") }
        page.figure(
            "Commands against other words",
            tables.openSet + ".",
            [detectionErrors("any command", report.openSet, own: nil, isSmall: false).markup]
        )
        page.heading("Labels")
        page.add(PageTable(tables.labels))
        if !report.mistakes.isEmpty {
            page.heading("Most frequent mistakes")
            page.add(PageTable(tables.mistakes))
        }
        page.heading("Calibration")
        page.add(PageTable(tables.calibration))
        page.heading("Thresholds")
        page.paragraph("At thresholds of the word's posterior: that of mode command, and others for all words.")
        page.subheading("Recall (%)")
        page.add(PageTable(tables.recalls))
        page.subheading("False accepts (%)")
        page.add(PageTable(tables.falseAccepts))
        page.paragraph("Made by beckon \(version).")
        return page.html
    }

    private var confusion: Markup {
        CountMatrix(
            summary: "Counts of \(counted(report.clips, "clip")) by the word said and the label detected.",
            rowTitle: "said",
            columnTitle: "detected",
            labels: report.confusion.labels.map(Labels.spoken),
            counts: report.confusion.counts
        ).markup
    }

    /// A row for each range of confidence in which there are answers, the surest on top.
    private var reliability: Chart {
        let bins = report.calibration.bins.filter { $0.count > 0 }
        var chart = Chart(
            title: "Reliability diagram",
            summary: "Accuracy against confidence in \(bins.count) ranges of confidence.",
            x: Axis("accuracy, confidence (%)", .linear(0, 100)),
            y: Axis(
                "confidence (%)",
                .linear(0, Double(max(1, bins.count))),
                ticks: bins.enumerated().map { row, bin in
                    Tick(Double(row) + 0.5, "\(decimal(bin.lower * 100, 0))–\(decimal(bin.upper * 100, 0))")
                }
            ),
            height: 24 * Double(max(1, bins.count)),
            widest: 640,
            left: 60,
            right: 60
        )
        chart.rightTicks = bins.enumerated().map { Tick(Double($0.offset) + 0.5, "\($0.element.count)") }
        for (row, bin) in bins.enumerated() {
            let middle = Double(row) + 0.5
            chart.add(
                .band(
                    x: 0...max(0, bin.accuracy ?? 0) * 100,
                    y: middle - 0.36...middle + 0.36,
                    .series(0),
                    name: "accuracy",
                    tooltip: "\(bin.count) answers, \(shareText(bin.accuracy)) right, mean confidence "
                        + shareText(bin.confidence),
                    opacity: 0.45
                )
            )
        }
        for (row, bin) in bins.enumerated() {
            let point = Point((bin.confidence ?? .nan) * 100, Double(row) + 0.5)
            chart.add(.dot(point, .series(1), name: "mean confidence"))
        }
        return chart
    }

    private func tradeoff(_ word: String, _ curve: DetectionCurve, _ own: WordTradeoff.Point) -> Markup {
        detectionErrors(word, curve, own: own, isSmall: true).markup
    }

    /// A DET curve on probit axes; rates of 0 and 1 cannot be drawn on them.
    private func detectionErrors(
        _ name: String,
        _ curve: DetectionCurve,
        own: WordTradeoff.Point?,
        isSmall: Bool
    ) -> Chart {
        var chart = Chart(
            title: "DET curve of \(name)",
            summary: "Share of its clips missed against the share of all others accepted, over all thresholds.",
            x: Axis("false accepts", .probit(0.0001, 0.5)),
            y: Axis("misses", .probit(0.001, 0.6)),
            height: isSmall ? 150 : 320,
            widest: isSmall ? 340 : 560,
            least: isSmall ? Markup.smallest : nil,
            left: 52,
            right: 14
        )
        chart.heading = name
        chart.emptyText = "told apart without errors"
        let points = curve.points.filter { $0.falseAccept > 0 && $0.miss > 0 && $0.falseAccept < 1 && $0.miss < 1 }
        chart.add(.line(points.map { Point($0.falseAccept, $0.miss) }, .series(0)))
        if let own, let recall = own.recall, let accepts = own.falseAccepts, accepts > 0, recall > 0, recall < 1 {
            chart.add(.dot(Point(accepts, 1 - recall), .series(1), label: decimal(own.threshold, 2)))
        }
        return chart
    }
}
