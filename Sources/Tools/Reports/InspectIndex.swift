import Charts
private import Core
private import Diagnostics

/// The page that leads to the pages of `beckon inspect` on several recordings: one line for each.
public struct InspectIndex: Sendable {
    /// A recording.
    public struct Entry: Sendable {
        fileprivate let file: String
        /// Name of its page, beside the index; nil where none was written.
        fileprivate let page: String?
        /// Whether a page was written.
        public var hasPage: Bool { page != nil }
        fileprivate var seconds: Double?
        fileprivate var words = "–"
        fileprivate var remarks: [String] = []

        /// - Parameters:
        ///   - page: name of the page within the folder of the index.
        ///   - problem: why the recording was read only in part; nil for all of it.
        public init(_ report: InspectReport, page: String, problem: String? = nil) {
            file = report.trace.file
            self.page = page
            seconds = report.trace.to - report.trace.from
            let found = report.trace.words.map { "\($0.name) \(percent($0.confidence)) at \(positionText($0.start))" }
            if !found.isEmpty {
                words =
                    found.prefix(Self.mostWords).joined(separator: ", ")
                    + (found.count > Self.mostWords ? ", … (\(found.count))" : "")
            }
            remarks = [problem, report.note].compactMap { $0 } + report.findings.filter(\.isSerious).map(\.title)
        }

        /// A recording that could not be read.
        public init(file: String, problem: String) {
            self.file = file
            page = nil
            remarks = [problem]
        }

        private static let mostWords = 20
    }

    private let entries: [Entry]

    /// - Parameter entries: in the order of the page.
    public init(_ entries: [Entry]) { self.entries = entries }

    /// HTML source of the page.
    public var html: String {
        var page = Page(title: "What the model sees: \(counted(entries.count, "recording"))")
        page.add(
            PageTable(
                ["Recording", "Seconds", "Words", "Remarks"],
                numeric: [1],
                rows: entries.map { entry in
                    let name = FileName.shown(entry.file)
                    return [
                        entry.page.map { .link(name, to: ErrorPages.encoded($0)) } ?? PageTable.Cell(name),
                        PageTable.Cell(entry.seconds.map { decimal($0, 1) } ?? "–"), PageTable.Cell(entry.words),
                        PageTable.Cell(entry.remarks.isEmpty ? "–" : entry.remarks.joined(separator: "; ")),
                    ]
                }
            )
        )
        page.paragraph("Made by beckon \(version).")
        return page.html
    }
}
