import TestSupport
import Testing

@testable import Charts

/// Marks are drawn at the right positions, text keeps its size and its distance, and no data breaks the markup.
struct ChartTests {
    /// The plot is 100 high, and its SVG 1000 wide.
    private static func chart(_ marks: [Mark], x: Scale = .linear(0, 10), y: Scale = .linear(0, 1)) -> Chart {
        var chart = Chart(
            title: "a & b",
            summary: "<none>",
            x: Axis("time (s)", x),
            y: Axis("score", y),
            height: 100
        )
        for mark in marks { chart.add(mark) }
        return chart
    }

    private static func labels(_ tree: Tree) -> [Tree.Element] {
        tree.all("span").filter { $0.attributes["class"]?.hasPrefix("label") == true }
    }

    @Test func `lines and markers`() throws {
        let points = [Point(0, 0), Point(5, 1), Point(10, 0.5)]
        let tree = try Tree(
            Self.chart([
                .line(points, .series(0)), .line(points, .series(6), markers: true),
            ]).markup.source
        )
        let lines = tree.all("polyline")
        #expect(lines[0].attributes["points"] == "0,100 500,0 1000,50")
        #expect(lines[0].attributes["style"] == "fill:none;stroke:var(--series-1)")
        // The seventh series has the first one's colour, and dashes.
        #expect(lines[1].attributes["style"] == "fill:none;stroke:var(--series-1);stroke-dasharray:7 3")
        // A dot is a line without length, so that stretching the plot leaves it round.
        #expect(tree.all("path").map { $0.attributes["d"] } == ["M0 100h.01", "M500 0h.01", "M1000 50h.01"])
        let chart = try #require(tree.all("div").first)
        #expect(chart.attributes["role"] == "img" && chart.attributes["aria-label"] == "a & b. <none>")
    }

    @Test func `NaN parts a line, a point alone is a dot`() throws {
        let points = [Point(0, 0), Point(1, 0), Point(2, .nan), Point(3, 1), Point(.infinity, 1)]
        let tree = try Tree(Self.chart([.line(points, .ink)]).markup.source)
        #expect(tree.all("polyline").map { $0.attributes["points"] } == ["0,100 100,100"])
        #expect(tree.all("path").map { $0.attributes["d"] } == ["M300 0h.01"])
    }

    @Test func `on a log axis each decade is as long as the next, and zero has no place`() throws {
        let line = Mark.line([Point(0, 0), Point(0.1, 0), Point(1, 0), Point(10, 1)], .ink)
        let tree = try Tree(Self.chart([line], x: .log(0.1, 10)).markup.source)
        #expect(tree.all("polyline").map { $0.attributes["points"] } == ["0,100 500,100 1000,0"])
    }

    @Test func `areas are drawn between two lines`() throws {
        let slices: [Mark.Slice] = [
            .init(x: 0, low: 0, high: 0.5), .init(x: 5, low: 0, high: 1), .init(x: 6, low: .nan, high: 1),
            .init(x: 8, low: 0, high: 1),
        ]
        let tree = try Tree(Self.chart([.area(slices, .series(2), opacity: 0.5)]).markup.source)
        #expect(
            tree.all("path").map { $0.attributes["d"] } == [
                "M0,50 500,0 500,100 0,100Z", "M799.5,0 800.5,0 800.5,100 799.5,100Z",
            ]
        )
        #expect(tree.all("path")[0].attributes["style"] == "fill:var(--series-3);fill-opacity:0.5")
    }

    @Test func `bands are cut at the plot's edges and keep their label as a tooltip`() throws {
        let tree = try Tree(
            Self.chart([
                .band(x: 5...20, .series(0), label: "half"),
                .band(x: 0...0.1, y: 0.25...0.5, .series(1), label: "far too long a label"),
                .band(x: 20...30, .alarm, label: "outside"),
            ]).markup.source
        )
        let bands = tree.all("rect")
        #expect(bands.map { $0.attributes["x"] } == ["500", "0"])
        #expect(bands.map { $0.attributes["width"] } == ["500", "10"])
        #expect(bands.map { $0.attributes["y"] } == ["0", "50"])
        #expect(bands.map { $0.attributes["height"] } == ["100", "25"])
        #expect(tree.texts("title") == ["half", "far too long a label"])
        #expect(Self.labels(tree).map(\.text) == ["half"])
        #expect(Self.labels(tree).first?.attributes["style"] == "top:9px;left:75%;transform:translate(-50%,-50%)")
    }

    @Test func `labels never cover each other, at any width`() throws {
        // Twenty words within ten seconds: a wide plot has room for more of their names than a narrow one.
        var chart = Self.chart(
            (0..<20).map { .band(x: Double($0) / 2...Double($0) / 2 + 0.3, .ink, label: "word \($0)") }
        )
        let counts = { (chart: Chart) in
            let labels = Self.labels(try Tree(chart.markup.source))
            return ["n", "m", "w"].map { width in
                labels.count { $0.attributes["class"]?.split(separator: " ").contains(Substring(width)) == true }
            }
        }
        let once = try counts(chart)
        #expect(once[0] >= 2 && once[0] < once[1] && once[1] < once[2] && once[2] < 20, "\(once)")
        chart.labelRows = 3
        let thrice = try counts(chart)
        #expect(thrice[0] > once[0] && thrice[2] == 20, "\(thrice)")
    }

    @Test func `a rule crosses the whole plot, dashed`() throws {
        let line = try #require(try Tree(Self.chart([.rule(y: 0.8, .alarm)]).markup.source).all("line").last)
        #expect(["x1", "x2", "y1", "y2"].map { line.attributes[$0] } == ["0", "1000", "20", "20"])
        #expect(line.attributes["style"] == "stroke:var(--alarm);stroke-dasharray:4 3")
    }

    @Test func `a threshold has its value at the right, and close values stand below each other`() throws {
        var chart = Self.chart([.rule(y: 0.9, .ink)])
        chart.rightTicks = [Tick(0.88, "0.88"), Tick(0.9, "0.9")]
        let tree = try Tree(chart.markup.source)
        let right = tree.all("span").filter { $0.attributes["class"] == "right" }
        #expect(right.map(\.text) == ["0.9", "0.88"])
        #expect(right.map { $0.attributes["style"] } == ["top:10px", "top:24px"])
    }

    @Test(arguments: [2.5, 4, 7, 20.5, 59, 3600])
    func `an axis has two values at least, on the narrowest page too`(_ seconds: Double) throws {
        var chart = Chart(
            title: "",
            summary: "",
            x: Axis("time (s)", .time(0, seconds)),
            y: Axis("", .linear(0, 1)),
            right: 80
        )
        chart.add(.line([Point(0, 0), Point(1, 1)], .ink))
        let marks = try Tree(chart.markup.source).all("span").compactMap { $0.attributes["class"] }
        let narrow = marks.filter { $0.split(separator: " ").contains("x") && $0.split(separator: " ").contains("n") }
        let all = marks.filter { $0 == "x" }
        #expect(narrow.count + all.count >= 2, "\(marks)")
    }

    @Test func `without data the axes stand, and the picture says so`() throws {
        for marks in [[], [Mark.line([], .ink)], [.area([], .ink)], [.line([Point(.nan, 1)], .ink)]] {
            let tree = try Tree(Self.chart(marks).markup.source)
            #expect(tree.texts("span").contains("no data"))
            #expect(tree.texts("span").contains("score") && tree.texts("span").contains("0.5"))
            #expect(tree.texts("div").contains("time (s)"))
        }
    }

    @Test func `the legend names each mark beside its symbol`() throws {
        let named = (0..<4).map { Mark.line([Point(0, 0), Point(1, 1)], .series($0), name: "name \($0)") }
        let tree = try Tree(Self.chart(named).markup.source)
        let keys = tree.all("span").filter { $0.attributes["class"] == "key" }
        #expect(keys.map(\.text) == ["name 0", "name 1", "name 2", "name 3"])
        #expect(tree.all("svg").count == 5)
    }

    @Test func `charts of one page line up, whatever their y axes are`() throws {
        let axis = Axis("seconds", .time(0, 10))
        var frames: [String?] = []
        var grids: [[String?]] = []
        for (label, scale) in [("", Scale.linear(-120, 0)), ("score", .linear(0, 1)), ("rate", .log(1e-6, 1))] {
            let chart = Chart(title: "t", summary: "s", x: axis, y: Axis(label, scale), height: 100)
            let tree = try Tree(chart.markup.source)
            frames.append(tree.all("div").first { $0.attributes["class"] == "frame" }?.attributes["style"])
            grids.append(
                tree.all("line").filter { $0.attributes["x1"] == $0.attributes["x2"] }.map { $0.attributes["x1"] }
            )
        }
        #expect(frames[0] != nil && Set(frames).count == 1 && grids[0].count >= 11)
        #expect(grids[0] == grids[1] && grids[1] == grids[2])
    }

    @Test func `a chart over time says which time its plot shows`() throws {
        var chart = Self.chart([])
        chart.time = 1.5...3
        let frame = try #require(
            try Tree(chart.markup.source).all("div").first { $0.attributes["class"] == "frame timed" }
        )
        #expect(frame.attributes["data-from"] == "1.5" && frame.attributes["data-to"] == "3")
    }

    @Test func `values far outside do not end the program`() throws {
        let points = [Point(-1e300, 1e300), Point(.greatestFiniteMagnitude, -.greatestFiniteMagnitude)]
        let tree = try Tree(Self.chart([.line(points, .ink), .band(x: -1e300...1e300, .ink)]).markup.source)
        #expect(tree.all("polyline").count == 1)
    }

    @Test func `a matrix of counts has heads, counts and shares of the row`() throws {
        let matrix = CountMatrix(
            summary: "who is taken for whom",
            rowTitle: "said",
            columnTitle: "heard",
            labels: ["yes", "n<o"],
            counts: [[3, 1], []]
        )
        let tree = try Tree(matrix.markup.source)
        #expect(tree.texts("caption") == ["who is taken for whom"])
        let heads = tree.all("th")
        #expect(heads.map { $0.attributes["scope"] } == ["col", "col", "row", "row"])
        let cells = tree.all("td")
        #expect(cells.map(\.text) == ["said ↓ heard →", "3", "1", "·", "·"])
        #expect(
            cells.map { $0.attributes["title"] } == [
                nil, "yes → yes: 3 of 4, 75 %", "yes → n<o: 1 of 4, 25 %", nil, nil,
            ]
        )
        // It fits a phone: no list.
        #expect(tree.all("ul").isEmpty)
    }

    @Test func `a matrix too wide for a page is a list of its rows there`() throws {
        let names = (0..<37).map { "label \($0)" }
        var counts = [[Int]](repeating: [Int](repeating: 0, count: 37), count: 37)
        counts[5][5] = 90
        counts[5][7] = 10
        counts[6][6] = 4
        let tree = try Tree(
            CountMatrix(summary: "s", rowTitle: "r", columnTitle: "c", labels: names, counts: counts)
                .markup.source
        )
        let parts = tree.all("div").dropFirst().map { $0.attributes["class"] }
        #expect(parts == ["at w", "at n m"])
        #expect(tree.texts("li") == [": label 5 90 (90 %), label 7 10 (10 %)", ": label 6 4"])
        #expect(tree.texts("strong") == ["label 5", "label 6"])
    }
}
