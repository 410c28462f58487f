private import Core
private import Spotting

/// A stretch of sound in a recording, and what the detector made of it.
struct Burst: Sendable {
    /// In seconds from the file's start.
    let start: Double
    let end: Double
    /// The words that were detected in it.
    let words: [RecordingTrace.Word]
    /// The word with the highest score, and when it scored; nil without words or scores.
    let nearest: (word: String, score: Float, time: Double)?
    /// What it was, in a few words for people.
    let text: String
    /// What it was, in one or two words for a label in a chart.
    let label: String

    /// Pauses up to this, in seconds, do not part a burst.
    private static let longestPause = 0.25
    /// Shorter sounds in which no word was detected are left out.
    private static let least = 0.1
    /// How long after its end a burst still decides the scores: the network hears the last second, but words score highest as
    /// they end.
    private static let echo = 0.7

    /// All bursts of a recording, in order of time.
    static func all(in trace: RecordingTrace) -> [Burst] {
        var spans = spans(of: trace).map { (span: $0, words: [RecordingTrace.Word]()) }
        for word in trace.words {
            let nearest = spans.indices.min { distance(spans[$0].span, word) < distance(spans[$1].span, word) }
            if let nearest, distance(spans[nearest].span, word) < 0.3 {
                spans[nearest].words.append(word)
            } else {
                spans.append((word.start...max(word.start, word.end), [word]))
            }
        }
        spans = spans.filter { !$0.words.isEmpty || $0.span.upperBound - $0.span.lowerBound >= least }
            .sorted { $0.span.lowerBound < $1.span.lowerBound }
        return spans.indices.map { index in
            let next = index + 1 < spans.count ? spans[index + 1].span.lowerBound : .infinity
            return Burst(spans[index].span, spans[index].words, trace, before: next)
        }
    }

    /// Runs of active steps, joined over short pauses.
    private static func spans(of trace: RecordingTrace) -> [ClosedRange<Double>] {
        var spans: [ClosedRange<Double>] = []
        for (step, isActive) in trace.activity.steps.enumerated() where isActive {
            let start = max(trace.from, trace.activity.start + Double(step) * trace.activity.stepSeconds)
            let end = start + trace.activity.stepSeconds
            if let last = spans.last, start - last.upperBound <= longestPause {
                spans[spans.count - 1] = last.lowerBound...end
            } else {
                spans.append(start...end)
            }
        }
        return spans
    }

    /// How far a word lies from a span, in seconds; 0 where they overlap.
    private static func distance(_ span: ClosedRange<Double>, _ word: RecordingTrace.Word) -> Double {
        max(0, word.start - span.upperBound, span.lowerBound - max(word.start, word.end))
    }

    private init(
        _ span: ClosedRange<Double>,
        _ words: [RecordingTrace.Word],
        _ trace: RecordingTrace,
        before next: Double
    ) {
        (start, end) = (span.lowerBound, span.upperBound)
        self.words = words
        let labels = trace.vocabulary.labels
        let until = min(span.upperBound + Self.echo, next + 0.3)
        let hops = trace.hops.filter { $0.time > span.lowerBound && $0.time <= until }
        var best: (label: Int, hop: RecordingTrace.Hop)?
        for hop in hops {
            for label in labels.indices where !Labels.isSpecial(labels[label]) {
                if hop.scores[label] > best.map({ $0.hop.scores[$0.label] }) ?? -1 { best = (label, hop) }
            }
        }
        nearest = best.map { (labels[$0.label], $0.hop.scores[$0.label], $0.hop.time) }
        let unknown = Labels(labels).unknownIndex
        let speech = hops.map { $0.scores[unknown] }.max() ?? 0
        let kind = speech >= 0.3 ? Labels.spoken(Labels.unknown) : Labels.spoken(Labels.silence)
        guard words.isEmpty else {
            text = words.map { "“\($0.name)” \(percent($0.confidence))" }.joined(separator: ", ")
            label = words.map(\.name).joined(separator: ", ")
            return
        }
        guard let best else {
            text = "\(kind), no word near"
            label = kind
            return
        }
        let (score, name) = (best.hop.scores[best.label], labels[best.label])
        guard let threshold = trace.settings.detector.thresholds.values[best.label] else {
            text = "\(kind), nearest “\(name)” \(Self.shown(score)), which is switched off"
            label = kind
            return
        }
        let looks = hops.compactMap(\.refusal).filter { refusal in
            trace.settings.detector.thresholds.values[refusal.label].map { refusal.confidence < $0 } ?? false
        }
        if let look = looks.max(by: { $0.confidence < $1.confidence }) {
            let needed = trace.settings.detector.thresholds.values[look.label].map(Self.needed) ?? ""
            text =
                "“\(labels[look.label])” \(Self.shown(look.confidence)) after a second look, too uncertain: it needs \(needed)"
            label = "\(labels[look.label])?"
        } else if score >= threshold {
            text =
                "“\(name)” reached \(percent(score)), enough for its \(Self.needed(threshold)), but "
                + Self.hindrance(best.label, best.hop, hops, trace)
            label = "not counted"
        } else if score >= 0.3, !best.hop.scores.contains(where: { $0 > score }) {
            text = "“\(name)” \(percent(score)), too uncertain: it needs \(Self.needed(threshold))"
            label = "\(name)?"
        } else {
            text = "\(kind), nearest “\(name)” \(Self.shown(score)) (it needs \(Self.needed(threshold)))"
            label = kind
        }
    }

    /// A low score as a percentage.
    private static func shown(_ score: Float) -> String { score < 0.005 ? "under 1 %" : percent(score) }

    /// A threshold as a percentage, with a decimal where it has one.
    private static func needed(_ threshold: Float) -> String {
        let share = Double(threshold) * 100
        return decimal(share, abs(share - share.rounded()) < 0.05 ? 0 : 1) + " %"
    }

    /// Why a word did not count although its score reached the threshold; see ``Gate``.
    private static func hindrance(
        _ label: Int,
        _ best: RecordingTrace.Hop,
        _ hops: [RecordingTrace.Hop],
        _ trace: RecordingTrace
    ) -> String {
        if best.refractory.contains(label) { return "it had just fired and was still resting" }
        let won = hops.count { hop in !hop.scores.contains { $0 > hop.scores[label] } }
        if won < trace.settings.detector.gate.stability {
            return "it must be the highest for \(trace.settings.detector.gate.stability) scores in a row"
        }
        return trace.settings.detector.gate.mode == .command
            ? "in command mode only the first word between two pauses counts"
            : "right after another word it counts only if it begins in sound"
    }
}
