private import Core

/// An axis: its title with the unit, its scale and its ticks.
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

/// A plot with two axes: HTML for the text, which keeps its size at every width, and SVG for the marks, which stretch.
///
/// Charts with the same margins have their plots at the same horizontal position, so that charts with the same x axis can be
/// stacked and compared.
public struct Chart: Sendable {
    public let title: String
    /// A description for screen readers.
    public let summary: String
    public let x: Axis
    public let y: Axis
    /// Height of the plot, in CSS pixels.
    public let height: Double
    /// Largest width with margins, in CSS pixels; nil for the width of the page.
    public let widest: Double?
    /// Width that it has at least, where it stands beside others, in CSS pixels; nil for the width of the page or ``widest``.
    let least: Double?
    /// Space beside the plot for the labels of ticks, in CSS pixels.
    let left: Double
    let right: Double
    /// Text above the plot, in bold.
    public var heading = ""
    /// Values marked at the right edge, outside the plot.
    public var rightTicks: [Tick] = []
    /// One of several charts above each other with one x axis: the labels of its ticks are left to the lowest chart.
    public var isStacked = false
    /// How many rows of labels may stand above each other at the plot's top.
    public var labelRows = 1
    /// What the plot says if its marks show nothing.
    public var emptyText = "no data"
    /// The time in seconds that the x axis shows, where a recording is played along with the chart.
    public var time: ClosedRange<Double>?
    public private(set) var marks: [Mark] = []

    /// - Parameters:
    ///   - title: not drawn; read by screen readers.
    ///   - height: of the plot, at least 20.
    public init(
        title: String,
        summary: String,
        x: Axis,
        y: Axis,
        height: Double = 190,
        widest: Double? = nil,
        least: Double? = nil,
        left: Double = 52,
        right: Double = 46
    ) {
        self.title = title
        self.summary = summary
        self.x = x
        self.y = y
        self.height = max(20, height)
        self.widest = widest
        self.least = least
        self.left = left
        self.right = right
    }

    public mutating func add(_ mark: Mark) { marks.append(mark) }

    /// The least width of the plot on pages of a width, in CSS pixels.
    func plotWidth(_ page: PageWidth) -> Double {
        max(60, min(page.content, least ?? widest ?? .infinity) - left - right)
    }
}

/// A range of page widths. Ticks and labels are chosen for each of them, and the style sheet shows those of the width at hand.
enum PageWidth: String, CaseIterable {
    /// Phones, from 320 CSS pixels.
    case narrow = "n"
    /// Tablets and paper, from 640 CSS pixels.
    case medium = "m"
    /// From 1000 CSS pixels.
    case wide = "w"

    /// Least width of the page's content, in CSS pixels.
    var content: Double {
        switch self {
        case .narrow: 320 - 32
        case .medium: 640 - 32
        case .wide: 1000 - 32
        }
    }

    /// Class names by which the style sheet shows an element at these widths only.
    static func classes(_ widths: [PageWidth]) -> String { (["at"] + widths.map(\.rawValue)).joined(separator: " ") }
}

/// Estimated width of a text at the charts' font size, in CSS pixels; there is no font to measure it with.
func textWidth(_ text: String) -> Double { 7.2 * Double(columns(text)) }
