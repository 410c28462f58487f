import Charts
private import Core
import Phonemes
import Spotting

/// For each word that is found or confirmed by its sounds, the moment of a recording that is nearest to it: which of its sounds were heard
/// there, and what was heard instead.
struct InspectSounds {
    /// The nearest moment to a word.
    struct Moment {
        let word: WordSounds
        /// Where what was heard begins, in seconds from the file's start.
        let start: Double
        let heard: HeardSounds
        let path: PhonemePath
    }

    /// Seconds of a frame, and from one look to the next.
    private static let (frame, step) = (Double(PhonemeNetwork.frameSamples) / 16000, 0.5)
    /// What is darkest in the picture, in nats, and the score below which nothing is shown.
    private static let (darkest, farthest): (Float, Float) = (-8, -5)
    /// What a sound loses, in nats, before it counts as not heard.
    private static let unheard: Float = -1

    let moments: [Moment]
    private let symbols: [String]
    private let trace: RecordingTrace

    init(_ trace: RecordingTrace) {
        self.trace = trace
        symbols = trace.vocabulary.hearing?.network.symbols ?? []
        moments = Self.moments(trace)
    }

    private static func moments(_ trace: RecordingTrace) -> [Moment] {
        guard let hearing = trace.vocabulary.hearing else { return [] }
        let (samples, rate) = (trace.samples, 16000.0)
        let length = Int(SoundHearing.seconds * rate)
        var nearest = [Moment?](repeating: nil, count: trace.vocabulary.spoken.count)
        for first in stride(from: 0, through: max(0, samples.count - length / 2), by: Int(step * rate)) {
            guard let heard = hearing.heard(samples[first..<min(first + length, samples.count)]) else { continue }
            let start = trace.from + Double(first) / rate
            for (index, word) in trace.vocabulary.spoken.enumerated() {
                for way in word.pronunciations {
                    guard let path = PhonemePath(way, in: heard, word.costs),
                        path.score > nearest[index]?.path.score ?? -.infinity
                    else { continue }
                    nearest[index] = Moment(word: word, start: start, heard: heard, path: path)
                }
            }
        }
        return nearest.compactMap { $0 }
    }

    /// Nothing where no word is found or confirmed by its sounds.
    func add(to page: inout Page) {
        for (number, moment) in moments.enumerated() {
            let isNear = moment.path.score >= Self.farthest
            let pictures = isNear ? [chart(moment).markup] : []
            page.figure("Sounds of “\(moment.word.name)”", text(moment, isFirst: number == 0), pictures)
            if isNear { page.add(PageTable(Self.titles, numeric: [1, 2], rows: rows(moment))) }
        }
    }

    private func text(_ moment: Moment, isFirst: Bool) -> String {
        let (score, least) = (moment.path.score, moment.word.least)
        guard score >= Self.farthest else { return "Nothing in the recording sounds like it." }
        let place = positionText(moment.start + time(moment.path.steps.first?.frames.lowerBound ?? 0))
        return
            "Nearest at \(place): it loses \(decimal(Double(-score), 1)) nats a sound, and may lose \(decimal(Double(-least), 1))"
            + (score >= least ? "." : ": too much.")
            + (isFirst
                ? " A row for each sound of the word, brighter where the network heard it; the line is the best way "
                    + "through them. The top row is what the network heard." : "")
    }

    private static let titles = ["Sound", "At (s)", "Loses (nats)", "Heard instead"]

    /// A row for each sound of the word: where it is, what it loses, and what was heard in its place.
    func rows(_ moment: Moment) -> [[String]] {
        moment.path.steps.map { step in
            let others = moment.heard.runs.filter { run in
                run.symbol != step.sound && run.frames.overlaps(step.frames) && isSound(run.symbol)
            }
            let instead = step.loss > Self.unheard ? "" : others.map { name($0.symbol) }.joined(separator: " ")
            return [
                name(step.sound), decimal(moment.start + time(step.frames.lowerBound), 2),
                decimal(Double(-step.loss), 1), instead.isEmpty ? "–" : instead,
            ]
        }
    }

    private func chart(_ moment: Moment) -> Chart {
        let (steps, heard) = (moment.path.steps, moment.heard)
        let rows = steps.count
        func height(_ row: Int) -> Double { Double(rows - row) - 0.5 }
        let end = moment.start + time(heard.frames)
        var chart = Chart(
            title: "Sounds of \(moment.word.name)",
            summary: "What each of \(rows) sounds loses over two seconds, and the best path.",
            x: Axis("time (s)", .linear(moment.start, end)),
            y: Axis(
                "sound",
                .linear(0, Double(rows + 1)),
                ticks: [Tick(height(-1), "heard")] + steps.indices.map { Tick(height($0), name(steps[$0].sound)) }
            ),
            height: Double(24 * (rows + 1))
        )
        chart.time = moment.start...end
        let losses = steps.flatMap { step in (0..<heard.frames).map { heard.loss($0, step.sound) } }
        let raster = Raster(width: heard.frames, height: rows, values: losses, low: Self.darkest, high: 0)
        chart.add(.image(raster, x: moment.start...end, y: 0...Double(rows)))
        for (index, run) in heard.runs.enumerated() where isSound(run.symbol) {
            // A sound lasts until the next one; the network says only where it begins.
            let next = index + 1 < heard.runs.count ? heard.runs[index + 1].frames.lowerBound : heard.frames
            let until = max(run.frames.upperBound, min(next, run.frames.upperBound + 6))
            chart.add(
                .band(
                    x: moment.start + time(run.frames.lowerBound)...moment.start + time(until),
                    y: Double(rows)...Double(rows + 1),
                    .series(1),
                    label: name(run.symbol),
                    opacity: 0.25
                )
            )
        }
        let path = steps.enumerated().flatMap { row, step in
            [step.frames.lowerBound, step.frames.upperBound].map { Point(moment.start + time($0), height(row)) }
        }
        chart.add(.line(path, .alarm, name: "best path"))
        return chart
    }

    private func time(_ frame: Int) -> Double { Double(frame) * Self.frame }

    private func name(_ symbol: Int) -> String { symbols.indices.contains(symbol) ? symbols[symbol] : "?" }

    /// Not the boundary between words.
    private func isSound(_ symbol: Int) -> Bool { !name(symbol).hasPrefix("<") }
}
