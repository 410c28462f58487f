import Core
private import Evaluation

/// Minimum, median, 99th percentile and maximum of a list of times.
public struct Timing: Codable, Equatable, Sendable {
    public let min: Double
    public let p50: Double
    public let p99: Double
    public let max: Double

    /// - Parameter times: in any unit; the percentiles are rounded to thousandths of it.
    /// - Returns: nil where there are no times.
    public init?(_ times: [Double]) {
        let sorted = times.sorted()
        guard let first = sorted.first, let last = sorted.last, let p50 = percentile(sorted, 0.5),
            let p99 = percentile(sorted, 0.99)
        else { return nil }
        min = rounded(first)
        self.p50 = rounded(p50)
        self.p99 = rounded(p99)
        max = rounded(last)
    }
}

/// The value rounded to three decimals, as in reports.
func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }

/// A histogram of times, drawn with characters.
public struct Histogram: Sendable {
    /// Lower bound of each row, then the upper bound of the last one.
    let edges: [Double]
    let counts: [Int]
    /// Number of times above the last edge, which is the 99th percentile or twice the median, whichever is smaller.
    /// Without this limit, a few interruptions would squeeze all other times into one row.
    let rest: Int

    public init(_ values: [Double], rows: Int) {
        guard rows > 0, let timing = Timing(values) else {
            (edges, counts, rest) = ([], [], 0)
            return
        }
        let top = min(timing.p99, 2 * timing.p50)
        let step = max(top - timing.min, 0.001) / Double(rows)
        var counts = [Int](repeating: 0, count: rows)
        var rest = 0
        for value in values {
            if value > top {
                rest += 1
            } else {
                counts[min(rows - 1, max(0, Int((value - timing.min) / step)))] += 1
            }
        }
        edges = (0...rows).map { timing.min + Double($0) * step }
        self.counts = counts
        self.rest = rest
    }

    /// One line per row: lower bound, bar, percentage of all times.
    ///
    /// - Parameter width: length of the longest bar, in characters.
    public func text(width: Int) -> String {
        let total = counts.reduce(rest, +)
        guard total > 0 else { return "" }
        let most = max(counts.max() ?? 1, rest, 1)
        let names = edges.dropLast().map { decimal($0, $0 < 100 ? 1 : 0) } + ["more"]
        let column = names.map(\.count).max() ?? 0
        return zip(names, counts + [rest]).map { name, count in
            let bar = Self.bar(Double(count) / Double(most) * Double(width))
            return "  \(left(name, column)) \(pad(bar, width)) \(shareText(Double(count) / Double(total)))\n"
        }.joined()
    }

    /// A bar of `length` characters, rounded to eighths.
    private static func bar(_ length: Double) -> String {
        let eighths = Int((length * 8).rounded())
        let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
    }
}
