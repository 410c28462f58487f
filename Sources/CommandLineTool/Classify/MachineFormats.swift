private import Core
private import Spotting

/// One JSON object per line, keys in a fixed order.
struct JSONLines: ReportFormat {
    func event(_ event: Event) -> String {
        let subject = event.kind == .word ? "word" : "phrase"
        let object: JSON = [
            "file": .string(event.file), "event": .string(event.kind.key), subject: .string(event.name),
            "confidence": .number(event.confidence, places: 4), "start": .number(event.start, places: 3),
            "end": .number(event.end, places: 3), "time": .number(event.time, places: 3),
        ]
        return object.line
    }

    func clip(_ clip: ClipLabel) -> String {
        let object: JSON = [
            "file": .string(clip.file), "label": .string(clip.label),
            "confidence": .number(clip.confidence, places: 4),
            "scores": .object(clip.scores.map { JSON.Member($0.label, .number($0.score, places: 4)) }),
        ]
        return object.line
    }
}

/// Comma-separated values with a header line; fields quoted where they must be (RFC 4180).
struct CSV: ReportFormat {
    func header(clips: Bool, labels: [String]) -> String {
        let columns =
            clips
            ? ["file", "label", "confidence"] + labels
            : ["file", "event", "word", "confidence", "start", "end", "time"]
        return columns.map(field).joined(separator: ",") + "\n"
    }

    func event(_ event: Event) -> String {
        let numbers =
            [decimal(Double(event.confidence), 4)] + [event.start, event.end, event.time].map { decimal($0, 3) }
        return ([field(event.file), event.kind.key, field(event.name)] + numbers).joined(separator: ",") + "\n"
    }

    func clip(_ clip: ClipLabel) -> String {
        let scores = clip.scores.map { decimal(Double($0.score), 4) }
        let columns = [field(clip.file), field(clip.label), decimal(Double(clip.confidence), 4)] + scores
        return columns.joined(separator: ",") + "\n"
    }

    private func field(_ text: String) -> String {
        guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}

/// A label track as Audacity imports it: start, end and text, separated by tabs.
struct AudacityLabels: ReportFormat {
    func event(_ event: Event) -> String {
        guard event.kind != .phrasePartial else { return "" }
        return "\(decimal(event.start, 6))\t\(decimal(event.end, 6))\t\(event.name) \(percent(event.confidence))\n"
    }

    func clip(_ clip: ClipLabel) -> String { "" }
}
