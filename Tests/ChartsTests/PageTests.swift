import TestSupport
import Testing

@testable import Charts

/// Pages contain the given texts, always escaped.
struct PageTests {
    @Test(arguments: [
        ("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"), ("\u{0}\u{1B}[2J\u{7F}\u{9B}", "��[2J��"),
        ("one\r\ntwo\tthree", "one  two three"), ("\u{FFFE}\u{FFFF}é😀", "��é😀"), ("a\u{202E}b\u{2028}", "a�b�"),
    ])
    func `text and attributes are escaped`(_ text: String, _ expected: String) { #expect(escaped(text) == expected) }

    @Test(arguments: [
        (0, "0"), (-0.001, "0"), (1.005, "1"), (12.346, "12.35"), (-3.1, "-3.1"), (.nan, "0"), (1e300, "1000000000"),
        (100, "100"),
    ])
    func `numbers are short`(_ value: Double, _ text: String) { #expect(short(value) == text) }

    @Test func `a page is well-formed and complete`() throws {
        let hostile = "</title><script>alert(\"1\")</script>\u{0}&amp;"
        var page = Page(title: hostile)
        page.heading(hostile)
        page.paragraph(hostile)
        page.table(["name", "n"], numeric: [1], rows: [[hostile, "1"], ["b", "22"]])
        let chart = Chart(title: hostile, summary: hostile, x: Axis(hostile, .linear(0, 1)), y: Axis("", .linear(0, 1)))
        page.figure("picture", hostile, chart.svg)
        page.add(.element("br"))
        let tree = try Tree(page.html)
        let shown = hostile.replacing("\u{0}", with: "\u{FFFD}")
        #expect(tree.all("script").isEmpty && tree.all("link").isEmpty)
        #expect(tree.texts("title") == [shown, shown])
        #expect(tree.texts("h1") == [shown] && tree.texts("h2") == [shown, "picture"])
        #expect(tree.texts("p") == [shown, shown])
        #expect(tree.texts("th") == ["name", "n"] && tree.texts("td") == [shown, "1", "b", "22"])
        #expect(tree.all("td").map { $0.attributes["class"] } == ["text", "number", "text", "number"])
        #expect(tree.all("meta").first?.attributes["charset"] == "utf-8")
        #expect(tree.all("svg").first?.attributes["role"] == "img")
        #expect(page.html.hasPrefix("<!DOCTYPE html>"))
    }

    @Test func `the page asks for nothing from elsewhere, and defines every colour in both styles`() throws {
        let style = StyleSheet.text
        #expect(!style.contains("url(") && !style.contains("@import") && !style.contains("<") && !style.contains("&"))
        let parts = style.split(separator: "@media")
        let colours: [Colour] = (0..<Colour.seriesCount).map { .series($0) } + [.ink, .faint, .grid, .alarm]
        for colour in colours {
            let name = colour.style.dropFirst(4).dropLast() + ":"
            #expect(parts[0].contains(name) && parts[1].contains(name), "\(name)")
        }
        #expect(Colour.series(-1).style == "var(--series-6)")
    }
}
