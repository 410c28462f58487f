private import Core
private import Spotting

/// A table for people: one row per detection, in aligned columns.
struct Table: ReportFormat {
    private let fileWidth: Int
    private let wordWidth: Int
    /// Whether longer names lose their beginning, so that no row is wider than the terminal.
    private let cutsNames: Bool
    private let colour: Bool

    /// Whether the terminal has no room for the end of a word and for wide columns of times.
    private let isNarrow: Bool

    /// Columns beside the file's name and the word, and on a narrow terminal.
    private static let (others, narrowOthers) = (37, 18)
    /// Columns of the word at least, and at most: a longer one moves what follows it.
    private static let wordColumns = 13...48
    /// Least columns for the file's name, and on a narrow terminal.
    private static let (narrowest, leastName) = (16, 8)

    /// - Parameters:
    ///   - files: the files, or the first of many, so that the first column has the width of the longest name from the first row
    ///     on.
    ///   - words, phrases: all that may be found, for the width of their column.
    ///   - room: columns of the terminal; nil where a program may read the names.
    init(files: [String], words: [String] = [], phrases: [String] = [], colour: Bool, room: Int? = nil) {
        let names = words + phrases.map { Self.shown($0, .phrasePartial) }
        let widest = names.map { columns(printable($0)) }.max() ?? 0
        let word = min(max(widest, Self.wordColumns.lowerBound), Self.wordColumns.upperBound)
        let longest = max(4, files.map { columns(printable($0)) }.max() ?? 4)
        isNarrow = room.map { $0 < Self.others + word + Self.narrowest } ?? false
        if let room, isNarrow {
            wordWidth = min(max(widest, 4), max(8, room - Self.narrowOthers - Self.leastName))
            fileWidth = min(longest, max(Self.leastName, room - Self.narrowOthers - wordWidth))
        } else {
            wordWidth = word
            fileWidth = min(longest, room.map { max(Self.narrowest, $0 - Self.others - word) } ?? 64)
        }
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
        let times = clips ? "" : isNarrow ? "  START  " : "     START        END  "
        let columns = times + pad(clips ? "LABEL" : "WORD", wordWidth) + (isNarrow ? "  CONF." : "  CONFIDENCE")
        return dim(pad("FILE", fileWidth) + "  " + columns) + "\n"
    }

    private func times(_ detection: Detection) -> String {
        let start = positionText(detection.start)
        return isNarrow ? left(start, 7) : left(start, 10) + " " + left(positionText(detection.end), 10)
    }

    /// The last column.
    private func confidence(_ value: Float) -> String { left(percent(value), isNarrow ? 5 : 10) }

    /// A word, or a phrase, which is quoted: whole, or as far as it was said.
    private static func shown(_ name: String, _ kind: Detection.Kind) -> String {
        switch kind {
        case .word: name
        case .phrase: "“\(name)”"
        case .phrasePartial: "“\(name) …”"
        case .sessionStart, .sessionEnd, .sessionTimeout, .nearMiss: "\(name) (\(kind.key))"
        }
    }

    func detection(_ found: FileDetection) -> String {
        let detection = found.detection
        let word = pad(printable(Self.shown(found.name, detection.kind)), wordWidth)
        let strong = detection.kind == .phrasePartial ? dim(word) : bold(word)
        return name(found.file) + "  " + times(detection) + "  " + strong + "  " + confidence(detection.confidence)
            + (detection.isOwnSpeech ? dim("  said by the loudspeaker") : "") + "\n"
    }

    func clip(_ clip: ClipLabel) -> String {
        name(clip.file) + "  " + bold(pad(printable(clip.label), wordWidth)) + "  " + confidence(clip.confidence)
            + "\n"
    }

    func nothing(file: String) -> String {
        name(file) + "  " + dim(left("–", isNarrow ? 7 : 10)) + "\n"
    }

    private func bold(_ text: String) -> String { colour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    private func dim(_ text: String) -> String { colour ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
}
