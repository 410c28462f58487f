private import Core

/// How often which time was taken, as bars of text.
struct Histogram {
    /// Where each row begins, then where the last one ends; above that is `rest`.
    let edges: [Double]
    let counts: [Int]
    /// Times above the last edge, the 99th percentile or twice the median: interruptions would squeeze all else into one row.
    let rest: Int

    init(_ values: [Double], rows: Int) {
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

    /// A line a row: from where, the bar, the share.
    ///
    /// - Parameter width: of the longest bar, in characters.
    func text(width: Int) -> String {
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

    /// So many characters' length, to an eighth.
    private static func bar(_ length: Double) -> String {
        let eighths = Int((length * 8).rounded())
        let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
    }
}
