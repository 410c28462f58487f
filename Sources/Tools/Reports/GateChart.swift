import Charts
private import Core
private import Inference
private import Spotting

/// The chart of the gate: when there is sound, when it fires and rests, and when words were said.
struct GateChart {
    private let trace: RecordingTrace
    private let time: RecordingTime
    private var labels: [String] { trace.vocabulary.labels }
    private var model: Model { trace.vocabulary.model }

    /// Height of full activity, as a fraction of its row.
    private static let tall = 0.7

    init(_ trace: RecordingTrace, _ time: RecordingTime) {
        self.trace = trace
        self.time = time
    }

    var chart: Chart {
        var chart = time.chart(
            title: "Gate",
            summary: "When there is \(soundName), when the gate detects speech, when a word fires and rests, and when "
                + "words were said.",
            y: Axis(
                "",
                .linear(0, 4),
                ticks: [Tick(3.5, soundName), Tick(2.5, "speech"), Tick(1.5, "gate"), Tick(0.5, "words")]
            ),
            height: 150
        )
        time.markEnd(&chart)
        chart.add(.area(soundSlices, .series(1), opacity: 0.6))
        for run in runs({ $0.inSpeech ? 1 : nil }) {
            chart.add(.band(x: run.x, y: 2.15...2.85, .series(2), name: "speech (else quiet)", opacity: 0.6))
        }
        for run in runs({ $0.fired == nil ? $0.refractory.first : nil }) {
            let label = "\(labels[run.value]) rests"
            chart.add(
                .band(
                    x: run.x,
                    y: 1.15...1.85,
                    .series(4),
                    name: "rests (refractory)",
                    label: label,
                    opacity: 0.3
                )
            )
        }
        for hop in trace.hops {
            guard let refusal = hop.refusal else { continue }
            let word = labels[refusal.label]
            chart.add(
                .band(
                    x: hop.time - HopScorer.hopSeconds(of: model)...hop.time,
                    y: 1.15...1.85,
                    .series(3),
                    name: "proposed, not confirmed",
                    tooltip: "\(positionText(hop.time)): “\(word)” \(percent(refusal.confidence)) after a second look "
                        + "(confirmed \(percent(refusal.confirmed)))",
                    opacity: 0.6
                )
            )
        }
        for run in runs({ $0.fired }) {
            chart.add(
                .band(
                    x: run.x,
                    y: 1.15...1.85,
                    .alarm,
                    name: "word fires",
                    label: labels[run.value],
                    opacity: 0.9
                )
            )
        }
        for event in trace.words {
            let label = "\(event.name) \(percent(event.confidence))"
            chart.add(
                .band(
                    x: event.start...max(event.start, event.end),
                    y: 0.15...0.85,
                    .series(0),
                    label: label,
                    tooltip: event.parts.map { "\(label): \($0)" },
                    opacity: 0.35
                )
            )
        }
        return chart
    }

    /// What the activity steps detect: a voice with an activity layer, else any sound.
    private var soundName: String { model.activityCount > 0 ? "voice" : "sound" }

    /// Fraction of active steps over time; one point covers one or more steps.
    private var soundSlices: [Mark.Slice] {
        let (steps, length, start) = trace.activity
        let run = max(1, (steps.count + RecordingTime.bins - 1) / RecordingTime.bins)
        return stride(from: 0, to: steps.count, by: run).flatMap { first in
            let bin = steps[first..<min(first + run, steps.count)]
            let high = 3.15 + Self.tall * Double(bin.count { $0 }) / Double(bin.count)
            return [bin.startIndex, bin.endIndex].map {
                Mark.Slice(x: start + length * Double($0), low: 3.15, high: high)
            }
        }
    }

    /// Runs of consecutive hops with the same value, in seconds; a hop begins where the last one ends. Nil ends a run.
    private func runs(_ value: (RecordingTrace.Hop) -> Int?) -> [(x: ClosedRange<Double>, value: Int)] {
        let length = HopScorer.hopSeconds(of: model)
        var runs: [(x: ClosedRange<Double>, value: Int)] = []
        var isOpen = false
        for hop in trace.hops {
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
