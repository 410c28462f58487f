extension Chart {
    /// The chart as one `svg` element.
    public var svg: Markup {
        let plot = plot
        let background = Markup.element(
            "rect",
            [
                "class": "plot", "x": short(plot.left), "y": short(plot.top), "width": short(plot.width),
                "height": short(plot.height),
            ]
        )
        // An inner `svg` clips to its bounds without the identifiers that `clipPath` needs.
        let data = Markup.element(
            "svg",
            [
                "x": short(plot.left), "y": short(plot.top), "width": short(plot.width), "height": short(plot.height),
                "overflow": "hidden",
            ],
            drawnMarks
        )
        var content = [.element("title", [:], [.text(title)]), .element("desc", [:], [.text(summary)]), background]
        content += xAxis + yAxis + [data] + drawnLegend
        return .element(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "viewBox": "0 0 \(short(width)) \(short(height))", "role": "img",
                "class": "chart", "style": "max-width:\(short(width))px",
            ],
            content
        )
    }

    private var drawnMarks: [Markup] {
        let canvas = Canvas(x: x.scale, y: y.scale, width: plot.width, height: plot.height)
        let drawn = marks.flatMap(canvas.draw)
        guard drawn.isEmpty else { return drawn }
        return [
            .element(
                "text",
                [
                    "x": short(plot.width / 2), "y": short(plot.height / 2), "text-anchor": "middle", "class": "faint",
                ],
                [.text("no data")]
            )
        ]
    }

    private var xAxis: [Markup] {
        let plot = plot
        var drawn: [Markup] = []
        for tick in x.ticks ?? x.scale.ticks(atMost: max(2, Int(plot.width / 70))) {
            guard let place = x.scale.position(of: tick.value), (-0.001...1.001).contains(place) else { continue }
            let left = short(plot.left + place * plot.width)
            drawn.append(
                .element(
                    "line",
                    [
                        "class": "grid", "x1": left, "x2": left, "y1": short(plot.top),
                        "y2": short(plot.top + plot.height),
                    ]
                )
            )
            drawn.append(
                .element(
                    "text",
                    ["x": left, "y": short(plot.top + plot.height + 16), "text-anchor": "middle"],
                    [
                        .text(tick.label)
                    ]
                )
            )
        }
        guard !x.label.isEmpty else { return drawn }
        drawn.append(
            .element(
                "text",
                [
                    "x": short(plot.left + plot.width / 2), "y": short(plot.top + plot.height + 36),
                    "text-anchor": "middle", "class": "faint",
                ],
                [.text(x.label)]
            )
        )
        return drawn
    }

    private var yAxis: [Markup] {
        let plot = plot
        var drawn: [Markup] = []
        for tick in y.ticks ?? y.scale.ticks(atMost: max(2, Int(plot.height / 30))) {
            guard let place = y.scale.position(of: tick.value), (-0.001...1.001).contains(place) else { continue }
            let top = plot.top + (1 - place) * plot.height
            drawn.append(
                .element(
                    "line",
                    [
                        "class": "grid", "x1": short(plot.left), "x2": short(plot.left + plot.width), "y1": short(top),
                        "y2": short(top),
                    ]
                )
            )
            drawn.append(
                .element(
                    "text",
                    ["x": short(plot.left - 8), "y": short(top + 4), "text-anchor": "end"],
                    [
                        .text(tick.label)
                    ]
                )
            )
        }
        guard !y.label.isEmpty else { return drawn }
        let middle = short(plot.top + plot.height / 2)
        drawn.append(
            .element(
                "text",
                [
                    "x": "14", "y": middle, "text-anchor": "middle", "class": "faint",
                    "transform": "rotate(-90 14 \(middle))",
                ],
                [.text(y.label)]
            )
        )
        return drawn
    }

    private var drawnLegend: [Markup] {
        legend.enumerated().flatMap { row, entries in
            entries.flatMap { entry in
                let top = 14 + 20 * Double(row)
                return [
                    Canvas.sample(of: entry.mark, x: entry.x, y: top),
                    .element(
                        "text",
                        ["x": short(entry.x + 26), "y": short(top + 4)],
                        [
                            .text(entry.mark.name ?? "")
                        ]
                    ),
                ]
            }
        }
    }
}
