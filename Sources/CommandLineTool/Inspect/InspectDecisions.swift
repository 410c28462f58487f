import Charts
private import Core
import Inference
import Spotting

/// The pictures of what the network and the gate made of the sound.
extension InspectPictures {
    // MARK: - Scores

    var scores: Chart {
        let count = vocabulary.labels.count
        let ticks = vocabulary.labels.enumerated().map { Tick(Double(count - 1 - $0), $1) }
        var chart = Chart(
            title: "Scores",
            summary: "Smoothed score of each of \(count) classes over time, with the words' thresholds.",
            x: Axis("", axis),
            y: Axis("", .linear(-0.15, Double(count) - 0.2), ticks: ticks),
            height: 60 + 32 * Double(count)
        )
        markEnd(&chart)
        for (label, threshold) in thresholds.values.enumerated() where label < count {
            let base = Double(count - 1 - label)
            let slices = scorePoints(of: label).map { Mark.Slice(x: $0.x, low: base, high: base + Self.tall * $0.y) }
            let colour: Colour = threshold == nil ? .faint : .series(label % 6)
            chart.add(.area(slices, colour, opacity: 0.35))
            chart.add(.line(slices.map { Point($0.x, $0.high) }, threshold == nil ? .faint : .series(label % 6)))
            guard let threshold else { continue }
            let height = base + Self.tall * Double(threshold)
            chart.add(.line([Point(axis.lower, height), Point(axis.upper, height)], .faint, dashed: true))
        }
        for (index, event) in words.enumerated() {
            guard let label = vocabulary.labels.firstIndex(of: event.name) else { continue }
            let base = Double(count - 1 - label)
            let tip = Point(event.time, base + Self.tall * Double(event.confidence))
            let name = index == 0 ? "word fires" : nil
            chart.add(.line([Point(event.time, base), tip], .alarm, name: name, markers: true))
        }
        return chart
    }

    /// A label's scores over time; of hops too close together to be told apart, the highest.
    private func scorePoints(of label: Int) -> [Point] {
        let step = (hearing.hops.count + Self.bins - 1) / Self.bins
        return stride(from: 0, to: hearing.hops.count, by: max(1, step)).map { start in
            let bin = hearing.hops[start..<min(start + step, hearing.hops.count)]
            let highest = bin.max { $0.scores[label] < $1.scores[label] } ?? hearing.hops[start]
            return Point(highest.time, Double(highest.scores[label]))
        }
    }

    /// Part of a row that a score of 1 fills.
    private static let tall = 0.7

    // MARK: - Gate

    var gate: Chart {
        var chart = Chart(
            title: "Gate",
            summary: "When there is \(soundName), when the gate hears speech, when a word fires and rests, and where "
                + "words were said.",
            x: Axis("time in seconds", axis),
            y: Axis(
                "",
                .linear(0, 4),
                ticks: [Tick(3.5, soundName), Tick(2.5, "hears"), Tick(1.5, "gate"), Tick(0.5, "words")]
            ),
            height: 205
        )
        markEnd(&chart)
        chart.add(.area(soundSlices, .series(1), opacity: 0.6))
        let hears = runs { $0.inSpeech ? 1 : nil }
        for (index, run) in hears.enumerated() {
            chart.add(
                .band(
                    x: run.x,
                    y: 2.15...2.85,
                    .series(2),
                    name: index == 0 ? "speech (else quiet)" : nil,
                    opacity: 0.6
                )
            )
        }
        for (index, run) in runs({ $0.fired == nil ? $0.refractory.first : nil }).enumerated() {
            let label = "\(vocabulary.labels[run.value]) rests"
            chart.add(
                .band(
                    x: run.x,
                    y: 1.15...1.85,
                    .series(4),
                    name: index == 0 ? "rests (refractory)" : nil,
                    label: label,
                    opacity: 0.3
                )
            )
        }
        for (index, run) in runs({ $0.fired }).enumerated() {
            chart.add(
                .band(
                    x: run.x,
                    y: 1.15...1.85,
                    .alarm,
                    name: index == 0 ? "word fires" : nil,
                    label: vocabulary.labels[run.value],
                    opacity: 0.9
                )
            )
        }
        for event in words {
            let label = "\(event.name) \(percent(event.confidence))"
            chart.add(
                .band(
                    x: event.start...max(event.start, event.end),
                    y: 0.15...0.85,
                    .series(0),
                    label: label,
                    opacity: 0.35
                )
            )
        }
        return chart
    }

    /// What the model's steps tell of.
    private var soundName: String { model.activityCount > 0 ? "voice" : "sound" }

    /// The strip of the steps that were sound; of those too close together to be told apart, the share.
    private var soundSlices: [Mark.Slice] {
        guard let last = hearing.hops.last else { return [] }
        let steps = hearing.hops.flatMap(\.sounds)
        let length = HopScorer.hopSeconds(of: model) * Double(hearing.hops.count) / Double(max(1, steps.count))
        let start = last.time - length * Double(steps.count)
        let run = max(1, (steps.count + Self.bins - 1) / Self.bins)
        return stride(from: 0, to: steps.count, by: run).flatMap { first in
            let bin = steps[first..<min(first + run, steps.count)]
            let high = 3.15 + Self.tall * Double(bin.count { $0 }) / Double(bin.count)
            return [bin.startIndex, bin.endIndex].map {
                Mark.Slice(x: start + length * Double($0), low: 3.15, high: high)
            }
        }
    }

    /// Stretches of hops with the same value; a hop reaches back to the one before.
    private func runs(_ value: (RecordingTrace.Hop) -> Int?) -> [(x: ClosedRange<Double>, value: Int)] {
        let length = HopScorer.hopSeconds(of: model)
        var runs: [(x: ClosedRange<Double>, value: Int)] = []
        var isOpen = false
        for hop in hearing.hops {
            guard let now = value(hop) else {
                isOpen = false
                continue
            }
            if isOpen, let last = runs.last, last.value == now {
                runs[runs.count - 1].x = last.x.lowerBound...hop.time
            } else {
                runs.append((hop.time - length...hop.time, now))
            }
            isOpen = true
        }
        return runs
    }
}
