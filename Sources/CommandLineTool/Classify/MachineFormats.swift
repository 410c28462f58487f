private import Core
private import Spotting

/// One JSON object a line, keys in a fixed order.
struct JSONLines: ReportFormat {
    func event(_ event: Event) -> String {
        let name = event.kind == .word ? "word" : "phrase"
        return """
            {"file": \(jsonString(event.file)), "event": "\(event.kind.key)", "\(name)": \(jsonString(event.name)), \
            "confidence": \(decimal(Double(event.confidence), 4)), "start": \(decimal(event.start, 3)), \
            "end": \(decimal(event.end, 3)), "time": \(decimal(event.time, 3))}

            """
    }

    func clip(_ clip: ClipLabel) -> String {
        let scores = clip.scores.map { "\(jsonString($0.label)): \(decimal(Double($0.score), 4))" }
        return """
            {"file": \(jsonString(clip.file)), "label": \(jsonString(clip.label)), \
            "confidence": \(decimal(Double(clip.confidence), 4)), "scores": {\(scores.joined(separator: ", "))}}

            """
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
