/// Draws marks as SVG within a plot whose top left corner is the origin.
struct Canvas {
    let x: Scale
    let y: Scale
    let width: Double
    let height: Double

    func draw(_ mark: Mark) -> [Markup] {
        switch mark.kind {
        case .line(let points, let stepped, let markers, let dashed):
            line(points, mark, stepped: stepped, markers: markers, dashed: dashed)
        case .area(let slices, let stepped): area(slices, mark, stepped: stepped)
        case .band(let x, let y): band(x, y, mark)
        case .verticalRule(let value, let dashed):
            left(value).map { rule(from: ($0, 0), to: ($0, height), mark, dashed: dashed) } ?? []
        case .horizontalRule(let value, let dashed):
            top(value).map { rule(from: (0, $0), to: (width, $0), mark, dashed: dashed) } ?? []
        case .image(let raster, let x, let y): image(raster, x, y)
        }
    }

    /// The legend's symbol for a mark.
    static func sample(of mark: Mark, x: Double, y: Double) -> Markup {
        switch mark.kind {
        case .line(_, _, _, let dashed):
            return .element(
                "line",
                [
                    "x1": short(x), "x2": short(x + 20), "y1": short(y), "y2": short(y),
                    "style": strokeStyle(mark, dashed: dashed),
                ]
            )
        default:
            return .element(
                "rect",
                [
                    "x": short(x + 3), "y": short(y - 6), "width": "14", "height": "12", "style": fillStyle(mark),
                ]
            )
        }
    }

    private func left(_ value: Double) -> Double? { x.position(of: value).map { $0 * width } }

    private func top(_ value: Double) -> Double? { y.position(of: value).map { (1 - $0) * height } }

    private func place(_ point: Point) -> (x: Double, y: Double)? {
        guard let left = left(point.x), let top = top(point.y) else { return nil }
        return (left, top)
    }

    // MARK: - Lines and areas

    private func line(_ points: [Point], _ mark: Mark, stepped: Bool, markers: Bool, dashed: Bool) -> [Markup] {
        var drawn: [Markup] = []
        for run in points.map(place).split(whereSeparator: { $0 == nil }) {
            let places = run.compactMap { $0 }
            let path = stepped ? steps(places) : places
            if path.count > 1 {
                drawn.append(
                    .element(
                        "polyline",
                        ["points": list(path), "style": "fill:none;" + strokeStyle(mark, dashed: dashed)]
                    )
                )
            }
            // A line of a single point would be invisible.
            for place in places where markers || places.count == 1 {
                drawn.append(
                    .element(
                        "circle",
                        ["cx": short(place.x), "cy": short(place.y), "r": "3", "style": fillStyle(mark)]
                    )
                )
            }
        }
        return drawn
    }

    private func area(_ slices: [Mark.Slice], _ mark: Mark, stepped: Bool) -> [Markup] {
        let places = slices.map { slice -> (x: Double, low: Double, high: Double)? in
            guard let x = left(slice.x), let low = top(slice.low), let high = top(slice.high) else { return nil }
            return (x, low, high)
        }
        return places.split(whereSeparator: { $0 == nil }).map { run in
            var run = run.compactMap { $0 }
            // An area of a single slice would have no width.
            if run.count == 1 {
                run = [(run[0].x - 0.5, run[0].low, run[0].high), (run[0].x + 0.5, run[0].low, run[0].high)]
            }
            var upper = run.map { (x: $0.x, y: $0.high) }
            var lower = run.map { (x: $0.x, y: $0.low) }
            if stepped { (upper, lower) = (steps(upper), steps(lower)) }
            return .element("path", ["d": "M" + list(upper + lower.reversed()) + "Z", "style": fillStyle(mark)])
        }
    }

    /// Steps: each value holds until the next x.
    private func steps(_ places: [(x: Double, y: Double)]) -> [(x: Double, y: Double)] {
        var path: [(x: Double, y: Double)] = []
        for place in places {
            if let last = path.last { path.append((place.x, last.y)) }
            path.append(place)
        }
        return path
    }

    private func list(_ places: [(x: Double, y: Double)]) -> String {
        places.map { "\(short($0.x)),\(short($0.y))" }.joined(separator: " ")
    }

    // MARK: - Bands, rules and pictures

    private func band(_ x: ClosedRange<Double>?, _ y: ClosedRange<Double>?, _ mark: Mark) -> [Markup] {
        let sides = x.map { (left($0.lowerBound), left($0.upperBound)) } ?? (0, width)
        let ends = y.map { (top($0.upperBound), top($0.lowerBound)) } ?? (0, height)
        guard let from = sides.0, let to = sides.1, let above = ends.0, let below = ends.1 else { return [] }
        let (start, end) = (max(0, from), min(width, to))
        let (upper, lower) = (max(0, above), min(height, below))
        guard end >= start, lower >= upper else { return [] }
        var drawn: [Markup] = [
            .element(
                "rect",
                [
                    "x": short(start), "y": short(upper), "width": short(max(0.5, end - start)),
                    "height": short(max(0.5, lower - upper)), "style": fillStyle(mark),
                ],
                mark.label.map { [.element("title", [:], [.text($0)])] } ?? []
            )
        ]
        if let label = mark.label, textWidth(label) <= end - start, lower - upper >= 13 {
            // The label is centred in a flat band, and at the top of a high one.
            let base = lower - upper < 40 ? (upper + lower) / 2 + 4 : upper + 14
            drawn.append(text(label, x: (start + end) / 2, y: base, anchor: "middle"))
        }
        return drawn
    }

    private func rule(
        from start: (x: Double, y: Double),
        to end: (x: Double, y: Double),
        _ mark: Mark,
        dashed: Bool
    ) -> [Markup] {
        var drawn: [Markup] = [
            .element(
                "line",
                [
                    "x1": short(start.x), "x2": short(end.x), "y1": short(start.y), "y2": short(end.y),
                    "style": strokeStyle(mark, dashed: dashed),
                ]
            )
        ]
        guard let label = mark.label else { return drawn }
        if start.x == end.x {
            let fitsRight = start.x + 4 + textWidth(label) <= width
            drawn.append(text(label, x: start.x + (fitsRight ? 4 : -4), y: 13, anchor: fitsRight ? "start" : "end"))
        } else {
            drawn.append(text(label, x: width - 4, y: start.y < 16 ? start.y + 13 : start.y - 4, anchor: "end"))
        }
        return drawn
    }

    private func image(_ raster: Raster, _ x: ClosedRange<Double>, _ y: ClosedRange<Double>) -> [Markup] {
        guard let from = left(x.lowerBound), let to = left(x.upperBound), let above = top(y.upperBound),
            let below = top(y.lowerBound), let address = raster.dataAddress
        else { return [] }
        // Large pixels keep sharp edges; small ones are averaged.
        let rendering = Double(raster.width) < to - from ? "pixelated" : "auto"
        return [
            .element(
                "image",
                [
                    "x": short(from), "y": short(above), "width": short(to - from), "height": short(below - above),
                    "preserveAspectRatio": "none", "style": "image-rendering:\(rendering)", "href": address,
                ]
            )
        ]
    }

    private func text(_ label: String, x: Double, y: Double, anchor: String) -> Markup {
        .element("text", ["class": "label", "x": short(x), "y": short(y), "text-anchor": anchor], [.text(label)])
    }

    private static func strokeStyle(_ mark: Mark, dashed: Bool) -> String {
        let dashes = mark.colour.dashes ?? (dashed ? "4 3" : nil)
        return "stroke:\(mark.colour.style)" + (dashes.map { ";stroke-dasharray:\($0)" } ?? "")
    }

    private func strokeStyle(_ mark: Mark, dashed: Bool) -> String { Canvas.strokeStyle(mark, dashed: dashed) }

    private static func fillStyle(_ mark: Mark) -> String {
        "fill:\(mark.colour.style)" + (mark.opacity < 1 ? ";fill-opacity:\(short(mark.opacity))" : "")
    }

    private func fillStyle(_ mark: Mark) -> String { Canvas.fillStyle(mark) }
}
