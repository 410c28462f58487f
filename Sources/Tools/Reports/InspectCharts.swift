import Charts
private import Core
private import Diagnostics
private import Inference
private import Spotting

/// The charts of a report on one recording, all on one time axis.
struct InspectCharts: Sendable {
    private let trace: RecordingTrace
    private let bursts: [Burst]
    private let said: [InspectPage.Said]
    private let time: RecordingTime
    private var labels: [String] { trace.vocabulary.labels }
    private var model: Model { trace.vocabulary.model }

    /// - Parameters:
    ///   - bursts: what the page explains.
    ///   - said: words that are known to be said.
    init(_ trace: RecordingTrace, bursts: [Burst], said: [InspectPage.Said]) {
        self.trace = trace
        self.bursts = bursts
        self.said = said
        time = RecordingTime(trace)
    }

    func add(to page: inout Page) {
        page.figure(
            "Waveform",
            "The sound that the model gets: one channel at 16 000 samples per second. The loud parts are words, the rest "
                + "is the background. Detected words are marked"
                + (said.isEmpty ? "" : ", and what the label track says") + ".",
            [waveform.markup]
        )
        if let features {
            page.figure(
                "Features",
                "The network's only input, the log-mel features: time runs to the right, frequency upwards, and brighter "
                    + "means louder. Vowels are stacks of bright stripes; s, f and t are bright clouds at the top. A dark "
                    + "upper half means that high frequencies are missing.",
                [features.markup]
            )
        }
        page.figure(
            "Score of each class",
            "A score of 1 means that the network is certain. A word counts when its score rises above the dashed line, its "
                + "threshold, whose value stands at the right, and stays the highest of all. The network always scores the last "
                + "second, so a score rises when the word ends, not when it begins.",
            scores
        )
        page.figure(
            "Gate",
            "The gate makes one event of each word. After it fires, that word rests (is refractory) until its score has "
                + "fallen, so that it is not counted twice. The top row shows where there is "
                + (model.activityCount > 0 ? "a voice" : "sound above the background")
                + "; the gate finds pauses by it. The bottom row shows when each word was said.",
            [GateChart(trace, time).chart.markup]
        )
    }

    // MARK: - Sound

    private var waveform: Chart {
        let peak = Double(trace.samples.lazy.map(abs).max() ?? 0)
        let reach = peak > 0.5 ? max(1.05, peak * 1.05) : max(peak * 1.15, 0.001)
        var chart = time.chart(
            title: "Sound",
            summary: "Amplitude over time; the largest is \(decimal(peak, 3)) of full scale.",
            y: Axis("amplitude (full scale: 1)", .linear(-reach, reach)),
            height: 180
        )
        chart.labelRows = 3
        time.markEnd(&chart, isNamed: true)
        let bins = RecordingTime.bins
        let length = max(1, (trace.samples.count + bins - 1) / bins)
        let slices = stride(from: 0, to: trace.samples.count, by: length).map { start in
            let bin = trace.samples[start..<min(start + length, trace.samples.count)]
            let middle = Double(start) + Double(bin.count) / 2
            return Mark.Slice(
                x: trace.from + middle / Double(model.sampleRate),
                low: Double(bin.min() ?? 0),
                high: Double(bin.max() ?? 0)
            )
        }
        chart.add(.area(slices, .series(0)))
        // Lines too, because the area of a single sample per bin would be invisible.
        chart.add(.line(slices.map { Point($0.x, $0.high) }, .series(0)))
        chart.add(.line(slices.map { Point($0.x, $0.low) }, .series(0)))
        markWords(&chart)
        markClipping(&chart)
        return chart
    }

    private func markClipping(_ chart: inout Chart) {
        let width = (time.scale.upper - time.scale.lower) / 450
        var end = -Double.infinity
        let worst = trace.statistics.max { $0.clippedCount < $1.clippedCount }
        for time in worst?.clippedTimes ?? [] where trace.from + time >= end {
            let start = trace.from + time
            end = start + width
            chart.add(.band(x: start...end, .alarm, name: "clipped", opacity: 0.55))
        }
    }

    // MARK: - Features

    /// Nil where the model's front end has no bands.
    private var features: Chart? {
        let layout = model.frontEnd
        let bands = layout.bandHertz.count
        guard bands > 0, trace.columns.count >= bands else { return nil }
        let count = trace.columns.count / bands
        var values = [Float](repeating: 0, count: count * bands)
        for column in 0..<count {
            for band in 0..<bands {
                values[(bands - 1 - band) * count + column] = trace.columns[column * bands + band]
            }
        }
        // The first hop ends one hop after `from`; its newest columns lie before that.
        let newest = max(1, model.hopSamples / layout.hopSamples)
        let first = (layout.columns - newest) * layout.hopSamples + layout.frameSamples / 2 - layout.hopSamples / 2
        let rate = Double(model.sampleRate)
        let start = trace.from + Double(model.hopSamples - model.windowSamples + first) / rate
        let ticks = [125.0, 250, 500, 1000, 2000, 4000].compactMap { hertz in
            place(of: hertz, in: layout.bandHertz).map { place in
                Tick(place, "\(Int(hertz))")
            }
        }
        var chart = time.chart(
            title: "Features",
            summary: "The features of \(bands) frequency bands over time.",
            y: Axis("frequency (Hz)", .linear(0, Double(bands)), ticks: ticks),
            height: 200
        )
        let raster = Raster(width: count, height: bands, values: values, low: -2.5, high: 2.5)
        chart.add(
            .image(raster, x: start...start + Double(count * layout.hopSamples) / rate, y: 0...Double(bands))
        )
        return chart
    }

    /// Position of a frequency on the axis of bands, from the bottom; nil outside of it.
    private func place(of hertz: Double, in bands: [Double]) -> Double? {
        guard let above = bands.firstIndex(where: { $0 >= hertz }), above > 0 else { return nil }
        let part = (hertz - bands[above - 1]) / (bands[above] - bands[above - 1])
        return Double(above - 1) + part + 0.5
    }

    // MARK: - Shared by several charts

    private func markWords(_ chart: inout Chart) {
        for event in trace.words {
            chart.add(
                .band(
                    x: event.start...max(event.start, event.end),
                    .series(1),
                    name: "detected word",
                    label: event.name,
                    tooltip: "\(positionText(event.start)): “\(event.name)” \(percent(event.confidence))"
                        + (event.parts.map { " (\($0))" } ?? ""),
                    opacity: 0.3
                )
            )
        }
        for word in said {
            chart.add(
                .band(
                    x: word.start...max(word.start, word.end),
                    .series(2),
                    name: "said, by the label track",
                    label: "said: \(word.word)",
                    opacity: 0.25
                )
            )
        }
        for burst in bursts where burst.words.isEmpty {
            chart.add(
                .band(
                    x: burst.start...burst.end,
                    .faint,
                    name: "other sound",
                    label: burst.label,
                    tooltip: "\(positionText(burst.start)): \(burst.text)",
                    opacity: 0.15
                )
            )
        }
    }

    // MARK: - Scores

    /// A row for each class, those that stay quiet folded.
    private var scores: [Markup] {
        let fired = Set(trace.words.map(\.name))
        let loud = labels.indices.filter { label in
            Labels.isSpecial(labels[label]) || fired.contains(labels[label])
                || trace.hops.contains { $0.scores[label] >= Self.quiet }
        }
        let silent = labels.indices.filter { !loud.contains($0) }
        guard silent.count > 1 else { return rows(Array(labels.indices)) }
        let names = silent.map { labels[$0] }.joined(separator: ", ")
        return rows(loud) + [
            .fold("\(counted(silent.count, "word")) stayed below \(percent(Self.quiet)): \(names)", rows(silent))
        ]
    }

    /// A class whose scores all stay below this is folded away.
    private static let quiet: Float = 0.1

    private func rows(_ labels: [Int]) -> [Markup] {
        labels.enumerated().map { number, label in
            row(label, isNamed: number == 0, isLast: number == labels.count - 1).markup
        }
    }

    private func row(_ label: Int, isNamed: Bool, isLast: Bool) -> Chart {
        let name = Labels.spoken(labels[label])
        let threshold = trace.settings.detector.thresholds.values[label]
        let points = scorePoints(of: label)
        let highest = points.map(\.y).max() ?? 0
        var chart = Chart(
            title: "Score of \(name)",
            summary: "Highest \(decimal(highest * 100, 0)) %"
                + (threshold.map { ", threshold \(decimal(Double($0) * 100, 1)) %." } ?? "."),
            x: isLast ? time.axis : Axis("", time.scale),
            y: Axis("", .linear(0, 1), ticks: [Tick(0, "0"), Tick(1, "1")]),
            height: 38
        )
        chart.time = time.scale.lower...time.scale.upper
        chart.heading = name
        chart.isStacked = !isLast
        time.markEnd(&chart)
        let colour: Colour = threshold == nil ? .faint : .series(0)
        chart.add(.area(points.map { Mark.Slice(x: $0.x, low: 0, high: $0.y) }, colour, opacity: 0.35))
        chart.add(.line(points, colour))
        if let threshold {
            chart.add(.rule(y: Double(threshold), .ink, name: isNamed ? "threshold" : nil))
            chart.rightTicks = [Tick(Double(threshold), short(threshold))]
            if proposals.indices.contains(label), let level = proposals[label], level < threshold {
                chart.add(
                    .rule(y: Double(level), .faint, name: isNamed ? "proposed from here on" : nil)
                )
            }
        }
        for event in trace.words where event.name == labels[label] {
            let tip = Point(event.time, Double(event.confidence))
            chart.add(.line([Point(event.time, 0), tip], .alarm, name: "fires", markers: true))
        }
        return chart
    }

    /// The least score of each label with which it is proposed to confirming networks; empty for a model without them.
    private var proposals: [Float?] { trace.vocabulary.proposals(mode: trace.settings.detector.gate.mode) }

    /// A threshold with up to four decimals, as it was chosen.
    private func short(_ threshold: Float) -> String {
        let text = decimal(Double(threshold), 4)
        return String(text.prefix(max(4, text.count - text.reversed().prefix { $0 == "0" }.count)))
    }

    /// A label's scores over time; where one point covers several hops, the highest of them.
    private func scorePoints(of label: Int) -> [Point] {
        let step = (trace.hops.count + RecordingTime.bins - 1) / RecordingTime.bins
        return stride(from: 0, to: trace.hops.count, by: max(1, step)).map { start in
            let bin = trace.hops[start..<min(start + step, trace.hops.count)]
            let highest = bin.max { $0.scores[label] < $1.scores[label] } ?? trace.hops[start]
            return Point(highest.time, Double(highest.scores[label]))
        }
    }
}
