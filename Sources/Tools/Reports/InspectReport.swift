private import Core
import Diagnostics
private import Inference
public import JSON
import Spotting

/// What a report on one recording shows, as a page or as JSON.
public struct InspectReport: Sendable {
    /// The recording as one clip.
    struct Clip {
        let label: String
        let confidence: Float
        let scores: [String: Float]
    }

    let trace: RecordingTrace
    let signal: SignalReport
    let findings: [Finding]
    /// The stretches of sound, and what they were.
    let bursts: [Burst]
    /// Scores of the recording as one clip; nil where it is longer than 1.25 s or only a part of it was traced.
    let clip: Clip?

    /// Longest recording, in seconds, that is also scored as a clip.
    private static let longestClip = 1.25

    public init(_ trace: RecordingTrace) {
        self.trace = trace
        signal = SignalReport(
            channels: trace.statistics,
            faults: trace.faults,
            samples: trace.samples,
            listeningRate: trace.vocabulary.model.sampleRate
        )
        findings = Finding.all(in: signal)
        bursts = Burst.all(in: trace)
        let isClip = trace.from == 0 && !trace.isCut && trace.to <= Self.longestClip
        clip = isClip ? Clip(trace.samples, trace.vocabulary) : nil
    }

    /// Which part is shown, where the report had to cut the file; nil for a whole file or a part that the user chose.
    public var note: String? {
        guard trace.isCut, trace.settings.to == nil else { return nil }
        let length = decimal(trace.to - trace.from, 1)
        return "the report shows \(length) s from \(positionText(trace.from)); choose another part with --from and --to"
    }

    /// The threshold of each word that can fire.
    var thresholds: [String: Float] {
        let values = zip(trace.vocabulary.labels, trace.settings.detector.thresholds.values)
        return Dictionary(values.compactMap { label, value in value.map { (label, $0) } }) { first, _ in first }
    }

    /// The object of `inspect --json`, its keys in alphabetical order.
    ///
    /// Levels are in dBFS, shares from 0 to 1, times in seconds from the file's start; what there is not has no key.
    public var json: JSON {
        let gate = trace.settings.detector.gate
        var json = JSON.object([])
        json.append([
            "channels": .number(trace.channels),
            "clip": clip.map {
                [
                    "confidence": .number($0.confidence, places: 4), "label": .string($0.label),
                    "scores": Self.json($0.scores),
                ]
            },
            "confirm": .string(trace.vocabulary.model.confirmationState.rawValue),
            "events": .array(trace.words.map(Self.json)), "file": .string(FileName.shown(trace.file)),
            "findings": .array(findings.map(Self.json)), "format": .string(trace.format),
            "from": .number(trace.from, places: 3),
            "heardChannels": .array(trace.usedChannels.map { .number($0) }),
            "hops": .array(trace.hops.map(describe)), "labels": .strings(trace.vocabulary.labels),
            "mode": .string(gate.mode.rawValue), "model": .string(trace.vocabulary.model.name),
            "note": note.map { .string($0) }, "sampleRate": .number(trace.sampleRate), "signal": Self.json(signal),
            "sounds": .array(bursts.map(Self.json)), "thresholds": Self.json(thresholds),
            "to": .number(trace.to, places: 3), "trigger": .string(gate.trigger.rawValue),
        ])
        return json
    }

    private static func json(_ scores: [String: Float]) -> JSON {
        .object(scores.sorted { $0.key < $1.key }.map { JSON.Member($0, .number($1, places: 4)) })
    }

    private static func json(_ signal: SignalReport) -> JSON {
        var json: JSON = [
            "clippedShare": .number(signal.clippedShare, places: 6), "floor": .number(signal.levels.floor, places: 2),
        ]
        json.append([
            "highestHertz": signal.highestHertz.map { .shortest($0) },
            "humHertz": signal.hum.map { .shortest($0.hertz) },
            "humLevel": signal.hum.map { .number($0.level, places: 2) },
            "loudest": .number(signal.levels.loudest, places: 2), "offset": .number(signal.offset, places: 6),
            "overall": .number(signal.levels.overall, places: 2), "peak": .number(signal.peak, places: 2),
            "silentShare": .number(signal.silentShare, places: 4),
        ])
        return json
    }

    private static func json(_ finding: Finding) -> JSON {
        [
            "kind": .string(finding.kind.rawValue), "meaning": .string(finding.meaning),
            "remedy": .string(finding.remedy), "serious": .bool(finding.isSerious), "title": .string(finding.title),
        ]
    }

    private static func json(_ word: RecordingTrace.Word) -> JSON {
        var json: JSON = ["confidence": .number(word.confidence, places: 4)]
        if let confirmed = word.confirmed { json.append(["confirmed": .number(confirmed, places: 4)]) }
        json.append(["end": .number(word.end, places: 3)])
        if let proposed = word.proposed { json.append(["proposed": .number(proposed, places: 4)]) }
        json.append([
            "start": .number(word.start, places: 3), "time": .number(word.time, places: 3), "word": .string(word.name),
        ])
        return json
    }

    private static func json(_ burst: Burst) -> JSON {
        var json: JSON = ["end": .number(burst.end, places: 3)]
        json.append([
            "nearest": burst.nearest.map { .string($0.word) },
            "score": burst.nearest.map { .number($0.score, places: 4) }, "start": .number(burst.start, places: 3),
            "text": .string(burst.text), "time": burst.nearest.map { .number($0.time, places: 3) },
        ])
        return json
    }

    private func describe(_ hop: RecordingTrace.Hop) -> JSON {
        let state =
            hop.fired != nil ? "firing" : !hop.refractory.isEmpty ? "refractory" : hop.inSpeech ? "speech" : "quiet"
        var json: JSON = [:]
        if let refusal = hop.refusal {
            json.append([
                "refused": [
                    "confidence": .number(refusal.confidence, places: 4),
                    "confirmed": .number(refusal.confirmed, places: 4),
                    "word": .string(trace.vocabulary.labels[refusal.label]),
                ]
            ])
        }
        json.append([
            "scores": .array(hop.scores.map { .number($0, places: 4) }), "state": .string(state),
            "time": .number(hop.time, places: 3),
        ])
        return json
    }
}

extension InspectReport.Clip {
    fileprivate init?(_ samples: [Float], _ vocabulary: Vocabulary) {
        var scorer = ClipScorer(vocabulary)
        let posteriors = scorer.score(clip: samples)
        guard let best = posteriors.indices.max(by: { posteriors[$0] < posteriors[$1] }) else { return nil }
        label = vocabulary.labels[best]
        confidence = posteriors[best]
        scores = Dictionary(zip(vocabulary.labels, posteriors)) { first, _ in first }
    }
}
