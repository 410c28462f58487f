import Charts
import Core
public import Evaluation

/// A `StreamReport` as an HTML page: DET curves, the words of each mode, and every error with a link to its page of `inspect`.
public struct StreamReportPage: Sendable {
    private let report: StreamReport
    private let model: String
    private let pages: ErrorPages
    private let command: @Sendable (ErrorPages.Part) -> String

    /// Charts of more words than this are folded.
    private static let manyWords = 12

    /// - Parameters:
    ///   - model: name of the model.
    ///   - pages: the pages that show the errors.
    ///   - command: the command that makes the page of a part; the report shows it where the page is not written.
    public init(
        _ report: StreamReport,
        model: String,
        pages: ErrorPages,
        command: @escaping @Sendable (ErrorPages.Part) -> String
    ) {
        self.report = report
        self.model = model
        self.pages = pages
        self.command = command
    }

    /// HTML source of the page.
    public var html: String {
        let tables = StreamReportTables(report)
        var page = Page(title: "Model \(model) on long recordings")
        page.add(.element("p", ["class": "lead"], [.text(tables.summary)]))
        for setting in report.settings { page.add(.element("p", ["class": "lead"], [.text(tables.headline(setting))])) }
        page.add(PageTable(tables.overview))
        page.figure(
            "Misses against false accepts",
            "Each curve runs over one threshold for all words, from \(Self.text(report, \.first)) to "
                + "\(Self.text(report, \.last)); lower and further left is better. The dots are the thresholds of the "
                + "sensitivities. Both axes are logarithmic and have no zero: where there was no miss, or no false accept, half "
                + "of one is drawn.",
            [.pairs(overall.map(\.markup))]
        )
        if !tables.sensitivities.rows.isEmpty {
            page.heading("Sensitivities")
            page.add(PageTable(tables.sensitivities))
        }
        for number in report.settings.indices { add(number, tables, to: &page) }
        page.heading("Recordings")
        page.add(PageTable(tables.files))
        page.heading("Thresholds")
        page.paragraph(StreamReportTables.sweepTitle + ".")
        page.fold("\(report.settings.first?.curve.count ?? 0) thresholds", [PageTable(tables.sweep).markup])
        page.paragraph("Made by beckon \(version).")
        return page.html
    }

    private static func text(_ report: StreamReport, _ end: KeyPath<[SettingReport.Point], SettingReport.Point?>)
        -> String
    {
        numberText(report.settings.first?.curve[keyPath: end]?.threshold, 3)
    }

    // MARK: - Charts

    /// A chart for each setting: all words, and the model's and the user's own where there are both.
    private var overall: [Chart] {
        let series = report.settings.map { setting in
            let own = setting.words.filter(\.isOwn)
            let others = setting.words.filter { !$0.isOwn }
            guard !own.isEmpty else { return [DetectionTradeoff.Series(others, of: setting, name: "all words")] }
            return [
                DetectionTradeoff.Series(others, of: setting, name: "the model's words"),
                DetectionTradeoff.Series(own, of: setting, name: "taught words"),
            ]
        }
        let tradeoff = DetectionTradeoff(seconds: report.seconds, series.flatMap { $0 })
        return zip(report.settings, series).map { setting, series in
            tradeoff.chart(
                series,
                title: "DET curve in mode \(setting.mode)",
                heading: "Mode \(setting.mode)",
                isSmall: false
            )
        }
    }

    private func curves(of setting: SettingReport) -> [Markup] {
        let series = setting.words.map { DetectionTradeoff.Series([$0], of: setting, name: $0.word) }
        let tradeoff = DetectionTradeoff(seconds: report.seconds, series)
        return zip(setting.words, series).filter { $1.said > 0 }.map { word, one in
            tradeoff.chart(
                [one],
                title: "DET curve of \(word.word) in mode \(setting.mode)",
                heading: word.word + (word.isOwn ? " (taught)" : ""),
                isSmall: true
            ).markup
        }
    }

    // MARK: - One mode

    private func add(_ number: Int, _ tables: StreamReportTables, to page: inout Page) {
        let setting = report.settings[number]
        page.heading("Words in mode \(setting.mode)")
        // Words of which nothing is known would hide the others.
        let heard = Set(setting.mistakes.map(\.heard))
        let absent = setting.words.filter {
            $0.figures.said == 0 && $0.figures.falseAccepts == 0 && !heard.contains($0.word)
        }.map(\.word)
        page.add(PageTable(tables.words(setting) { !absent.contains($0.word) }))
        if !absent.isEmpty {
            page.paragraph("Neither said nor detected: \(absent.joined(separator: ", ")).")
        }
        if !setting.mistakes.isEmpty { page.paragraph(tables.mistakes(setting)) }
        let curves = curves(of: setting)
        if curves.count > Self.manyWords {
            page.fold("DET curves of \(counted(curves.count, "word"))", [.grid(curves)])
        } else if !curves.isEmpty {
            page.subheading("DET curves of the words")
            page.add(.grid(curves))
        }
        let unsaid = setting.words.filter { $0.figures.said == 0 && $0.figures.falseAccepts > 0 }.map(\.word)
        if !unsaid.isEmpty {
            page.paragraph("Never said in these recordings, so without a curve: \(unsaid.joined(separator: ", ")).")
        }
        page.heading("Errors in mode \(setting.mode)")
        page.paragraph(
            setting.errors.isEmpty
                ? "None."
                : "At the thresholds in use. A word in whose place another was detected is listed once, as a wrong word."
        )
        for kind in DetectionError.Kind.allCases {
            let errors = setting.errors.enumerated().filter { $0.element.kind == kind }
            guard !errors.isEmpty else { continue }
            page.subheading("\(kind.title): \(errors.count)")
            page.add(
                PageTable(
                    kind.columns,
                    numeric: kind == .wrongWord ? [4, 5] : [3, 4],
                    rows: errors.map { row($0.element, pages.part(setting: number, error: $0.offset)) }
                )
            )
        }
    }

    private func row(_ error: DetectionError, _ part: ErrorPages.Part?) -> [PageTable.Cell] {
        let words = [error.said, error.heard].compactMap { $0 }
        var cells: [PageTable.Cell] = [
            PageTable.Cell(printable(error.file)), PageTable.Cell(positionText(error.start ?? error.time)),
        ]
        cells += words.map { PageTable.Cell($0) }
        cells += [shareText(error.score), shareText(error.threshold)].map { PageTable.Cell($0) }
        guard let part else { return cells + [""] }
        if let address = pages.address(of: part) {
            return cells + [.link("inspect at \(positionText(part.from))", to: address)]
        }
        return cells + [.command(command(part))]
    }
}

extension DetectionError.Kind {
    fileprivate var title: String {
        switch self {
        case .miss: "Misses"
        case .wrongWord: "Wrong words"
        case .falseAccept: "False accepts"
        }
    }

    fileprivate var columns: [String] {
        switch self {
        case .miss: ["Recording", "Said at", "Word", "Highest score", "Threshold", "Page"]
        case .wrongWord: ["Recording", "Said at", "Said", "Detected", "Score", "Threshold", "Page"]
        case .falseAccept: ["Recording", "Detected at", "Word", "Score", "Threshold", "Page"]
        }
    }
}

extension PageTable {
    /// A table with the rows and alignment of another, its terse heads spelt out.
    init(_ table: TextTable) {
        self.init(table.header.map(Self.head), numeric: table.numeric, rows: table.rows)
    }

    private static let heads = [
        "FALSE": "False accepts", "FALSE/H": "False accepts per hour", "HITS %": "Hits (%)", "WRONG": "Wrong words",
        "WRONG %": "Wrong words (%)", "LATENCY p50 s": "Latency, median (s)", "p95 s": "Latency, 95\u{A0}% (s)",
        "FALSE/H WITHOUT WORDS": "False accepts per hour without words",
        "WITHOUT WORDS": "false accepts per hour without words", "F1": "F1", "HEARD": "Detected",
    ]

    private static func head(_ text: String) -> String {
        if let head = heads[text] { return head }
        // A head such as `spot: HITS %` names what the columns after it belong to.
        if let colon = text.firstIndex(of: ":") {
            return text[...colon] + " " + head(text[text.index(after: colon)...].trimmed).lowercased()
        }
        return text.prefix(1) + text.dropFirst().lowercased()
    }
}

extension Substring {
    /// Without spaces at its start.
    fileprivate var trimmed: String { String(drop { $0 == " " }) }
}
