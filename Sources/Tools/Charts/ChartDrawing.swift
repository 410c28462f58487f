extension Chart {
    /// The chart as one `div` element.
    public var markup: Markup {
        var parts: [Markup] = []
        if let head { parts.append(head) }
        var frame = "height:\(short(height))px;margin:0 \(short(right))px 0 \(short(left))px"
        // Room for the labels of the x axis.
        if hasTicks { frame += ";margin-bottom:26px" }
        let content = [drawing] + yTicks + xTicks + labels
        if let time {
            parts.append(
                .element(
                    "div",
                    [
                        "class": "frame timed", "style": frame, "data-from": short(time.lowerBound, places: 3),
                        "data-to": short(time.upperBound, places: 3),
                    ],
                    content
                )
            )
        } else {
            parts.append(.element("div", ["class": "frame", "style": frame], content))
        }
        if !x.label.isEmpty {
            let margin = "padding:0 \(short(right))px 0 \(short(left))px"
            parts.append(.element("div", ["class": "x-title", "style": margin], [.text(x.label)]))
        }
        return .element(
            "div",
            [
                "class": isStacked ? "chart strip" : "chart", "role": "img",
                "aria-label": summary.isEmpty ? title : "\(title). \(summary)",
                "style": widest.map { "max-width:\(short($0))px" } ?? "",
            ],
            parts
        )
    }

    private var hasTicks: Bool { !isStacked && x.ticks.map { !$0.isEmpty } ?? true }

    private var drawing: Markup {
        let canvas = Canvas(x: x.scale, y: y.scale, height: height)
        return .element(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "viewBox": "0 0 \(short(Canvas.width)) \(short(height))",
                "preserveAspectRatio": "none",
            ],
            grid + marks.flatMap(canvas.draw)
        )
    }

    // MARK: - Axes

    /// Ticks of the x axis for a plot of this width in CSS pixels: two at least, because one alone gives no scale.
    private func automaticTicks(_ plot: Double) -> [Tick] {
        let ticks = x.scale.ticks(atMost: max(2, Int(plot / 70)))
        return ticks.count > 1 ? ticks : x.scale.ticks(atMost: 3)
    }

    /// The automatic or given ticks of the x axis, each with the widths of the page that have room for it.
    private var xMarks: [(tick: Tick, place: Double, widths: [PageWidth])] {
        var found: [(tick: Tick, place: Double, widths: [PageWidth])] = []
        for width in PageWidth.allCases {
            let plot = plotWidth(width)
            var end = -Double.infinity
            for tick in x.ticks ?? automaticTicks(plot) {
                guard let place = Self.inside(x.scale.position(of: tick.value)) else { continue }
                // Given ticks may be too many for a narrow page.
                let half = textWidth(tick.label) / 2
                guard place * plot - half >= end else { continue }
                end = place * plot + half + 6
                if let index = found.firstIndex(where: { $0.tick == tick }) {
                    found[index].widths.append(width)
                } else {
                    found.append((tick, place, [width]))
                }
            }
        }
        return found
    }

    private var yMarks: [(tick: Tick, place: Double)] {
        (y.ticks ?? y.scale.ticks(atMost: max(2, Int(height / 30)))).compactMap { tick in
            Self.inside(y.scale.position(of: tick.value)).map { (tick, $0) }
        }
    }

    /// A position within the axis, where rounding may have moved one at the end out of it.
    private static func inside(_ place: Double?) -> Double? {
        place.flatMap { (-0.001...1.001).contains($0) ? min(max($0, 0), 1) : nil }
    }

    private var grid: [Markup] {
        let vertical = xMarks.map { mark in
            let left = short(mark.place * Canvas.width)
            return Markup.element(
                "line",
                [
                    "class": "grid " + PageWidth.classes(mark.widths), "x1": left, "x2": left, "y1": "0",
                    "y2": short(height),
                ]
            )
        }
        let horizontal = yMarks.map { mark in
            let top = short((1 - mark.place) * height)
            return Markup.element(
                "line",
                ["class": "grid", "x1": "0", "x2": short(Canvas.width), "y1": top, "y2": top]
            )
        }
        return vertical + horizontal
    }

    private var xTicks: [Markup] {
        guard hasTicks else { return [] }
        return xMarks.map { mark in
            .element(
                "span",
                ["class": "x " + PageWidth.classes(mark.widths), "style": "left:\(short(mark.place * 100))%"],
                [.text(mark.tick.label)]
            )
        }
    }

    private var yTicks: [Markup] {
        let left = yMarks.map { side("y", $0.tick.label, at: $0.place) }
        // From the top down; one that would cover the one above it moves below it.
        var lowest = -Double.infinity
        let right = rightTicks.compactMap { tick in Self.inside(y.scale.position(of: tick.value)).map { (tick, $0) } }
            .sorted { $0.1 > $1.1 }
            .map { tick, place in
                let top = max((1 - place) * height, lowest + 14)
                lowest = top
                return side("right", tick.label, at: 1 - top / height)
            }
        return left + right
    }

    private func side(_ kind: String, _ label: String, at place: Double) -> Markup {
        .element("span", ["class": kind, "style": "top:\(short((1 - place) * height))px"], [.text(label)])
    }

    // MARK: - Heading and labels

    /// The chart's heading, the title of the y axis and the legend; nil if there are none.
    private var head: Markup? {
        var parts: [Markup] = []
        if !heading.isEmpty { parts.append(.element("strong", [:], [.text(heading)])) }
        if !y.label.isEmpty { parts.append(.element("span", ["class": "y-title"], [.text(y.label)])) }
        var names: Set<String> = []
        for mark in marks {
            guard let name = mark.name, names.insert(name).inserted else { continue }
            parts.append(.element("span", ["class": "key"], [Canvas.sample(of: mark), .text(name)]))
        }
        return parts.isEmpty ? nil : .element("div", ["class": "head"], parts)
    }

    /// The labels of marks, where there is room for them.
    private var labels: [Markup] {
        guard !marks.allSatisfy(\.isEmpty) else {
            return [.element("span", ["class": "label none", "style": "left:50%;top:50%"], [.text(emptyText)])]
        }
        let canvas = Canvas(x: x.scale, y: y.scale, height: height)
        let wanted = marks.compactMap { canvas.label(of: $0, rows: labelRows) }
        return LabelPlacement.place(wanted, height: height) { plotWidth($0) }
    }
}
