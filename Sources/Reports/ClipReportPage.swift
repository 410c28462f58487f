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
        var page = Page(title: "Model \(model) on \(report.clips) clips of \(name)")
        if !tables.twelveClass.isEmpty { page.paragraph(tables.twelveClass) }
        page.add(tables.accuracy)
        page.figure(
            "Confusion matrix",
            "Rows are the words said, columns the labels detected; percentages are of the row.",
            confusion
        )
        page.heading("Labels")
        page.add(tables.labels)
        if !report.mistakes.isEmpty {
            page.heading("Most frequent mistakes")
            page.add(tables.mistakes)
        }
        page.figure(
            "Reliability",
            tables.calibrationError + ". Bars show the accuracy of the answers in each range of confidence, dots their "
                + "mean confidence. On the dashed line, accuracy equals confidence.",
            reliability.svg
        )
        page.add(tables.calibration)
        page.figure(
            "Misses against false accepts, by word",
            "Each curve runs over all thresholds of a word's posterior; lower and further left is better.",
            detectionErrors(
                title: "DET curves of the words",
                summary: "One line per word: the share of its clips missed against the share of all others accepted.",
                report.words.map { ($0.word, $0.curve) }
            ).svg
        )
        page.paragraph("Recall / false accepts in %, at thresholds of the word's posterior:")
        page.add(tables.tradeoffs)
        page.figure(
            "Commands against other words",
            tables.openSet + ".",
            detectionErrors(
                title: "DET curve of commands against other words",
                summary: "Commands missed against other words accepted, over all thresholds.",
                [("any command", report.openSet)]
            ).svg
        )
        return page.html
    }

    private var confusion: Markup {
        CountMatrix(
            title: "Confusion matrix",
            summary: "Counts of \(report.clips) clips by the word said and the label detected.",
            rowTitle: "said",
            rows: report.confusion.labels,
            columnTitle: "detected",
            columns: report.confusion.labels,
            counts: report.confusion.counts
        ).svg
    }

    private var reliability: Chart {
        var chart = Chart(
            title: "Reliability diagram",
            summary: "Accuracy against confidence in \(report.calibration.bins.count) bins.",
            x: Axis("confidence", .linear(0, 1)),
            y: Axis("accuracy", .linear(0, 1)),
            width: 640,
            height: 480
        )
        for bin in report.calibration.bins {
            guard let accuracy = bin.accuracy else { continue }
            chart.add(.band(x: bin.lower...bin.upper, y: 0...accuracy, .series(0), opacity: 0.4))
        }
        chart.add(.line([Point(0, 0), Point(1, 1)], .faint, name: "ideal", dashed: true))
        let points = report.calibration.bins.compactMap { bin in
            bin.confidence.flatMap { confidence in bin.accuracy.map { Point(confidence, $0) } }
        }
        chart.add(.line(points, .series(0), name: "answers by confidence", markers: true))
        return chart
    }

    /// DET curves on probit axes; rates of 0 and 1 cannot be drawn on them.
    private func detectionErrors(title: String, summary: String, _ curves: [(String, DetectionCurve)]) -> Chart {
        var chart = Chart(
            title: title,
            summary: summary,
            x: Axis("false accepts", .probit(0.0001, 0.5)),
            y: Axis("misses", .probit(0.001, 0.6)),
            width: 760,
            height: 560
        )
        for (number, (name, curve)) in curves.enumerated() where !curve.points.isEmpty {
            let points = curve.points.filter { $0.falseAccept > 0 && $0.miss > 0 && $0.falseAccept < 1 && $0.miss < 1 }
            chart.add(.line(points.map { Point($0.falseAccept, $0.miss) }, .series(number), name: name))
        }
        return chart
    }
}

extension Page {
    /// Adds a table with the header, rows and alignment of `columns`.
    mutating func add(_ columns: TextTable) { table(columns.header, numeric: columns.numeric, rows: columns.rows) }
}
