import TestSupport
import Testing

@testable import Charts

/// Marks are drawn at the right positions, and no data breaks the SVG.
struct ChartTests {
    /// 110 less than the width and 54 less than the height are left for the plot: 100 by 100.
    private static func chart(_ marks: [Mark], x: Scale = .linear(0, 10), y: Scale = .linear(0, 1)) -> Chart {
        var chart = Chart(
            title: "a & b",
            summary: "<none>",
            x: Axis("time", x),
            y: Axis("score", y),
            width: 210,
            height: 154
        )
        for mark in marks { chart.add(mark) }
        return chart
    }

    @Test func `a line, a step line and markers`() throws {
        let points = [Point(0, 0), Point(5, 1), Point(10, 0.5)]
        let tree = try Tree(
            Self.chart([
                .line(points, .series(0)), .line(points, .series(1), stepped: true),
                .line(points, .series(6), markers: true, dashed: true),
            ]).svg.source
        )
        let lines = tree.all("polyline")
        #expect(lines[0].attributes["points"] == "0,100 50,0 100,50")
        #expect(lines[1].attributes["points"] == "0,100 50,100 50,0 100,0 100,50")
        #expect(lines[0].attributes["style"] == "fill:none;stroke:var(--series-1)")
        // The seventh series has the first one's colour, and dashes.
        #expect(lines[2].attributes["style"] == "fill:none;stroke:var(--series-1);stroke-dasharray:7 3")
        #expect(tree.all("circle").map { $0.attributes["cx"] } == ["0", "50", "100"])
        #expect(tree.texts("title") == ["a & b"] && tree.texts("desc") == ["<none>"])
    }

    @Test func `NaN parts a line, a point alone is a dot`() throws {
        let points = [Point(0, 0), Point(1, 0), Point(2, .nan), Point(3, 1), Point(.infinity, 1)]
        let tree = try Tree(Self.chart([.line(points, .ink)]).svg.source)
        #expect(tree.all("polyline").map { $0.attributes["points"] } == ["0,100 10,100"])
        #expect(tree.all("circle").map { $0.attributes["cx"] } == ["30"])
    }

    @Test func `on a log axis each decade is as long as the next, and zero has no place`() throws {
        let line = Mark.line([Point(0, 0), Point(0.1, 0), Point(1, 0), Point(10, 1)], .ink)
        let tree = try Tree(Self.chart([line], x: .log(0.1, 10)).svg.source)
        #expect(tree.all("polyline").map { $0.attributes["points"] } == ["0,100 50,100 100,0"])
    }

    @Test func `areas are drawn between two lines`() throws {
        let slices: [Mark.Slice] = [
            .init(x: 0, low: 0, high: 0.5), .init(x: 5, low: 0, high: 1), .init(x: 6, low: .nan, high: 1),
            .init(x: 8, low: 0, high: 1),
        ]
        let tree = try Tree(Self.chart([.area(slices, .series(2), opacity: 0.5)]).svg.source)
        #expect(
            tree.all("path").map { $0.attributes["d"] } == [
                "M0,50 50,0 50,100 0,100Z", "M79.5,0 80.5,0 80.5,100 79.5,100Z",
            ]
        )
        #expect(tree.all("path")[0].attributes["style"] == "fill:var(--series-3);fill-opacity:0.5")
    }

    @Test func `bands are cut at the plot's edges and keep their label as a tooltip`() throws {
        let tree = try Tree(
            Self.chart([
                .band(x: 5...20, .series(0), label: "left"),
                .band(y: 0.25...0.5, .series(1), label: "far too long a label"),
                .band(x: 20...30, .alarm, label: "outside"),
            ]).svg.source
        )
        let bands = tree.all("rect").dropFirst()
        #expect(bands.map { $0.attributes["x"] } == ["50", "0"])
        #expect(bands.map { $0.attributes["width"] } == ["50", "100"])
        #expect(bands.map { $0.attributes["y"] } == ["0", "50"])
        #expect(bands.map { $0.attributes["height"] } == ["100", "25"])
        #expect(tree.texts("title") == ["a & b", "left", "far too long a label"])
        #expect(tree.texts("text").contains("left") && !tree.texts("text").contains("far too long a label"))
    }

    @Test func `rules with labels turn round at the right edge`() throws {
        let tree = try Tree(
            Self.chart([
                .rule(x: 1, .ink, label: "a"), .rule(x: 9.9, .ink, label: "b"), .rule(y: 0.8, .alarm, label: "c"),
            ])
            .svg.source
        )
        let labels = tree.all("text").filter { $0.attributes["class"] == "label" }
        #expect(labels.map(\.text) == ["a", "b", "c"])
        #expect(labels.map { $0.attributes["text-anchor"] } == ["start", "end", "end"])
        #expect(labels.map { $0.attributes["x"] } == ["14", "95", "96"])
        #expect(tree.all("line").last?.attributes["y1"] == "20")
    }

    @Test func `without data the axes stand, and the picture says so`() throws {
        for marks in [[], [Mark.line([], .ink)], [.area([], .ink)], [.line([Point(.nan, 1)], .ink)]] {
            let tree = try Tree(Self.chart(marks).svg.source)
            #expect(tree.texts("text").contains("no data"))
            #expect(tree.texts("text").contains("time") && tree.texts("text").contains("0.5"))
        }
    }

    @Test func `legends wrap, and the plot makes room`() throws {
        let named = (0..<4).map { Mark.line([Point(0, 0), Point(1, 1)], .series($0), name: "name \($0)") }
        let chart = Self.chart(named)
        #expect(chart.legend.map(\.count) == [1, 1, 1, 1])
        #expect(chart.plot.top == 90 && chart.plot.height == 20)
        let texts = try Tree(chart.svg.source).texts("text")
        for index in 0..<4 { #expect(texts.contains("name \(index)")) }
    }

    @Test func `charts of one width line up, whatever their y axes are`() throws {
        let axis = Axis("seconds", .time(0, 10))
        var grids: [[String?]] = []
        for (label, scale) in [("", Scale.linear(-120, 0)), ("score", .linear(0, 1)), ("rate", .log(1e-6, 1))] {
            let chart = Chart(title: "t", summary: "s", x: axis, y: Axis(label, scale), height: 100)
            let lines = try Tree(chart.svg.source).all("line").filter { $0.attributes["x1"] == $0.attributes["x2"] }
            grids.append(lines.map { $0.attributes["x1"] })
        }
        #expect(grids[0].count == 11 && grids[0] == grids[1] && grids[1] == grids[2])
    }

    @Test func `values far outside do not end the program`() throws {
        let points = [Point(-1e300, 1e300), Point(.greatestFiniteMagnitude, -.greatestFiniteMagnitude)]
        let tree = try Tree(Self.chart([.line(points, .ink), .band(x: -1e300...1e300, .ink)]).svg.source)
        #expect(tree.all("polyline").count == 1)
    }

    @Test func `a matrix of counts shows counts and shares of the row`() throws {
        let matrix = CountMatrix(
            title: "confusion",
            summary: "who is taken for whom",
            rowTitle: "said",
            rows: ["yes", "n<o"],
            columnTitle: "heard",
            columns: ["yes", "n<o"],
            counts: [[3, 1], []]
        )
        let tree = try Tree(matrix.svg.source)
        #expect(
            tree.texts("title") == [
                "confusion", "yes → yes: 3 of 4, 75 %", "yes → n<o: 1 of 4, 25 %", "n<o → yes: 0 of 0, 0 %",
                "n<o → n<o: 0 of 0, 0 %",
            ]
        )
        let texts = tree.texts("text")
        for text in ["said", "heard", "3", "75 %", "1", "25 %", "·"] { #expect(texts.contains(text)) }
        #expect(
            tree.all("rect").map { $0.attributes["style"] }
                == [0.75, 0.25, 0, 0].map {
                    "fill:var(--series-1);fill-opacity:\(short($0))"
                }
        )
    }
}
