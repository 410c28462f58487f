private import Core

/// A web page in one file that asks for nothing from elsewhere, in light or dark mode as the system is set, for screens from
/// 320 CSS pixels and for paper.
///
/// The source is well-formed XML as well as HTML. Only a page with a ``Player`` has a script.
public struct Page: Sendable {
    public let title: String
    private var parts: [Markup] = []
    /// Plays the recording that the page is about.
    public var player: Player?

    public init(title: String) {
        self.title = title
        add(.element("h1", [:], [.text(title)]))
    }

    public mutating func add(_ part: Markup) { parts.append(part) }

    public mutating func heading(_ text: String) { add(.element("h2", [:], [.text(text)])) }

    public mutating func subheading(_ text: String) { add(.element("h3", [:], [.text(text)])) }

    public mutating func paragraph(_ text: String) { add(.element("p", [:], [.text(text)])) }

    /// A heading, an explanation, and pictures below them.
    public mutating func figure(_ heading: String, _ explanation: String, _ pictures: [Markup]) {
        var caption = [Markup.element("h2", [:], [.text(heading)])]
        if !explanation.isEmpty { caption.append(.element("p", [:], [.text(explanation)])) }
        add(.element("figure", [:], [.element("figcaption", [:], caption)] + pictures))
    }

    /// Parts that are hidden until the reader opens them.
    public mutating func fold(_ summary: String, _ parts: [Markup]) { add(.fold(summary, parts)) }

    public mutating func add(_ table: PageTable) { add(table.markup) }

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
        var body = [Markup.element("main", [:], parts)]
        if let player { body = [player.bar] + body + [player.script] }
        return "<!DOCTYPE html>\n"
            + Markup.element("html", ["lang": "en"], [head, .element("body", [:], body)]).source + "\n"
    }
}

extension Markup {
    /// Parts that are hidden until the reader opens them.
    public static func fold(_ summary: String, _ parts: [Markup]) -> Markup {
        .element("details", [:], [.element("summary", [:], [.text(summary)])] + parts)
    }

    /// Small charts beside each other, as many as fit, each at least ``smallest`` wide.
    public static func grid(_ parts: [Markup]) -> Markup { .element("div", ["class": "grid"], parts) }

    /// Width of the smallest chart of a ``grid(_:)``, in CSS pixels.
    public static let smallest = 236.0

    /// Charts beside each other, two where they fit.
    public static func pairs(_ parts: [Markup]) -> Markup { .element("div", ["class": "grid pairs"], parts) }
}
