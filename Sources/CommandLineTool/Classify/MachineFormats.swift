import Core
import JSON
private import Spotting

/// One JSON object per line, keys in a fixed order.
struct JSONLines: ReportFormat {
    func detection(_ found: FileDetection) -> String {
        JSON.object([JSON.Member("file", .string(FileName.shown(found.file)))] + Self.members(found)).line
    }

    /// The members of a detection but its file.
    static func members(_ found: FileDetection) -> [JSON.Member] {
        let detection = found.detection
        var members = [
            JSON.Member("event", .string(detection.kind.key)),
            JSON.Member(detection.kind.subjectKey, .string(found.name)),
            JSON.Member("confidence", .number(detection.confidence, places: 4)),
            JSON.Member("start", .number(detection.start, places: 3)),
            JSON.Member("end", .number(detection.end, places: 3)),
            JSON.Member("time", .number(detection.time, places: 3)),
        ]
        if let proposed = detection.proposed { members.append(JSON.Member("proposed", .number(proposed, places: 4))) }
        if let confirmed = detection.confirmed {
            members.append(JSON.Member("confirmed", .number(confirmed, places: 4)))
        }
        if detection.isOwnSpeech { members.append(JSON.Member("ownSpeech", true)) }
        return members
    }

    static func scores(_ clip: ClipLabel) -> JSON {
        .object(clip.scores.map { JSON.Member($0.label, .number($0.score, places: 4)) })
    }

    func clip(_ clip: ClipLabel) -> String {
        let object: JSON = [
            "file": .string(FileName.shown(clip.file)), "label": .string(clip.label),
            "confidence": .number(clip.confidence, places: 4),
            "scores": Self.scores(clip),
        ]
        return object.line
    }
}

/// Comma-separated values with a header line; fields are quoted where RFC 4180 requires it.
struct CSV: ReportFormat {
    func header(clips: Bool, labels: [String]) -> String {
        let columns =
            clips
            ? ["file", "label", "confidence"] + labels
            : ["file", "event", "word", "confidence", "start", "end", "time", "proposed", "confirmed"]
        return columns.map(Self.field).joined(separator: ",") + "\n"
    }

    func detection(_ found: FileDetection) -> String {
        let detection = found.detection
        let numbers =
            [decimal(Double(detection.confidence), 4)]
            + [detection.start, detection.end, detection.time].map { decimal($0, 3) }
            // What JSON leaves out is an empty field.
            + [detection.proposed, detection.confirmed].map { $0.map { decimal(Double($0), 4) } ?? "" }
        return ([Self.field(FileName.shown(found.file)), detection.kind.key, Self.field(found.name)] + numbers).joined(
            separator: ","
        ) + "\n"
    }

    func clip(_ clip: ClipLabel) -> String {
        let scores = clip.scores.map { decimal(Double($0.score), 4) }
        let columns =
            [Self.field(FileName.shown(clip.file)), Self.field(clip.label), decimal(Double(clip.confidence), 4)]
            + scores
        return columns.joined(separator: ",") + "\n"
    }

    static func field(_ text: String) -> String {
        guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}

/// One JSON object per file. They need all of a file's results at once: see ``FileRecord``.
struct Records: ReportFormat {
    func detection(_ found: FileDetection) -> String { "" }
}

/// A label track as Audacity imports it: start, end and text, separated by tabs.
struct AudacityLabels: ReportFormat {
    func detection(_ found: FileDetection) -> String {
        let detection = found.detection
        guard detection.kind != .phrasePartial else { return "" }
        return
            "\(decimal(detection.start, 6))\t\(decimal(detection.end, 6))\t\(found.name) \(percent(detection.confidence))\n"
    }
}
