/// An axis: its title, its scale and its ticks.
public struct Axis: Sendable {
    public let label: String
    public let scale: Scale
    /// Marked values; nil for automatic round values.
    let ticks: [Tick]?

    public init(_ label: String, _ scale: Scale, ticks: [Tick]? = nil) {
        self.label = label
        self.scale = scale
        self.ticks = ticks
    }
}

/// A plot with two axes, drawn as one SVG element.
///
/// Charts of the same width have their plots at the same horizontal position, so that charts with the same x axis can be
/// stacked and compared.
public struct Chart: Sendable {
    public let title: String
    /// A description for screen readers.
    public let summary: String
    public let x: Axis
    public let y: Axis
    /// Size in CSS pixels, with axes and legend.
    public let width: Double
    public let height: Double
    public private(set) var marks: [Mark] = []

    /// - Parameters:
    ///   - title: not drawn; read by screen readers and shown as a tooltip.
    ///   - width: at least 200.
    ///   - height: at least 80.
    public init(
        title: String,
        summary: String,
        x: Axis,
        y: Axis,
        width: Double = 1000,
        height: Double = 240
    ) {
        self.title = title
        self.summary = summary
        self.x = x
        self.y = y
        self.width = max(200, width)
        self.height = max(80, height)
    }

    public mutating func add(_ mark: Mark) { marks.append(mark) }

    static let left = 92.0
    static let right = 18.0

    /// Rows of the legend: marks with their distances from the left edge.
    var legend: [[(x: Double, mark: Mark)]] {
        var rows: [[(x: Double, mark: Mark)]] = []
        var end = 0.0
        for mark in marks {
            guard let name = mark.name else { continue }
            let length = textWidth(name) + 44
            if rows.isEmpty || end + length > width - Chart.right {
                rows.append([])
                end = Chart.left
            }
            rows[rows.count - 1].append((end, mark))
            end += length
        }
        return rows
    }

    /// The rectangle between the axes.
    var plot: (left: Double, top: Double, width: Double, height: Double) {
        let top = 10 + 20 * Double(legend.count)
        let bottom = x.label.isEmpty ? 26.0 : 44.0
        return (Chart.left, top, width - Chart.left - Chart.right, max(20, height - top - bottom))
    }
}

/// Estimated width of a text at the charts' font size, in CSS pixels; there is no font to measure it with.
func textWidth(_ text: String) -> Double { 6.8 * Double(text.count) }
