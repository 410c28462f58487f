/// A point of a chart, in the units of its axes.
public struct Point: Sendable, Equatable {
    public let x: Double
    public let y: Double

    public init(_ x: Double, _ y: Double) {
        self.x = x
        self.y = y
    }
}

/// A shape in a chart; later marks cover earlier ones.
///
/// Points that cannot be placed, such as NaN, are left out and interrupt their line or area.
public struct Mark: Sendable {
    /// The extent of an area at one `x`.
    public struct Slice: Sendable, Equatable {
        public let x: Double
        public let low: Double
        public let high: Double

        public init(x: Double, low: Double, high: Double) {
            self.x = x
            self.low = low
            self.high = high
        }
    }

    enum Kind: Sendable {
        case line([Point], markers: Bool)
        case area([Slice])
        case band(x: ClosedRange<Double>, y: ClosedRange<Double>?)
        case dot(Point)
        case rule(Double)
        case image(Raster, x: ClosedRange<Double>, y: ClosedRange<Double>)
    }

    let kind: Kind
    let colour: Colour
    var opacity = 1.0
    /// Text in the legend, once for all marks of this name.
    var name: String?
    /// Text beside the mark, where there is room, and in its tooltip.
    var label: String?
    /// Text in the tooltip, where it is not the label.
    var tooltip: String?

    /// Whether it has no point that could be placed.
    var isEmpty: Bool {
        switch kind {
        case .line(let points, _): !points.contains { $0.x.isFinite && $0.y.isFinite }
        case .area(let slices): slices.isEmpty
        case .dot(let point): !point.x.isFinite || !point.y.isFinite
        case .band, .rule, .image: false
        }
    }

    /// A line from point to point.
    public static func line(_ points: [Point], _ colour: Colour, name: String? = nil, markers: Bool = false) -> Mark {
        Mark(kind: .line(points, markers: markers), colour: colour, name: name)
    }

    /// The area between two curves.
    public static func area(_ slices: [Slice], _ colour: Colour, opacity: Double = 1) -> Mark {
        Mark(kind: .area(slices), colour: colour, opacity: opacity)
    }

    /// A single point with a label beside it.
    public static func dot(_ point: Point, _ colour: Colour, name: String? = nil, label: String? = nil) -> Mark {
        Mark(kind: .dot(point), colour: colour, name: name, label: label)
    }

    /// A rectangle; without `y` it is as high as the plot.
    ///
    /// - Parameters:
    ///   - label: in a band of limited height it must fit into the band; else it stands at the plot's top.
    ///   - tooltip: where it is not the label.
    public static func band(
        x: ClosedRange<Double>,
        y: ClosedRange<Double>? = nil,
        _ colour: Colour,
        name: String? = nil,
        label: String? = nil,
        tooltip: String? = nil,
        opacity: Double = 0.2
    ) -> Mark {
        Mark(kind: .band(x: x, y: y), colour: colour, opacity: opacity, name: name, label: label, tooltip: tooltip)
    }

    /// A dashed line across the whole plot; its value can be one of ``Chart/rightTicks``.
    public static func rule(y: Double, _ colour: Colour, name: String? = nil) -> Mark {
        Mark(kind: .rule(y), colour: colour, name: name)
    }

    /// An image stretched over a part of the plot, its first row on top.
    public static func image(_ raster: Raster, x: ClosedRange<Double>, y: ClosedRange<Double>) -> Mark {
        Mark(kind: .image(raster, x: x, y: y), colour: .ink)
    }
}
