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
        page.add(PageTable(["name", "n"], numeric: [1], rows: [[hostile, "1"], ["b", "22"]]))
        page.add(PageTable(["link"], rows: [[.link(hostile, to: "a%3Cb")], [.command(hostile)]]))
        page.fold(hostile, [.text(hostile)])
        let chart = Chart(title: hostile, summary: hostile, x: Axis(hostile, .linear(0, 1)), y: Axis("", .linear(0, 1)))
        page.figure("picture", hostile, [chart.markup])
        page.add(.element("br"))
        let tree = try Tree(page.html)
        let shown = hostile.replacing("\u{0}", with: "\u{FFFD}")
        #expect(tree.all("script").isEmpty && tree.all("link").isEmpty)
        #expect(tree.texts("title") == [shown] && tree.texts("summary") == [shown] && tree.texts("details") == [shown])
        #expect(tree.texts("h1") == [shown] && tree.texts("h2") == [shown, "picture"])
        #expect(tree.texts("p") == [shown, shown])
        #expect(tree.texts("th") == ["name", "n", "link"] && tree.texts("td") == [shown, "1", "b", "22", "", ""])
        #expect(tree.texts("a") == [shown] && tree.all("a").first?.attributes["href"] == "a%3Cb")
        #expect(tree.texts("code") == [shown])
        #expect(tree.all("td").prefix(4).map { $0.attributes["class"] } == ["text", "number", "text word", "number"])
        #expect(tree.all("meta").first?.attributes["charset"] == "utf-8")
        #expect(tree.all("div").filter { $0.attributes["role"] == "img" }.count == 1)
        #expect(page.html.hasPrefix("<!DOCTYPE html>"))
    }

    @Test func `the page asks for nothing from elsewhere, and defines every colour in both styles`() throws {
        let style = StyleSheet.text
        #expect(!style.contains("url(") && !style.contains("@import") && !style.contains("<") && !style.contains("&"))
        let parts = style.split(separator: "@media").filter { $0.contains("--series-1:") }
        let colours: [Colour] = (0..<Colour.seriesCount).map { .series($0) } + [.ink, .faint, .alarm]
        for name in colours.map({ $0.style.dropFirst(4).dropLast() + ":" }) + ["--grid:"] {
            #expect(parts[0].contains(name) && parts[1].contains(name), "\(name)")
        }
        #expect(Colour.series(-1).style == "var(--series-6)")
    }

    @Test func `a table too wide for a page becomes blocks there, with the head before each cell`() throws {
        let columns = (0..<9).map { "column \($0)" }
        let row = columns.indices.map { "\(1000 + $0)" }
        let wide = try Tree(PageTable(columns, numeric: Set(columns.indices), rows: [row]).markup.source)
        #expect(wide.all("table").first?.attributes["class"] == "stack-n stack-m")
        #expect(wide.all("td").map { $0.attributes["data-head"] } == columns)
        #expect(wide.all("td").allSatisfy { $0.attributes["role"] == "cell" })
        let small = try Tree(PageTable(["a", "b"], rows: [["1", "2"]]).markup.source)
        #expect(small.all("table").first?.attributes["class"] == nil)
        for width in PageWidth.allCases { #expect(StyleSheet.text.contains("table.stack-\(width.rawValue)")) }
    }

    @Test func `only a page with a player has a script, and the sound is in it`() throws {
        var page = Page(title: "t")
        page.add(PageTable(["From"], rows: [[.time("1.5 s", seconds: 1.5)]]))
        #expect(try Tree(page.html).all("script").isEmpty)
        page.player = Player(sound: [1, 2, 3], type: "audio/wav", start: 2.5)
        let tree = try Tree(page.html)
        #expect(tree.all("script").count == 1)
        let sound = try #require(tree.all("audio").first?.attributes)
        #expect(
            sound["src"] == "data:audio/wav;base64,AQID" && sound["data-start"] == "2.5" && sound["controls"] != nil
        )
        #expect(tree.all("span").contains { $0.attributes["data-time"] == "1.5" && $0.text == "1.5 s" })
        #expect(!Player.code.contains("<") && !Player.code.contains("&") && !Player.code.contains("http"))
    }
}
