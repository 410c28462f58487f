import Core
public import Evaluation

/// A `StreamReport` as tables and as plain text.
public struct StreamReportTables: Sendable {
    private let report: StreamReport

    private static let figures = [
        "SAID", "HITS", "MISSES", "WRONG", "FALSE", "FALSE/H", "HITS %", "LATENCY p50 s", "p95 s",
    ]

    public init(_ report: StreamReport) { self.report = report }

    /// All tables as plain text.
    ///
    /// - Parameters:
    ///   - room: columns of the terminal that it goes to; nil where it goes elsewhere.
    ///   - errors: how many errors of each mode are listed, each in a line of its own.
    public func text(room: Int?, errors: Int = 0) -> String {
        func shown(_ table: TextTable) -> String { room.map { table.text(columns: $0) } ?? table.text }
        let settings = report.settings.map { setting in
            "In mode \(setting.mode):\n" + shown(words(setting)) + mistakes(setting)
                + (errors == 0 || setting.errors.isEmpty ? "" : "\n" + shown(Self.table(setting.errors.prefix(errors))))
                + (setting.proposals.map { "\n" + shown(TextTable($0)) } ?? "")
        }
        let points =
            sensitivities.rows.isEmpty ? [] : ["With the thresholds of each sensitivity:\n" + shown(sensitivities)]
        let parts =
            [summary, shown(overview)] + points + settings + [shown(files), Self.sweepTitle + ":\n" + shown(sweep)]
        return parts.joined(separator: "\n")
    }

    static let sweepTitle =
        "One threshold for all words (false accepts per hour of all audio, and of audio without words)"

    var summary: String {
        let count = counted(report.files.count, "recording")
        return
            "\(count), \(Self.length(report.seconds))"
            + (report.wordlessSeconds > 0
                ? ", \(Self.length(report.wordlessSeconds)) of it in recordings without words" : "")
            + "; a word counts if it is decided at most \(decimal(report.tolerance, 2)) s after its end\n"
    }

    /// What a mode finds, in one sentence.
    func headline(_ setting: SettingReport) -> String {
        let figures = setting.all
        let found =
            figures.said > 0
            ? "\(shareText(figures.hitShare)) of \(counted(figures.said, "word was", "words were")) found"
            : "no word was said"
        let perHour = numberText(figures.falseAcceptsPerHour, 1)
        return "Mode \(setting.mode): \(found), with \(perHour) false accepts per hour."
    }

    var overview: TextTable {
        table("TRIGGER") { [($0.trigger, $0.all, $0.wordlessFalseAcceptsPerHour)] }
    }

    /// The figures with the thresholds of each sensitivity.
    var sensitivities: TextTable {
        table("SENSITIVITY") { setting in
            setting.sensitivities.map { ($0.sensitivity, $0.figures, $0.wordlessFalseAcceptsPerHour) }
        }
    }

    /// Rows of each mode: what tells them apart, the figures, and the false accepts per hour without words.
    private func table(_ title: String, _ rows: (SettingReport) -> [(String, StreamFigures, Double?)]) -> TextTable {
        var table = TextTable(["MODE", title] + Self.figures + ["FALSE/H WITHOUT WORDS"], names: [0, 1])
        for setting in report.settings {
            for (name, figures, wordless) in rows(setting) {
                table.add([setting.mode, name] + Self.cells(figures) + [numberText(wordless, 1)])
            }
        }
        return table
    }

    func words(_ setting: SettingReport, where isListed: (SettingReport.Word) -> Bool = { _ in true }) -> TextTable {
        var table = TextTable(["WORD", "THRESHOLD"] + Self.figures)
        for word in setting.words where isListed(word) {
            let name = word.word + (word.isOwn ? " (own)" : "")
            table.add([name, numberText(word.threshold, 3)] + Self.cells(word.figures))
        }
        return table
    }

    func mistakes(_ setting: SettingReport) -> String {
        guard !setting.mistakes.isEmpty else { return "" }
        return "Words detected as another: "
            + setting.mistakes.map { "\($0.said) → \($0.heard) (\($0.count))" }.joined(separator: ", ") + "\n"
    }

    private static func table(_ errors: some Sequence<DetectionError>) -> TextTable {
        var table = TextTable(["ERROR", "SAID", "HEARD", "AT", "SCORE", "FILE"], names: [0, 1, 2, 5])
        for error in errors {
            table.add([
                error.kind.rawValue, error.said ?? "–", error.heard ?? "–", positionText(error.time),
                decimal(error.score, 3), error.file,
            ])
        }
        return table
    }

    var files: TextTable {
        var table = TextTable(["FILE", "MODE", "LENGTH"] + Self.figures, names: [0, 1])
        for file in report.files {
            for (setting, figures) in zip(report.settings, file.figures) {
                table.add([printable(file.file), setting.mode, Self.length(file.seconds)] + Self.cells(figures))
            }
        }
        return table
    }

    var sweep: TextTable {
        var header = ["THRESHOLD"]
        var rows = (report.settings.first?.curve ?? []).map { [decimal($0.threshold, 4)] }
        for setting in report.settings {
            header += ["\(setting.mode): HITS %", "WRONG %", "FALSE/H", "WITHOUT WORDS", "LATENCY p50 s"]
            for (index, point) in zip(rows.indices, setting.curve) {
                rows[index] += [
                    perCentText(point.figures.hitShare), perCentText(point.figures.wrongShare),
                    numberText(point.figures.falseAcceptsPerHour, 1), numberText(point.wordlessFalseAcceptsPerHour, 1),
                    numberText(point.figures.latencyMedian, 2),
                ]
            }
        }
        var table = TextTable(header)
        for row in rows { table.add(row) }
        return table
    }

    private static func cells(_ figures: StreamFigures) -> [String] {
        let counts = [figures.said, figures.hits, figures.misses, figures.wrong, figures.falseAccepts]
        return counts.map(String.init) + [
            numberText(figures.falseAcceptsPerHour, 1), perCentText(figures.hitShare),
            numberText(figures.latencyMedian, 2), numberText(figures.latency95, 2),
        ]
    }

    private static func length(_ seconds: Double) -> String {
        if seconds < 600 { return decimal(seconds, 1) + " s" }
        return seconds < 7200 ? decimal(seconds / 60, 1) + " min" : decimal(seconds / 3600, 2) + " h"
    }
}
