private import Core

/// Two reports side by side, as `beckon bench --compare` prints them.
public struct BenchCompare: Sendable {
    private let names: (String, String)
    private let reports: (BenchReport, BenchReport)

    /// - Parameters:
    ///   - first: path of a report of `beckon bench --json`.
    ///   - second: path of the report to compare with it.
    /// - Throws: where one of them cannot be read or is not such a report.
    public init(_ first: String, _ second: String) throws(BenchmarkError) {
        names = (first, second)
        reports = (try BenchReport(file: first), try BenchReport(file: second))
    }

    /// The table, then notes on differences that make the two reports hard to compare.
    public var text: String {
        var columns = TextTable(["STAGE", "KERNELS", "", "FIRST", "SECOND", "RATIO"], names: [0, 1, 2])
        for row in rows {
            columns.add([
                row.name, row.kernels ?? "–", row.unit, numberText(row.first, row.places),
                numberText(row.second, row.places), numberText(row.ratio, 2),
            ])
        }
        let head = "first   \(printable(names.0))\nsecond  \(printable(names.1))\n\n"
        return head + columns.text + "\nratio: second to first; times are medians\n"
            + notes.map { "note: \($0)\n" }.joined()
    }

    /// One figure of both reports, in `unit`; nil where a report does not have it.
    struct Row {
        let name: String
        let kernels: String?
        let unit: String
        let first: Double?
        let second: Double?

        var ratio: Double? { first.flatMap { first in second.map { $0 / first } } }
        var places: Int { (first ?? second ?? 0) < 10 ? 2 : 1 }
    }

    /// The stages of the first report in their order, then those of the second alone, then start-up and memory.
    var rows: [Row] {
        struct Key: Hashable {
            let stage: String
            let kernels: String?
        }
        func medians(_ report: BenchReport) -> [Key: Double] {
            let pairs = report.stages.map { (Key(stage: $0.stage, kernels: $0.kernels), $0.microseconds.p50) }
            return Dictionary(pairs) { first, _ in first }
        }
        let (first, second) = (medians(reports.0), medians(reports.1))
        var seen: Set<Key> = []
        let keys = (reports.0.stages + reports.1.stages).map { Key(stage: $0.stage, kernels: $0.kernels) }
            .filter { seen.insert($0).inserted }
        let stages = keys.map {
            Row(name: $0.stage, kernels: $0.kernels, unit: "µs", first: first[$0], second: second[$0])
        }
        func whole(_ name: String, _ unit: String, _ value: (BenchReport) -> Double) -> Row {
            Row(name: name, kernels: nil, unit: unit, first: value(reports.0), second: value(reports.1))
        }
        return stages + [
            whole("start-up", "ms") { $0.startUp.milliseconds.p50 },
            whole("resident", "KB") { Double($0.startUp.residentBytes) / 1000 },
            whole("stream", "KB") { Double($0.startUp.streamBytes) / 1000 },
        ]
    }

    /// Differences in processor, model and number of streams, and the notes of both reports.
    var notes: [String] {
        let (first, second) = reports
        var notes: [String] = []
        func differ(_ what: String, _ value: (BenchReport) -> String) {
            let (left, right) = (printable(value(first)), printable(value(second)))
            if left != right { notes.append("the \(what) differ: \(left), and \(right)") }
        }
        differ("processors") { $0.machine.processor }
        differ("models") { "\($0.model.name) \($0.model.identity)" }
        differ("numbers of streams") { $0.streams.map(String.init) ?? "none" }
        for (name, report) in [("first", first), ("second", second)] {
            notes += report.notes.map { "\(name): \(printable($0))" }
        }
        return notes
    }
}
