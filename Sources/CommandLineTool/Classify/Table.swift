private import Core
private import Spotting

/// A table for people: one row per detection, in aligned columns.
struct Table: ReportFormat {
    private let fileWidth: Int
    private let colour: Bool

    /// - Parameter files: the files, or the first of many, so that the first column has the width of the longest name from the
    ///   first row on.
    init(files: [String], colour: Bool) {
        fileWidth = min(64, max(4, files.map { columns(printable($0)) }.max() ?? 4))
        self.colour = colour
    }

    func header(clips: Bool, labels: [String]) -> String {
        let columns = clips ? "LABEL          CONFIDENCE" : "     START        END  WORD           CONFIDENCE"
        return dim(pad("FILE", fileWidth) + "  " + columns) + "\n"
    }

    func detection(_ found: FileDetection) -> String {
        let detection = found.detection
        let name: String =
            switch detection.kind {
            case .word: found.name
            case .phrase: "“\(found.name)”"
            case .phrasePartial: "“\(found.name) …”"
            case .sessionStart, .sessionEnd, .sessionTimeout: "\(found.name) (\(detection.kind.key))"
            }
        let strong = detection.kind == .phrasePartial ? dim(pad(name, 13)) : bold(pad(name, 13))
        return pad(printable(found.file), fileWidth) + "  " + left(clockText(detection.start), 10) + " "
            + left(clockText(detection.end), 10) + "  "
            + strong + "  " + left(percent(detection.confidence), 10) + "\n"
    }

    func clip(_ clip: ClipLabel) -> String {
        pad(printable(clip.file), fileWidth) + "  " + bold(pad(clip.label, 13)) + "  "
            + left(percent(clip.confidence), 10) + "\n"
    }

    func nothing(file: String) -> String {
        pad(printable(file), fileWidth) + "  " + dim(left("–", 10)) + "\n"
    }

    private func bold(_ text: String) -> String { colour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    private func dim(_ text: String) -> String { colour ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
}
