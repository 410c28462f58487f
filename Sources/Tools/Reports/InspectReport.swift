private import Core
private import Diagnostics
private import Inference
private import Spotting

/// The numbers and words of a report on one recording; its members are the keys of `inspect --json`.
public struct InspectReport: Encodable, Sendable {
    struct Signal: Encodable, Sendable {
        /// Levels in dBFS: peak, whole recording, loudest 0.4 s, background (10th percentile).
        let peak: Double
        let overall: Double
        let loudest: Double
        let floor: Double
        /// Fraction of clipped samples, 0…1.
        let clippedShare: Double
        /// Mean of the samples, full scale at 1.
        let offset: Double
        /// Fraction of digital silence, 0…1.
        let silentShare: Double
        /// Nil where there is no sound.
        let highestHertz: Double?
        /// Mains hum and its level in dBFS; nil where there is none.
        let humHertz: Double?
        let humLevel: Double?
    }

    struct FindingText: Encodable, Sendable {
        let kind: String
        let serious: Bool
        let title: String
        let meaning: String
        let remedy: String
    }

    struct Word: Encodable, Sendable {
        let word: String
        let confidence: Double
        /// Estimated bounds and decision time, in seconds from the file's start.
        let start: Double
        let end: Double
        let time: Double
    }

    /// A stretch of sound, and what it was.
    struct Sound: Encodable, Sendable {
        let start: Double
        let end: Double
        let text: String
        /// The word with the highest score, when and how high; nil where none came near.
        let nearest: String?
        let score: Double?
        let time: Double?
    }

    struct Clip: Encodable, Sendable {
        let label: String
        let confidence: Double
        let scores: [String: Double]
    }

    struct Hop: Encodable, Sendable {
        let time: Double
        let state: String
        let scores: [Double]
    }

    let file: String
    let format: String
    let sampleRate: Int
    let channels: Int
    /// Channels, from 0, that were mixed into the model's input.
    let heardChannels: [Int]
    let from: Double
    let to: Double
    let model: String
    let mode: String
    let trigger: String
    let signal: Signal
    let findings: [FindingText]
    let labels: [String]
    let thresholds: [String: Double]
    let events: [Word]
    let sounds: [Sound]
    /// Scores of the recording as one clip; nil where it is longer than 1.25 s or only a part of it was traced.
    let clip: Clip?
    let hops: [Hop]
    /// Which part is shown, where the report had to cut the file; nil for a whole file or a part that the user chose.
    public let note: String?

    /// Longest recording, in seconds, that is also scored as a clip.
    private static let longestClip = 1.25

    public init(_ trace: RecordingTrace) {
        let (vocabulary, settings) = (trace.vocabulary, trace.settings.detector)
        let model = vocabulary.model
        let measured = SignalReport(
            channels: trace.statistics,
            samples: trace.samples,
            listeningRate: model.sampleRate
        )
        file = FileName.shown(trace.file)
        format = trace.format
        sampleRate = trace.sampleRate
        channels = trace.channels
        heardChannels = trace.usedChannels
        from = rounded(trace.from, 3)
        to = rounded(trace.to, 3)
        self.model = model.name
        mode = settings.gate.mode.rawValue
        trigger = settings.gate.trigger.rawValue
        signal = Signal(measured)
        findings = Finding.all(in: measured).map(FindingText.init)
        labels = vocabulary.labels
        thresholds = Dictionary(
            zip(vocabulary.labels, settings.thresholds.values).compactMap { label, value in
                value.map { (label, rounded(Double($0), 4)) }
            },
            uniquingKeysWith: { first, _ in first }
        )
        events = trace.words.map(Word.init)
        sounds = Burst.all(in: trace).map(Sound.init)
        hops = trace.hops.map(Hop.init)
        let isWhole = trace.from == 0 && !trace.isCut
        clip = isWhole && trace.to <= Self.longestClip ? Clip(trace.samples, vocabulary) : nil
        note =
            trace.isCut && trace.settings.to == nil
            ? "the report shows \(decimal(trace.to - trace.from, 1)) s from \(positionText(trace.from)); choose another part with --from and --to"
            : nil
    }
}

extension InspectReport.Signal {
    fileprivate init(_ report: SignalReport) {
        peak = rounded(report.peak, 2)
        overall = rounded(report.levels.overall, 2)
        loudest = rounded(report.levels.loudest, 2)
        floor = rounded(report.levels.floor, 2)
        clippedShare = rounded(report.clippedShare, 6)
        offset = rounded(report.offset, 6)
        silentShare = rounded(report.silentShare, 4)
        highestHertz = report.highestHertz
        humHertz = report.hum?.hertz
        humLevel = report.hum.map { rounded($0.level, 2) }
    }
}

extension InspectReport.FindingText {
    fileprivate init(_ finding: Finding) {
        kind = finding.kind.rawValue
        serious = finding.isSerious
        title = finding.title
        meaning = finding.meaning
        remedy = finding.remedy
    }
}

extension InspectReport.Word {
    fileprivate init(_ word: RecordingTrace.Word) {
        self.word = word.name
        confidence = rounded(Double(word.confidence), 4)
        start = rounded(word.start, 3)
        end = rounded(word.end, 3)
        time = rounded(word.time, 3)
    }
}

extension InspectReport.Sound {
    fileprivate init(_ burst: Burst) {
        start = rounded(burst.start, 3)
        end = rounded(burst.end, 3)
        text = burst.text
        nearest = burst.nearest?.word
        score = burst.nearest.map { rounded(Double($0.score), 4) }
        time = burst.nearest.map { rounded($0.time, 3) }
    }
}

extension InspectReport.Clip {
    fileprivate init?(_ samples: [Float], _ vocabulary: Vocabulary) {
        var scorer = ClipScorer(vocabulary)
        let posteriors = scorer.score(clip: samples)
        guard let best = posteriors.indices.max(by: { posteriors[$0] < posteriors[$1] }) else { return nil }
        label = vocabulary.labels[best]
        confidence = rounded(Double(posteriors[best]), 4)
        scores = Dictionary(
            zip(vocabulary.labels, posteriors.map { rounded(Double($0), 4) }),
            uniquingKeysWith: { first, _ in first }
        )
    }
}

extension InspectReport.Hop {
    fileprivate init(_ hop: RecordingTrace.Hop) {
        time = rounded(hop.time, 3)
        state =
            hop.fired != nil ? "firing" : !hop.refractory.isEmpty ? "refractory" : hop.inSpeech ? "speech" : "quiet"
        scores = hop.scores.map { rounded(Double($0), 4) }
    }
}

/// A number rounded to `places` decimals.
private func rounded(_ value: Double, _ places: Int) -> Double {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    return (value * scale).rounded() / scale
}
