private import Core

/// A table of a page. Where the page is too narrow for it, each row becomes a block of its own with a line for each cell.
public struct PageTable: Sendable {
    /// Content of a cell.
    public struct Cell: Sendable, ExpressibleByStringInterpolation {
        let markup: Markup
        let text: String

        public init(stringLiteral text: String) { self.init(text) }

        public init(_ text: String) {
            markup = .text(text)
            self.text = text
        }

        /// Text that leads to another page, or to a part of this one.
        public static func link(_ text: String, to address: String) -> Cell {
            Cell(markup: .element("a", ["href": address], [.text(text)]), text: text)
        }

        /// A command to copy; its lines break anywhere.
        public static func command(_ text: String) -> Cell {
            Cell(markup: .element("code", [:], [.text(text)]), text: String(text.prefix(24)))
        }

        /// A time that a ``Player`` jumps to; plain text without one.
        public static func time(_ text: String, seconds: Double) -> Cell {
            Cell(markup: .element("span", ["data-time": short(seconds, places: 3)], [.text(text)]), text: text)
        }

        /// Whether it is a short word, which is not broken.
        var isWord: Bool { text.count <= 16 && !text.contains(" ") }

        private init(markup: Markup, text: String) {
            self.markup = markup
            self.text = text
        }
    }

    private let columns: [String]
    private let numeric: Set<Int>
    private let rows: [[Cell]]

    /// - Parameters:
    ///   - columns: heads of the columns.
    ///   - numeric: indices of the columns that hold numbers, which are aligned right and not broken.
    ///   - rows: cells of each row, as many as there are columns.
    public init(_ columns: [String], numeric: Set<Int> = [], rows: [[Cell]]) {
        self.columns = columns
        self.numeric = numeric
        self.rows = rows
    }

    public init(_ columns: [String], numeric: Set<Int> = [], rows: [[String]]) {
        self.init(columns, numeric: numeric, rows: rows.map { $0.map { Cell($0) } })
    }

    /// Estimated least widths of the columns in CSS pixels, with the space beside them.
    private var widths: [Double] {
        func longestWord(_ text: String) -> Double { text.split(separator: " ").map { length(String($0)) }.max() ?? 0 }
        func length(_ text: String) -> Double { textWidth(text) * 1.2 }
        return columns.enumerated().map { column, head in
            let cells = rows.map { $0.indices.contains(column) ? $0[column].text : "" }
            let least = cells.map { numeric.contains(column) ? length($0) : min(length($0), 150) }.max() ?? 0
            return max(least, longestWord(head)) + 18
        }
    }

    public var markup: Markup {
        let widths = widths
        let whole = widths.reduce(0, +)
        let stacked = PageWidth.allCases.filter { $0.content < whole }.map { "stack-" + $0.rawValue }
        let head = columns.enumerated().map { column, name in
            Markup.element(
                "th",
                [
                    "class": numeric.contains(column) ? "number" : "text", "scope": "col", "role": "columnheader",
                    // With the space beside the text, because it counts as part of a cell's width.
                    "style": numeric.contains(column) ? "" : "min-width:\(short(widths[column], places: 0))px",
                ],
                [.text(name)]
            )
        }
        let body = rows.map { row in
            Markup.element(
                "tr",
                ["role": "row"],
                row.enumerated().map { column, cell in
                    .element(
                        "td",
                        [
                            "class": numeric.contains(column) ? "number" : cell.isWord ? "text word" : "text",
                            "role": "cell",
                            "data-head": columns.indices.contains(column) ? columns[column] : "",
                        ],
                        [cell.markup]
                    )
                }
            )
        }
        // Roles, because the style sheet makes blocks of the rows, which would otherwise be no table for a screen reader.
        return .element(
            "table",
            ["class": stacked.joined(separator: " "), "role": "table"],
            [
                .element("thead", ["role": "rowgroup"], [.element("tr", ["role": "row"], head)]),
                .element("tbody", ["role": "rowgroup"], body),
            ]
        )
    }
}
