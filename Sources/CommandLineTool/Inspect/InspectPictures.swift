import Charts
private import Core
import Inference
private import Inspection
import Spotting

/// The pictures of a report, all on one time axis.
struct InspectPictures {
    let hearing: RecordingTrace
    let vocabulary: Vocabulary
    var model: Model { vocabulary.model }
    let thresholds: Thresholds
    let axis: Scale

    init(hearing: RecordingTrace, vocabulary: Vocabulary, thresholds: Thresholds) {
        self.hearing = hearing
        self.vocabulary = vocabulary
        self.thresholds = thresholds
        axis = .time(hearing.from, max(hearing.hops.last?.time ?? 0, hearing.to))
    }

    func add(to page: inout Page) {
        page.figure(
            "The sound",
            "How far the air pressure swings, as the model gets it: one channel at 16 000 samples a second. Words are the "
                + "bulges; what lies between them is the background. The words that were heard are marked.",
            waveform.svg
        )
        if let features {
            page.figure(
                "What the network gets",
                "The sound as a picture, which is all that the network sees: time runs to the right, pitch upwards, and the "
                    + "brighter a spot, the louder that pitch is at that moment. Vowels are stacks of bright stripes; s, f "
                    + "and t are bright clouds at the top. A dark upper half means that high sounds are missing.",
                features.svg
            )
        }
        page.figure(
            "How sure it is of each class",
            "Each line is one class; the higher it rises, the surer the network is. A word counts when it rises above its "
                + "dashed threshold and stays the best of all. The network always judges the last whole second, so that a "
                + "score rises when a word ends rather than when it begins.",
            scores.svg
        )
        page.figure(
            "What the gate does",
            "The gate makes one event of each word. It fires once, then that word rests until its score has fallen, so that it "
                + "is not counted twice. The highest row shows what it knows of pauses: where there is "
                + (model.activityCount > 0 ? "a voice" : "sound above the background")
                + ". The lowest shows where in time each word was said.",
            gate.svg
        )
    }

    // MARK: - Sound

    private var waveform: Chart {
        let peak = Double(hearing.samples.lazy.map(abs).max() ?? 0)
        let reach = peak > 0.5 ? max(1.05, peak * 1.05) : max(peak * 1.15, 0.001)
        var chart = Chart(
            title: "Sound",
            summary: "Amplitude over time; the largest is \(decimal(peak, 3)) of full scale.",
            x: Axis("", axis),
            y: Axis("amplitude", .linear(-reach, reach)),
            height: 190
        )
        markEnd(&chart, isNamed: true)
        let bins = Self.bins
        let length = max(1, (hearing.samples.count + bins - 1) / bins)
        let slices = stride(from: 0, to: hearing.samples.count, by: length).map { start in
            let bin = hearing.samples[start..<min(start + length, hearing.samples.count)]
            let middle = Double(start) + Double(bin.count) / 2
            return Mark.Slice(
                x: hearing.from + middle / Double(model.sampleRate),
                low: Double(bin.min() ?? 0),
                high: Double(bin.max() ?? 0)
            )
        }
        chart.add(.area(slices, .series(0)))
        // Strokes too, so that a single sample a bin is seen.
        chart.add(.line(slices.map { Point($0.x, $0.high) }, .series(0)))
        chart.add(.line(slices.map { Point($0.x, $0.low) }, .series(0)))
        markWords(&chart)
        markClipping(&chart)
        return chart
    }

    private func markClipping(_ chart: inout Chart) {
        let width = (axis.upper - axis.lower) / 450
        var end = -Double.infinity
        var isNamed = false
        let worst = hearing.statistics.max { $0.clippedCount < $1.clippedCount }
        for time in worst?.clippedTimes ?? [] where hearing.from + time >= end {
            let start = hearing.from + time
            end = start + width
            chart.add(.band(x: start...end, .alarm, name: isNamed ? nil : "clipped", opacity: 0.55))
            isNamed = true
        }
    }

    // MARK: - Features

    /// Nil where the model's front end makes no picture.
    private var features: Chart? {
        let layout = model.features
        let bands = layout.bandHertz.count
        guard bands > 0, hearing.columns.count >= bands else { return nil }
        let count = hearing.columns.count / bands
        var values = [Float](repeating: 0, count: count * bands)
        for column in 0..<count {
            for band in 0..<bands {
                values[(bands - 1 - band) * count + column] = hearing.columns[column * bands + band]
            }
        }
        // The first kept hop ends a hop after `from`, and its newest columns reach back from there.
        let newest = max(1, model.hopSamples / layout.hopSamples)
        let first = (layout.columns - newest) * layout.hopSamples + layout.frameSamples / 2 - layout.hopSamples / 2
        let rate = Double(model.sampleRate)
        let start = hearing.from + Double(model.hopSamples - model.windowSamples + first) / rate
        let ticks = [125.0, 250, 500, 1000, 2000, 4000].compactMap { hertz in
            place(of: hertz, in: layout.bandHertz).map { place in
                Tick(place, hertz < 1000 ? "\(Int(hertz)) Hz" : "\(Int(hertz / 1000)) kHz")
            }
        }
        var chart = Chart(
            title: "Features",
            summary: "The front end's \(bands) bands over time, as the network gets them.",
            x: Axis("", axis),
            y: Axis("pitch", .linear(0, Double(bands)), ticks: ticks),
            height: 240
        )
        let raster = Raster(width: count, height: bands, values: values, low: -2.5, high: 2.5)
        chart.add(
            .image(raster, x: start...start + Double(count * layout.hopSamples) / rate, y: 0...Double(bands))
        )
        return chart
    }

    /// Where a frequency lies among the bands, counted in bands from the bottom; nil outside of them.
    private func place(of hertz: Double, in bands: [Double]) -> Double? {
        guard let above = bands.firstIndex(where: { $0 >= hertz }), above > 0 else { return nil }
        let part = (hertz - bands[above - 1]) / (bands[above] - bands[above - 1])
        return Double(above - 1) + part + 0.5
    }

    // MARK: - Common to several

    /// Stretches of time that the width of a picture can tell apart.
    static let bins = 900

    var words: [Event] { hearing.events.filter { $0.kind == .word } }

    private func markWords(_ chart: inout Chart) {
        for event in words {
            chart.add(.band(x: event.start...max(event.start, event.end), .series(1), label: event.name, opacity: 0.18))
        }
    }

    /// After the file's end the gate decides about what was said last.
    func markEnd(_ chart: inout Chart, isNamed: Bool = false) {
        guard axis.upper > hearing.to + 0.01 else { return }
        chart.add(.band(x: hearing.to...axis.upper, .faint, label: isNamed ? "after the end" : nil, opacity: 0.12))
    }
}
