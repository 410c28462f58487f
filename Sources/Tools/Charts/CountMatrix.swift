private import Core

/// A matrix of counts, such as a confusion matrix: a table of counts, coloured by their share of the row.
///
/// Where the page is too narrow for the matrix, each row is one line of text instead.
public struct CountMatrix: Sendable {
    private let summary: String
    private let rowTitle: String
    private let columnTitle: String
    private let labels: [String]
    private let counts: [[Int]]

    /// - Parameters:
    ///   - summary: a description for screen readers.
    ///   - labels: of the rows, and of the columns too.
    ///   - counts: `[rows × columns]`; missing ones count as 0.
    public init(summary: String, rowTitle: String, columnTitle: String, labels: [String], counts: [[Int]]) {
        self.summary = summary
        self.rowTitle = rowTitle
        self.columnTitle = columnTitle
        self.labels = labels
        self.counts = counts
    }

    /// The matrix where it fits, and the list of its rows where it does not.
    public var markup: Markup {
        let fitting = PageWidth.allCases.filter { $0.content >= width }
        let others = PageWidth.allCases.filter { $0.content < width }
        let empty = Markup.text("")
        return .element(
            "div",
            ["class": "matrix"],
            [
                fitting.isEmpty ? empty : .element("div", ["class": PageWidth.classes(fitting)], [matrix]),
                others.isEmpty ? empty : .element("div", ["class": PageWidth.classes(others)], [list]),
            ]
        )
    }

    private func values(_ row: Int) -> [Int] {
        labels.indices.map { column in
            counts.indices.contains(row) && counts[row].indices.contains(column) ? max(0, counts[row][column]) : 0
        }
    }

    /// Width of a cell in CSS pixels, wide enough for the largest count.
    private var cell: Double {
        let digits = counts.joined().map { "\($0)".count }.max() ?? 1
        return max(22, 7 * Double(digits) + 4)
    }

    /// Estimated width of the matrix in CSS pixels.
    private var width: Double { 24 + (labels.map(textWidth).max() ?? 0) + cell * Double(labels.count) }

    private var matrix: Markup {
        let head = labels.map { name in
            Markup.element("th", ["scope": "col", "class": "turned"], [.element("span", [:], [.text(name)])])
        }
        let body = labels.indices.map { row in
            Markup.element("tr", [:], [.element("th", ["scope": "row"], [.text(labels[row])])] + cells(row))
        }
        return .element(
            "table",
            ["class": "counts", "style": "--cell:\(short(cell))px"],
            [
                .element("caption", [:], [.text(summary)]),
                .element(
                    "thead",
                    [:],
                    [.element("tr", [:], [.element("td", [:], [.text("\(rowTitle) ↓ \(columnTitle) →")])] + head)]
                ),
                .element("tbody", [:], body),
            ]
        )
    }

    private func cells(_ row: Int) -> [Markup] {
        let values = values(row)
        let total = values.reduce(0, +)
        return values.enumerated().map { column, count in
            guard count > 0 else { return .element("td", ["class": "zero"], [.text("·")]) }
            let share = Double(count) / Double(total)
            let tooltip = "\(labels[row]) → \(labels[column]): \(count) of \(total), \(short(share * 100, places: 1)) %"
            return .element(
                "td",
                [
                    "class": share > 0.5 ? "on-full" : "", "title": tooltip,
                    "style": "--share:\(short(Self.tint(share), places: 0))%",
                ],
                [.text("\(count)")]
            )
        }
    }

    /// Strength of a cell's colour, in per cent: strong or weak but nothing between, where no text could be read. The square
    /// root keeps single mistakes visible.
    private static func tint(_ share: Double) -> Double {
        share > 0.5 ? 100 - 12 * (1 - share) : min(50 * share.squareRoot(), 35)
    }

    private var list: Markup {
        let items = labels.indices.compactMap { row -> Markup? in
            let values = values(row)
            let total = values.reduce(0, +)
            guard total > 0 else { return nil }
            let sorted = labels.indices.filter { values[$0] > 0 }.sorted { (values[$1], $0) < (values[$0], $1) }
            let parts = sorted.map { column in
                "\(labels[column]) \(values[column])"
                    + (values[column] == total
                        ? "" : " (\(short(Double(values[column]) / Double(total) * 100, places: 1)) %)")
            }
            return .element(
                "li",
                [:],
                [.element("strong", [:], [.text(labels[row])]), .text(": " + parts.joined(separator: ", "))]
            )
        }
        return .element("ul", ["class": "counts", "aria-label": summary], items)
    }
}
