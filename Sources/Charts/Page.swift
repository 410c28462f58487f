/// A web page in one file without scripts, fonts or links to fetch, in light or dark mode as the system is set.
///
/// The source is well-formed XML as well as HTML.
public struct Page: Sendable {
    public let title: String
    private var parts: [Markup] = []

    public init(title: String) {
        self.title = title
        add(.element("h1", [:], [.text(title)]))
    }

    public mutating func add(_ part: Markup) { parts.append(part) }

    public mutating func heading(_ text: String) { add(.element("h2", [:], [.text(text)])) }

    public mutating func paragraph(_ text: String) { add(.element("p", [:], [.text(text)])) }

    /// A heading, an explanation, and a picture below them.
    public mutating func figure(_ heading: String, _ explanation: String, _ picture: Markup) {
        add(
            .element(
                "figure",
                [:],
                [
                    .element(
                        "figcaption",
                        [:],
                        [
                            .element("h2", [:], [.text(heading)]), .element("p", [:], [.text(explanation)]),
                        ]
                    ),
                    .element("div", ["class": "scroll"], [picture]),
                ]
            )
        )
    }

    /// - Parameters:
    ///   - numeric: indices of the columns that hold numbers, which are aligned right.
    ///   - rows: cells of each row, as many as there are columns.
    public mutating func table(_ columns: [String], numeric: Set<Int> = [], rows: [[String]]) {
        func cell(_ name: String, _ text: String, _ column: Int, scope: Bool) -> Markup {
            let kind = numeric.contains(column) ? "number" : "text"
            let content = [Markup.text(text)]
            return scope
                ? .element(name, ["class": kind, "scope": "col"], content) : .element(name, ["class": kind], content)
        }
        let head = columns.enumerated().map { cell("th", $1, $0, scope: true) }
        let body = rows.map { row in
            Markup.element("tr", [:], row.enumerated().map { cell("td", $1, $0, scope: false) })
        }
        add(
            .element(
                "div",
                ["class": "scroll"],
                [
                    .element(
                        "table",
                        [:],
                        [
                            .element("thead", [:], [.element("tr", [:], head)]), .element("tbody", [:], body),
                        ]
                    )
                ]
            )
        )
    }

    /// The source of the page.
    public var html: String {
        let head = Markup.element(
            "head",
            [:],
            [
                .element("meta", ["charset": "utf-8"]),
                .element("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
                .element("title", [:], [.text(title)]), .element("style", [:], [Markup(source: StyleSheet.text)]),
            ]
        )
        let body = Markup.element("body", [:], [.element("main", [:], parts)])
        return "<!DOCTYPE html>\n" + Markup.element("html", ["lang": "en"], [head, body]).source + "\n"
    }
}
