import Charts
import Core
public import Evaluation

/// A `StreamReport` as an HTML page with a chart.
public struct StreamReportPage: Sendable {
    private let report: StreamReport
    private let model: String

    /// - Parameter model: name of the model.
    public init(_ report: StreamReport, model: String) {
        self.report = report
        self.model = model
    }

    /// HTML source of the page.
    public var html: String {
        let tables = StreamReportTables(report)
        var page = Page(title: "Model \(model) on long recordings")
        page.paragraph(tables.summary)
        page.add(tables.overview)
        page.figure(
            "Hits against false accepts",
            "Each curve runs over one threshold for all words, from \(Self.text(report, \.first)) on the right to "
                + "\(Self.text(report, \.last)) on the left; higher and further left is better. The single dots are the "
                + "thresholds in use. Where there was no false accept, half of one is drawn.",
            curves.svg
        )
        for setting in report.settings {
            page.heading("Words in mode \(setting.mode)")
            page.add(tables.words(setting))
            if !setting.mistakes.isEmpty { page.paragraph(tables.mistakes(setting)) }
        }
        page.heading("Recordings")
        page.add(tables.files)
        page.heading("Thresholds")
        page.paragraph(StreamReportTables.sweepTitle + ".")
        page.add(tables.sweep)
        return page.html
    }

    private static func text(_ report: StreamReport, _ end: KeyPath<[SettingReport.Point], SettingReport.Point?>)
        -> String
    {
        numberText(report.settings.first?.curve[keyPath: end]?.threshold, 3)
    }

    private var curves: Chart {
        let least = report.seconds > 0 ? 1800 / report.seconds : 0.1
        func point(_ figures: StreamFigures) -> Point {
            Point(max(least, figures.falseAcceptsPerHour ?? 0), figures.hitShare ?? .nan)
        }
        let highest =
            report.settings.flatMap { $0.curve.map(\.figures) + [$0.all] }
            .compactMap(\.falseAcceptsPerHour).max() ?? 0
        var chart = Chart(
            title: "Hits against false accepts",
            summary: "One line per mode: the share of words detected against false accepts per hour.",
            x: Axis("false accepts per hour", .log(least * 0.8, max(highest, least * 10) * 1.25)),
            y: Axis("hits", .linear(0, 1)),
            width: 760,
            height: 480
        )
        for (number, setting) in report.settings.enumerated() {
            chart.add(.line(setting.curve.map { point($0.figures) }, .series(number), name: setting.mode))
            chart.add(.line([point(setting.all)], .series(number), markers: true))
        }
        return chart
    }
}
