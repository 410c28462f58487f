private import Core
private import Spotting

/// A table for people: one row per detection, in aligned columns.
struct Table: ReportFormat {
    private let fileWidth: Int
    /// Whether longer names lose their beginning, so that no row is wider than the terminal.
    private let cutsNames: Bool
    private let colour: Bool

    /// Columns beside the file's name.
    private static let others = 50
    /// Least columns for the file's name.
    private static let narrowest = 16

    /// - Parameters:
    ///   - files: the files, or the first of many, so that the first column has the width of the longest name from the first row
    ///     on.
    ///   - room: columns of the terminal; nil where a program may read the names.
    init(files: [String], colour: Bool, room: Int? = nil) {
        let longest = max(4, files.map { columns(printable($0)) }.max() ?? 4)
        fileWidth = min(longest, room.map { max(Self.narrowest, $0 - Self.others) } ?? 64)
        cutsNames = room != nil
        self.colour = colour
    }

    /// The column of the file's name.
    private func name(_ file: String) -> String {
        let name = printable(file)
        guard cutsNames, columns(name) > fileWidth else { return pad(name, fileWidth) }
        var end = name[...]
        while columns(String(end)) > fileWidth - 1 { end = end.dropFirst() }
        return pad("…" + end, fileWidth)
    }

    func header(clips: Bool, labels: [String]) -> String {
        let columns = clips ? "LABEL          CONFIDENCE" : "     START        END  WORD           CONFIDENCE"
        return dim(pad("FILE", fileWidth) + "  " + columns) + "\n"
    }

    func detection(_ found: FileDetection) -> String {
        let detection = found.detection
        let word: String =
            switch detection.kind {
            case .word: found.name
            case .phrase: "“\(found.name)”"
            case .phrasePartial: "“\(found.name) …”"
            case .sessionStart, .sessionEnd, .sessionTimeout, .nearMiss: "\(found.name) (\(detection.kind.key))"
            }
        let strong = detection.kind == .phrasePartial ? dim(pad(word, 13)) : bold(pad(word, 13))
        return name(found.file) + "  " + left(clockText(detection.start), 10) + " "
            + left(clockText(detection.end), 10) + "  "
            + strong + "  " + left(percent(detection.confidence), 10) + "\n"
    }

    func clip(_ clip: ClipLabel) -> String {
        name(clip.file) + "  " + bold(pad(clip.label, 13)) + "  "
            + left(percent(clip.confidence), 10) + "\n"
    }

    func nothing(file: String) -> String {
        name(file) + "  " + dim(left("–", 10)) + "\n"
    }

    private func bold(_ text: String) -> String { colour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    private func dim(_ text: String) -> String { colour ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
}
