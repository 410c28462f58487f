private import Audio
import Charts
private import Core
private import Diagnostics
private import Inference
private import Spotting

/// The report of `beckon inspect` as a page: a summary in words, charts on one time axis, tables.
public struct InspectPage: Sendable {
    /// A word that is known to be said, from a label track. Times are in seconds from the file's start.
    public struct Said: Sendable {
        public let word: String
        public let start: Double
        public let end: Double

        public init(word: String, start: Double, end: Double) {
            self.word = word
            self.start = start
            self.end = end
        }
    }

    private let report: InspectReport
    private var trace: RecordingTrace { report.trace }
    /// Lines at the page's top.
    public var remarks: [String] = []
    /// Words that are known to be said.
    public var said: [Said] = []
    /// The page that leads to this one: what it is called, and its address.
    public var back: (name: String, address: String)?
    /// Embeds the sound, with a player.
    public var hasSound = false

    public init(_ report: InspectReport) { self.report = report }

    /// HTML source of the page.
    ///
    /// - Throws: `AudioError` where the sound cannot be embedded.
    public func html() throws -> String {
        let file = FileName.shown(trace.file)
        let name = file.split(separator: "/").last.map(String.init) ?? file
        var page = Page(title: "What the model sees: \(name)")
        if let back {
            page.add(.element("p", [:], [.element("a", ["href": back.address], [.text("← \(back.name)")])]))
        }
        for remark in remarks { page.paragraph(remark) }
        page.add(.element("p", ["class": "lead"], [.text(summary)]))
        if let note = report.note { page.paragraph(note.prefix(1).uppercased() + note.dropFirst() + ".") }
        if !report.findings.isEmpty { page.add(findings) }
        InspectCharts(trace, bursts: report.bursts, said: said).add(to: &page)
        InspectSounds(trace).add(to: &page)
        addBursts(to: &page)
        page.heading("Words detected")
        if trace.words.isEmpty {
            page.paragraph("None.")
        } else {
            page.add(words)
        }
        if let clip = report.clip { add(clip, to: &page) }
        page.heading("The recording")
        if report.findings.isEmpty { page.add(findings) }
        page.add(PageTable(["Measure", "Value", "What it means"], rows: measures))
        let gate = trace.settings.detector.gate
        page.paragraph(
            "Model \(trace.vocabulary.model.name)\(confirmation), mode \(gate.mode.rawValue), trigger \(gate.trigger.rawValue). "
                + "Made by beckon \(version)."
        )
        if hasSound, !trace.samples.isEmpty {
            let rate = trace.vocabulary.model.sampleRate
            let sound = try WaveWriter.bytes(trace.samples, sampleRate: rate)
            page.player = Player(sound: sound, type: "audio/wav", start: trace.from)
        }
        return page.html
    }

    /// The words that were detected; where networks confirmed some, with both parts of their confidence.
    private var words: PageTable {
        let parts = trace.words.contains { $0.confirmed != nil } ? ["Proposed", "Confirmed"] : []
        let titles = ["Word", "Confidence"] + parts + ["Start (s)", "End (s)", "Decided (s)"]
        return PageTable(
            titles,
            numeric: Set(1..<titles.count),
            rows: trace.words.map { event in
                [event.name, percent(event.confidence)]
                    + (parts.isEmpty ? [] : [event.proposed, event.confirmed].map { $0.map { percent($0) } ?? "–" })
                    + [event.start, event.end, event.time].map { decimal($0, 2) }
            }
        )
    }

    /// One line for each stretch of sound: when, how long, and what it was.
    private func addBursts(to page: inout Page) {
        page.heading("What each sound was")
        guard !report.bursts.isEmpty else {
            page.paragraph("There is no sound in the recording that stands out from its background.")
            return
        }
        page.add(
            PageTable(
                ["From", "Length (s)", "What it was"],
                numeric: [1],
                rows: report.bursts.map { burst in
                    [
                        .time(Self.time(burst.start), seconds: burst.start),
                        PageTable.Cell(decimal(burst.end - burst.start, 1)), PageTable.Cell(burst.text),
                    ]
                }
            )
        )
    }

    /// A time as in the axes: seconds below a minute, then a clock time.
    private static func time(_ seconds: Double) -> String {
        seconds < 60 ? decimal(seconds, 1) + " s" : String(positionText(seconds).dropLast())
    }

    // MARK: - Summary

    /// The words that were detected, or the nearest candidate, in one or two sentences.
    private var summary: String {
        if !trace.words.isEmpty {
            let words = trace.words.prefix(12).map { event in
                "“\(event.name)” at \(decimal(event.start, 1))\u{A0}s (\(percent(event.confidence)))"
            }
            let more = trace.words.count > 12 ? " and \(trace.words.count - 12) more" : ""
            return "Heard: " + words.joined(separator: ", ") + more + "."
        }
        let thresholds = report.thresholds
        let looks = trace.hops.compactMap { hop in hop.refusal.map { (verdict: $0, time: hop.time) } }
        if let look = looks.max(by: { $0.verdict.confidence < $1.verdict.confidence }) {
            let word = trace.vocabulary.labels[look.verdict.label]
            return
                "No word was detected. The nearest was “\(word)”, which had \(percent(look.verdict.confidence)) after a "
                + "second look at \(decimal(look.time, 1)) s"
                + (thresholds[word].map { "; to count it needs \(percent($0))." } ?? ".")
        }
        var nearest: (word: String, score: Float, time: Double, needed: Float)?
        for hop in trace.hops {
            for (label, score) in zip(trace.vocabulary.labels, hop.scores) where score > (nearest?.score ?? 0) {
                guard let needed = thresholds[label] else { continue }
                nearest = (label, score, hop.time, needed)
            }
        }
        guard let nearest, nearest.score >= 0.05 else {
            return "No word was detected, and nothing in the recording came close to one."
        }
        return "No word was detected. The nearest was “\(nearest.word)”, which reached \(percent(nearest.score)) "
            + "at \(decimal(nearest.time, 1)) s; to count it needs \(percent(nearest.needed))"
            + (nearest.score >= nearest.needed ? " for long enough, under the conditions of the mode." : ".")
    }

    /// Whether networks confirm the model's words; empty for a model that has none.
    private var confirmation: String {
        switch trace.vocabulary.model.confirmationState {
        case .on: " with its confirming networks"
        case .off: " without its confirming networks"
        case .missing: ""
        }
    }

    private var findings: Markup {
        func item(_ kind: String, _ title: String, _ text: String) -> Markup {
            .element(
                "li",
                ["class": kind],
                [
                    .element("strong", [:], [.text(title)]), .element("br"), .text(text),
                ]
            )
        }
        let items = report.findings.map { finding in
            item(finding.isSerious ? "serious" : "mild", finding.title, finding.meaning + " " + finding.remedy)
        }
        let good = item("good", "Nothing wrong was found", "Level, noise and bandwidth are as they should be.")
        return .element("ul", ["class": "findings"], items.isEmpty ? [good] : items)
    }

    private var measures: [[String]] {
        let signal = report.signal
        let channels = counted(trace.channels, "channel")
        let heard = trace.usedChannels.map(String.init).joined(separator: " and ")
        let isPart = trace.usedChannels.count < trace.channels
        let mix = isPart ? ", only number \(heard) used" : trace.channels > 1 ? ", mixed" : ""
        return [
            ["File", "\(trace.format), \(trace.sampleRate) Hz, \(channels)\(mix)", "How it was recorded."],
            [
                "Length", decimal(trace.to - trace.from, 2) + " s",
                trace.from > 0
                    ? "From \(positionText(trace.from)) to \(positionText(trace.to))."
                    : trace.isCut ? "The beginning of the file." : "All of the file.",
            ],
            ["Peak", levelText(signal.peak), "The largest sample; 0 dBFS is full scale."],
            [
                "Loudest part", levelText(signal.levels.loudest),
                "The loudest 0.4 s; for speech −30 to −15 dBFS is usual.",
            ],
            [
                "Background", levelText(signal.levels.floor),
                "The level is lower for a tenth of the time; the further below the words, the better.",
            ],
            ["Overall (RMS)", levelText(signal.levels.overall), "The mean level of the part shown."],
            [
                "Clipped", signal.clippedShare > 0 ? shareText(signal.clippedShare, places: 3) : "none",
                "Samples cut off at full scale; none is best.",
            ],
            ["DC offset", decimal(signal.offset, 4), "The mean of the samples, with full scale at 1; best is 0."],
            [
                "Sound up to", signal.highestHertz.map { decimal($0 / 1000, 1) + " kHz" } ?? "no sound",
                "The model uses sound up to 8 kHz; the consonants that distinguish words lie above 2 kHz.",
            ],
        ]
    }

    private func add(_ clip: InspectReport.Clip, to page: inout Page) {
        page.heading("Heard as a clip")
        page.paragraph(
            "The result of classify --clips: the scores of the loudest second alone, without smoothing or thresholds. "
                + "Its label is \(Labels.spoken(clip.label))."
        )
        let scores = trace.vocabulary.labels.map { (label: $0, score: clip.scores[$0] ?? 0) }
        page.add(
            PageTable(
                ["Class", "Score"],
                numeric: [1],
                rows: scores.sorted { $0.score > $1.score }.map {
                    [Labels.spoken($0.label), shareText(Double($0.score))]
                }
            )
        )
    }

    private func levelText(_ level: Double) -> String {
        level <= -120 ? "digital silence" : decimal(level, 1).replacing("-", with: "−") + " dBFS"
    }
}
