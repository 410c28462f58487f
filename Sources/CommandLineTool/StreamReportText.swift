import Evaluation

/// A report on long recordings as plain text for people.
struct StreamReportText {
    private let report: StreamReport

    private static let figures = [
        "SAID", "HITS", "MISSES", "WRONG", "FALSE", "FALSE/H", "HITS %", "LATENCY p50", "p95",
    ]

    init(_ report: StreamReport) { self.report = report }

    var text: String {
        let name = report.files.count == 1 ? "1 recording" : "\(report.files.count) recordings"
        let head =
            "\(name), \(Self.length(report.seconds)), of which without words \(Self.length(report.wordlessSeconds)); "
            + "a word counts if decided by \(decimal(report.tolerance, 2)) s after its end\n"
        return ([head, overview] + report.settings.map(words) + [perFile, sweep]).joined(separator: "\n")
    }

    private var overview: String {
        var table = Columns(["MODE", "TRIGGER"] + Self.figures + ["FALSE/H WITHOUT WORDS"], names: [0, 1])
        for setting in report.settings {
            table.add(
                [setting.mode, setting.trigger] + Self.cells(setting.all)
                    + [numberText(setting.wordlessFalseAcceptsPerHour, 1)]
            )
        }
        return table.text
    }

    private func words(_ setting: SettingReport) -> String {
        var table = Columns(["WORD", "THRESHOLD"] + Self.figures)
        for word in setting.words { table.add([word.word, numberText(word.threshold, 2)] + Self.cells(word.figures)) }
        let mistakes = setting.mistakes.map { "\($0.said) → \($0.heard) \($0.count)" }.joined(separator: ", ")
        return "In mode \(setting.mode):\n" + table.text + (mistakes.isEmpty ? "" : "Taken for another: \(mistakes)\n")
    }

    private var perFile: String {
        var table = Columns(["FILE", "MODE", "LENGTH"] + Self.figures, names: [0, 1])
        for file in report.files {
            for (setting, figures) in zip(report.settings, file.figures) {
                table.add([printable(file.file), setting.mode, Self.length(file.seconds)] + Self.cells(figures))
            }
        }
        return table.text
    }

    private var sweep: String {
        var table = Columns(
            report.settings.reduce(into: ["THRESHOLD"]) { header, setting in
                header += ["\(setting.mode): HITS %", "WRONG %", "FALSE/H", "WITHOUT WORDS", "LATENCY p50"]
            }
        )
        for index in (report.settings.first?.curve ?? []).indices {
            let points = report.settings.map { $0.curve[index] }
            table.add(
                points.reduce(into: points.prefix(1).map { decimal($0.threshold, 2) }) { row, point in
                    row += [
                        perCentText(point.figures.hitShare), perCentText(point.figures.wrongShare),
                        numberText(point.figures.falseAcceptsPerHour, 1),
                        numberText(point.wordlessFalseAcceptsPerHour, 1), Self.seconds(point.figures.latencyMedian),
                    ]
                }
            )
        }
        return "The same threshold for all words (false accepts an hour: over all, and over what is without words):\n"
            + table.text
    }

    private static func cells(_ figures: StreamFigures) -> [String] {
        let counts = [figures.said, figures.hits, figures.misses, figures.wrong, figures.falseAccepts]
        return counts.map(String.init) + [
            numberText(figures.falseAcceptsPerHour, 1), perCentText(figures.hitShare), seconds(figures.latencyMedian),
            seconds(figures.latency95),
        ]
    }

    private static func seconds(_ value: Double?) -> String { value.map { decimal($0, 2) + " s" } ?? "–" }

    private static func length(_ seconds: Double) -> String {
        seconds < 600
            ? decimal(seconds, 1) + " s"
            : seconds < 7200
                ? decimal(seconds / 60, 1) + " min"
                : decimal(seconds / 3600, 2) + " h"
    }
}
