/// Draws marks as SVG within a plot whose top left corner is the origin.
///
/// The x coordinate runs from 0 to ``width`` and is stretched to the width at hand, so strokes must not scale, and dots are
/// lines without length.
struct Canvas {
    let x: Scale
    let y: Scale
    /// In CSS pixels.
    let height: Double

    static let width = 1000.0

    func draw(_ mark: Mark) -> [Markup] {
        switch mark.kind {
        case .line(let points, let markers): line(points, mark, markers: markers)
        case .area(let slices): area(slices, mark)
        case .band(let x, let y): band(x, y, mark)
        case .dot(let point): place(point).map { [dot($0, mark)] } ?? []
        case .rule(let value): top(value).map { [rule(at: $0, mark)] } ?? []
        case .image(let raster, let x, let y): image(raster, x, y)
        }
    }

    /// The label of a mark and where it may stand; nil without a label.
    func label(of mark: Mark, rows: Int) -> WantedLabel? {
        guard let text = mark.label else { return nil }
        switch mark.kind {
        case .dot(let point):
            guard let place = place(point) else { return nil }
            let x = place.x / Canvas.width
            return WantedLabel(
                text: text,
                places: [
                    .init(x: x, y: place.y, side: .right, gap: 8), .init(x: x, y: place.y - 13, side: .right, gap: 2),
                    .init(x: x, y: place.y + 13, side: .right, gap: 2), .init(x: x, y: place.y, side: .left, gap: 8),
                    .init(x: x, y: place.y - 14, side: .centre), .init(x: x, y: place.y + 14, side: .centre),
                    .init(x: x, y: place.y + 14, side: .left, gap: 2),
                    .init(x: x, y: place.y - 14, side: .left, gap: 2),
                    .init(x: x, y: place.y + 27, side: .right, gap: 2),
                    .init(x: x, y: place.y - 27, side: .right, gap: 2),
                    .init(x: x, y: place.y + 28, side: .left, gap: 2),
                ]
            )
        case .band(let x, let y):
            guard let box = box(x, y) else { return nil }
            let middle = (box.left + box.right) / 2 / Canvas.width
            guard y == nil else {
                return WantedLabel(
                    text: text,
                    places: [.init(x: middle, y: (box.top + box.bottom) / 2, side: .centre)],
                    room: (box.right - box.left) / Canvas.width
                )
            }
            return WantedLabel(text: text, places: topPlaces(at: middle, rows: rows))
        case .line, .area, .rule, .image: return nil
        }
    }

    /// Places at the top of the plot around x, also where half of the label would lie beyond its edge.
    private func topPlaces(at x: Double, rows: Int) -> [WantedLabel.Place] {
        (0..<rows).flatMap { row -> [WantedLabel.Place] in
            let y = 9 + 15 * Double(row)
            let edge: WantedLabel.Place =
                x < 0.5 ? .init(x: 0, y: y, side: .right, gap: 2) : .init(x: 1, y: y, side: .left, gap: 2)
            return [.init(x: x, y: y, side: .centre)] + (x < 0.15 || x > 0.85 ? [edge] : [])
        }
    }

    /// The legend's symbol for a mark.
    static func sample(of mark: Mark) -> Markup {
        let symbol: Markup =
            switch mark.kind {
            case .line(_, markers: true), .dot:
                .element("path", ["class": "dot", "d": "M10 6h.01", "style": "stroke:\(mark.colour.style)"])
            case .line, .rule:
                .element("line", ["x1": "0", "x2": "20", "y1": "6", "y2": "6", "style": strokeStyle(mark)])
            default: .element("rect", ["x": "3", "y": "1", "width": "14", "height": "10", "style": fillStyle(mark)])
            }
        return .element(
            "svg",
            ["xmlns": "http://www.w3.org/2000/svg", "class": "sample", "viewBox": "0 0 20 12", "aria-hidden": "true"],
            [symbol]
        )
    }

    private func left(_ value: Double) -> Double? { x.position(of: value).map { $0 * Canvas.width } }

    private func top(_ value: Double) -> Double? { y.position(of: value).map { (1 - $0) * height } }

    private func place(_ point: Point) -> (x: Double, y: Double)? {
        guard let left = left(point.x), let top = top(point.y) else { return nil }
        return (left, top)
    }

    // MARK: - Lines and areas

    private func line(_ points: [Point], _ mark: Mark, markers: Bool) -> [Markup] {
        points.map(place).split(whereSeparator: { $0 == nil }).flatMap { run -> [Markup] in
            let places = run.compactMap { $0 }
            // A line of a single point would be invisible.
            let dots = markers || places.count == 1 ? places.map { dot($0, mark) } : []
            guard places.count > 1 else { return dots }
            let style = "fill:none;" + Canvas.strokeStyle(mark)
            return [.element("polyline", ["points": list(places), "style": style])] + dots
        }
    }

    private func dot(_ place: (x: Double, y: Double), _ mark: Mark) -> Markup {
        .element(
            "path",
            [
                "class": "dot", "d": "M\(short(place.x)) \(short(place.y))h.01", "style": "stroke:\(mark.colour.style)",
            ]
        )
    }

    private func area(_ slices: [Mark.Slice], _ mark: Mark) -> [Markup] {
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
            let upper = run.map { (x: $0.x, y: $0.high) }
            let lower = run.map { (x: $0.x, y: $0.low) }
            return .element("path", ["d": "M" + list(upper + lower.reversed()) + "Z", "style": Canvas.fillStyle(mark)])
        }
    }

    private func list(_ places: [(x: Double, y: Double)]) -> String {
        places.map { "\(short($0.x)),\(short($0.y))" }.joined(separator: " ")
    }

    // MARK: - Bands, rules and pictures

    /// The part of a band that lies within the plot; nil if none does.
    private func box(
        _ x: ClosedRange<Double>,
        _ y: ClosedRange<Double>?
    ) -> (left: Double, right: Double, top: Double, bottom: Double)? {
        let ends = y.map { (top($0.upperBound), top($0.lowerBound)) } ?? (0, height)
        guard let from = left(x.lowerBound), let to = left(x.upperBound), let above = ends.0, let below = ends.1
        else { return nil }
        let (start, end) = (max(0, from), min(Canvas.width, to))
        let (upper, lower) = (max(0, above), min(height, below))
        return end >= start && lower >= upper ? (start, end, upper, lower) : nil
    }

    private func band(_ x: ClosedRange<Double>, _ y: ClosedRange<Double>?, _ mark: Mark) -> [Markup] {
        guard let box = box(x, y) else { return [] }
        return [
            .element(
                "rect",
                [
                    "x": short(box.left), "y": short(box.top), "width": short(max(0.5, box.right - box.left)),
                    "height": short(max(0.5, box.bottom - box.top)), "style": Canvas.fillStyle(mark),
                ],
                (mark.tooltip ?? mark.label).map { [.element("title", [:], [.text($0)])] } ?? []
            )
        ]
    }

    private func rule(at top: Double, _ mark: Mark) -> Markup {
        let (y, style) = (short(top), Canvas.strokeStyle(mark))
        return .element("line", ["x1": "0", "x2": short(Canvas.width), "y1": y, "y2": y, "style": style])
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

    /// Rules are dashed, and so are lines of later series of the same colour.
    private static func strokeStyle(_ mark: Mark) -> String {
        let isRule = if case .rule = mark.kind { true } else { false }
        let dashes = mark.colour.dashes ?? (isRule ? "4 3" : nil)
        return "stroke:\(mark.colour.style)" + (dashes.map { ";stroke-dasharray:\($0)" } ?? "")
    }

    private static func fillStyle(_ mark: Mark) -> String {
        "fill:\(mark.colour.style)" + (mark.opacity < 1 ? ";fill-opacity:\(short(mark.opacity))" : "")
    }
}
