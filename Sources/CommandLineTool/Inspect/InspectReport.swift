private import Core
private import FoundationEssentials
import Inference
import Inspection
import Spotting

/// What a report says in words and numbers; the keys of `inspect --json`.
struct InspectReport: Encodable {
    struct Signal: Encodable {
        /// Levels in dB relative to full scale.
        let peak: Double
        let overall: Double
        let loudest: Double
        let floor: Double
        let clippedShare: Double
        let offset: Double
        let silentShare: Double
        let highestHertz: Double?
        let humHertz: Double?
        let humLevel: Double?
    }

    struct Remark: Encodable {
        let kind: String
        let serious: Bool
        let title: String
        let meaning: String
        let remedy: String
    }

    struct Word: Encodable {
        let word: String
        let confidence: Double
        let start: Double
        let end: Double
        let time: Double
    }

    struct Clip: Encodable {
        let label: String
        let confidence: Double
        let scores: [String: Double]
    }

    struct Hop: Encodable {
        let time: Double
        let state: String
        let scores: [Double]
    }

    let file: String
    let format: String
    let sampleRate: Int
    let channels: Int
    /// Numbers of the channels that were listened to.
    let heardChannels: [Int]
    let from: Double
    let to: Double
    let model: String
    let mode: String
    let trigger: String
    let signal: Signal
    let findings: [Remark]
    let labels: [String]
    let thresholds: [String: Double]
    let events: [Word]
    /// How the recording is labelled as a clip; only for those of about a second.
    let clip: Clip?
    let hops: [Hop]
    /// What of the file is not shown.
    let note: String?

    /// Recordings up to so many seconds are taken for clips too.
    private static let longestClip = 1.25

    init(_ hearing: RecordingTrace, options: InspectOptions, vocabulary: Vocabulary, thresholds: Thresholds) {
        let model = vocabulary.model
        let measured = SignalReport(
            channels: hearing.statistics,
            samples: hearing.samples,
            listeningRate: model.sampleRate
        )
        file = hearing.file
        format = hearing.format
        sampleRate = hearing.sampleRate
        channels = hearing.channels
        heardChannels = hearing.heard
        from = rounded(hearing.from, 3)
        to = rounded(hearing.to, 3)
        self.model = model.name
        mode = options.listening.gate.mode.rawValue
        trigger = options.listening.gate.trigger.rawValue
        signal = Signal(measured)
        findings = Finding.all(in: measured).map(Remark.init)
        labels = vocabulary.labels
        self.thresholds = Dictionary(
            zip(vocabulary.labels, thresholds.values).compactMap { label, value in
                value.map { (label, rounded(Double($0), 4)) }
            },
            uniquingKeysWith: { first, _ in first }
        )
        events = hearing.events.map(Word.init)
        hops = hearing.hops.map(Hop.init)
        let isWhole = hearing.from == 0 && !hearing.isCut
        clip = isWhole && hearing.to <= Self.longestClip ? Clip(hearing.samples, vocabulary) : nil
        note =
            hearing.isCut && options.to == nil
            ? "the report shows \(decimal(hearing.to - hearing.from, 1)) s from \(clockText(hearing.from)); choose another part with --from and --to"
            : nil
    }

    /// One JSON object, keys in alphabetical order.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
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

extension InspectReport.Remark {
    fileprivate init(_ finding: Finding) {
        kind = finding.kind.rawValue
        serious = finding.isSerious
        title = finding.title
        meaning = finding.meaning
        remedy = finding.remedy
    }
}

extension InspectReport.Word {
    fileprivate init(_ event: Event) {
        word = event.name
        confidence = rounded(Double(event.confidence), 4)
        start = rounded(event.start, 3)
        end = rounded(event.end, 3)
        time = rounded(event.time, 3)
    }
}

extension InspectReport.Clip {
    fileprivate init?(_ samples: [Float], _ vocabulary: Vocabulary) {
        let model = vocabulary.model
        var scorer = ClipScorer(vocabulary)
        let window = ClipScorer.loudestWindow(of: samples, length: model.windowSamples, hop: model.hopSamples)
        let posteriors = scorer.score(window)
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

/// A number with at most so many decimals.
private func rounded(_ value: Double, _ places: Int) -> Double {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    return (value * scale).rounded() / scale
}
