/// A matrix of counts, such as a confusion matrix: each cell with its count and its percentage of the row.
public struct CountMatrix: Sendable {
    public let title: String
    /// A description for screen readers.
    public let summary: String
    public let rowTitle: String
    public let columnTitle: String
    public let rows: [String]
    public let columns: [String]
    /// `[rows × columns]`; missing ones count as 0.
    public let counts: [[Int]]

    public init(
        title: String,
        summary: String,
        rowTitle: String,
        rows: [String],
        columnTitle: String,
        columns: [String],
        counts: [[Int]]
    ) {
        self.title = title
        self.summary = summary
        self.rowTitle = rowTitle
        self.columnTitle = columnTitle
        self.rows = rows
        self.columns = columns
        self.counts = counts
    }

    private static let cell = (width: 66.0, height: 38.0)
    private static let left = 124.0
    private static let top = 52.0

    /// The matrix as one `svg` element.
    public var svg: Markup {
        let cell = CountMatrix.cell
        let width = CountMatrix.left + cell.width * Double(columns.count) + 8
        let height = CountMatrix.top + cell.height * Double(rows.count) + 8
        var content: [Markup] = [.element("title", [:], [.text(title)]), .element("desc", [:], [.text(summary)])]
        content.append(text(columnTitle, x: (CountMatrix.left + width) / 2, y: 16, kind: "faint"))
        let middle = short((CountMatrix.top + height) / 2)
        content.append(
            .element(
                "text",
                [
                    "x": "14", "y": middle, "text-anchor": "middle", "class": "faint",
                    "transform": "rotate(-90 14 \(middle))",
                ],
                [.text(rowTitle)]
            )
        )
        for (column, name) in columns.enumerated() {
            content.append(text(name, x: CountMatrix.left + (Double(column) + 0.5) * cell.width, y: 42))
        }
        for row in rows.indices { content += line(row) }
        return .element(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "viewBox": "0 0 \(short(width)) \(short(height))", "role": "img",
                "class": "chart", "style": "max-width:\(short(width))px",
            ],
            content
        )
    }

    private func line(_ row: Int) -> [Markup] {
        let cell = CountMatrix.cell
        let values = columns.indices.map { column in
            counts.indices.contains(row) && counts[row].indices.contains(column) ? max(0, counts[row][column]) : 0
        }
        let total = values.reduce(0, +)
        let top = CountMatrix.top + Double(row) * cell.height
        var drawn = [
            Markup.element(
                "text",
                ["x": short(CountMatrix.left - 8), "y": short(top + 23), "text-anchor": "end"],
                [
                    .text(rows[row])
                ]
            )
        ]
        for (column, count) in values.enumerated() {
            let left = CountMatrix.left + Double(column) * cell.width
            let share = total > 0 ? Double(count) / Double(total) : 0
            let percent = short(share * 100, places: 1) + " %"
            drawn.append(
                .element(
                    "rect",
                    [
                        "class": "cell", "x": short(left), "y": short(top), "width": short(cell.width - 2),
                        "height": short(cell.height - 2),
                        "style": "fill:var(--series-1);fill-opacity:\(short(share, places: 3))",
                    ],
                    [
                        .element(
                            "title",
                            [:],
                            [.text("\(rows[row]) → \(columns[column]): \(count) of \(total), \(percent)")]
                        )
                    ]
                )
            )
            let middle = left + cell.width / 2 - 1
            let kind = share > 0.5 ? "on-full" : count == 0 ? "faint" : ""
            drawn.append(text(count == 0 ? "·" : "\(count)", x: middle, y: top + 16, kind: kind))
            if count > 0 { drawn.append(text(percent, x: middle, y: top + 30, kind: "small " + kind)) }
        }
        return drawn
    }

    private func text(_ text: String, x: Double, y: Double, kind: String = "") -> Markup {
        .element("text", ["class": kind, "x": short(x), "y": short(y), "text-anchor": "middle"], [.text(text)])
    }
}
