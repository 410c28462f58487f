import Charts
private import Core
import Evaluation

/// Misses against false accepts of recordings on log axes: DET curves, with the operating points of each sensitivity.
struct DetectionTradeoff: Sendable {
    /// Counts at one threshold, or with a set of them.
    struct Counts: Sendable, Equatable {
        let hits: Int
        let falseAccepts: Int
    }

    /// A curve and the points on it that are in use.
    struct Series: Sendable {
        let name: String
        let said: Int
        /// From the lowest threshold to the highest.
        let curve: [Counts]
        /// By name of the sensitivity.
        let points: [(name: String, counts: Counts)]

        /// Whether anything was accepted by mistake, at any threshold.
        var hasFalseAccepts: Bool { (curve + points.map(\.counts)).contains { $0.falseAccepts > 0 } }
    }

    /// Length of all recordings, in seconds.
    private let seconds: Double
    private let highest: Double

    /// - Parameter series: all that will be drawn, so that all charts have the same axes.
    init(seconds: Double, _ series: [Series]) {
        self.seconds = seconds
        let counts = series.flatMap { $0.curve + $0.points.map(\.counts) }.map(\.falseAccepts).max() ?? 0
        highest = seconds > 0 ? Double(counts) * 3600 / seconds : 0
    }

    /// Half a false accept in all recordings, where there was none, because a log axis has no zero.
    private var least: Double { seconds > 0 ? 1800 / seconds : 0.1 }

    private func point(_ counts: Counts, said: Int) -> Point {
        guard said > 0 else { return Point(.nan, .nan) }
        return Point(
            max(0.5, Double(said - counts.hits)) / Double(said) * 100,
            max(least, Double(counts.falseAccepts) * 3600 / max(seconds, 1e-9))
        )
    }

    /// A chart of several curves; those of words that were never said are left out.
    func chart(_ series: [Series], title: String, heading: String, isSmall: Bool) -> Chart {
        let drawn = series.filter { $0.said > 0 }
        let said = drawn.map(\.said).max() ?? 1
        var chart = Chart(
            title: title,
            summary: "Misses in per cent against false accepts per hour, over all thresholds, on log axes. "
                + drawn.flatMap { one in
                    one.points.map { name, counts in
                        let point = point(counts, said: one.said)
                        return "\(one.name), \(name): \(decimal(point.x, 1)) %, \(decimal(point.y, 1)) per hour."
                    }
                }.joined(separator: " "),
            x: Axis("misses (%)", .log(min(50 / Double(said) * 0.8, 50), 110)),
            y: Axis("false accepts per hour", .log(least * 0.7, max(highest, least * 10) * 1.6)),
            height: isSmall ? 150 : 300,
            widest: isSmall ? 340 : 560,
            least: isSmall ? Markup.smallest : nil,
            left: 52,
            right: 14
        )
        chart.heading = heading
        chart.emptyText = "no false accept at any threshold"
        // Without a false accept the curve would be a flat line that says nothing.
        guard drawn.contains(where: \.hasFalseAccepts) else { return chart }
        for (number, one) in drawn.enumerated() {
            chart.add(
                .line(
                    one.curve.map { point($0, said: one.said) },
                    .series(number),
                    name: series.count > 1 ? one.name : nil
                )
            )
        }
        for (number, one) in drawn.enumerated() {
            for (name, counts) in one.points {
                chart.add(.dot(point(counts, said: one.said), .series(number), label: name))
            }
        }
        return chart
    }
}

extension DetectionTradeoff.Series {
    /// The sum of some words of a setting.
    init(_ words: [SettingReport.Word], of setting: SettingReport, name: String) {
        func sum(_ counts: [SettingReport.Count?]) -> DetectionTradeoff.Counts {
            .init(
                hits: counts.reduce(0) { $0 + ($1?.hits ?? 0) },
                falseAccepts: counts.reduce(0) { $0 + ($1?.falseAccepts ?? 0) }
            )
        }
        self.init(
            name: name,
            said: words.reduce(0) { $0 + $1.figures.said },
            curve: setting.curve.indices.map { index in
                sum(words.map { $0.curve.indices.contains(index) ? $0.curve[index] : nil })
            },
            points: Self.named(
                setting.sensitivities.map { point in
                    (
                        point.sensitivity,
                        sum(words.map { $0.sensitivities.first { $0.sensitivity == point.sensitivity }?.counts })
                    )
                },
                inUse: .init(
                    hits: words.reduce(0) { $0 + $1.figures.hits },
                    falseAccepts: words.reduce(0) { $0 + $1.figures.falseAccepts }
                )
            )
        )
    }

    /// The points of the sensitivities, those that fall together as one, and the one in use if it is none of these.
    private static func named(
        _ points: [(String, DetectionTradeoff.Counts)],
        inUse: DetectionTradeoff.Counts
    ) -> [(name: String, counts: DetectionTradeoff.Counts)] {
        var named: [(name: String, counts: DetectionTradeoff.Counts)] = []
        for (name, counts) in points {
            if let index = named.firstIndex(where: { $0.counts == counts }) {
                named[index].name += ", \(name)"
            } else {
                named.append((name, counts))
            }
        }
        if !named.contains(where: { $0.counts == inUse }) { named.append(("in use", inUse)) }
        return named
    }
}
