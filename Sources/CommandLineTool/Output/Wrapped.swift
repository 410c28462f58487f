private import Core

/// A text in lines of at most `width` columns, broken at spaces; a longer word has a line of its own.
func wrapped(_ text: some StringProtocol, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
        if !line.isEmpty, columns(line) + 1 + columns(String(word)) > width {
            lines.append(line)
            line = ""
        }
        line += (line.isEmpty ? "" : " ") + word
    }
    return lines + (line.isEmpty ? [] : [line])
}

/// A paragraph in lines that fit the columns of a terminal. The last column stays empty: some terminals wrap a line that fills it.
func wrapped(_ text: String, columns: Int) -> String { wrapped(text, width: columns - 1).joined(separator: "\n") }

/// A text for a terminal: lines that are wider than it are broken at spaces, as the terminal would break them within words.
///
/// - Parameters:
///   - room: columns of the terminal; nil where the text goes elsewhere, and stays as it is.
///   - hanging: columns by which what follows a break is indented beyond the line's own indent.
func fitted(_ text: String, columns room: Int?, hanging: Int = 2) -> String {
    guard let room, !text.utf8.contains(0x1B) else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        columns(String(line)) <= room ? String(line) : broken(line, room: room, hanging: hanging)
    }.joined(separator: "\n")
}

private func broken(_ line: Substring, room: Int, hanging: Int) -> String {
    let own = line.prefix { $0 == " " }.count
    // On a narrow terminal an indent leaves no room for words.
    let margin = String(repeating: " ", count: own + hanging <= room / 2 ? own + hanging : min(2, own + hanging))
    var lines: [String] = []
    var rest = line
    while true {
        let width = room - 1 - (lines.isEmpty ? 0 : margin.count)
        let start = lines.isEmpty ? rest.dropFirst(own).startIndex : rest.startIndex
        let fits = prefix(String(rest), columns: width).count
        let limit = rest.index(rest.startIndex, offsetBy: fits)
        // The last space that fits, or where none does, the first one.
        let space =
            limit == rest.endIndex ? nil : rest[start...limit].lastIndex(of: " ") ?? rest[start...].firstIndex(of: " ")
        let part = space.map { rest[..<$0] } ?? rest
        let text = String(part.reversed().drop { $0 == " " }.reversed())
        lines.append((lines.isEmpty ? "" : margin) + text)
        guard let space else { return lines.joined(separator: "\n") }
        rest = rest[space...].drop { $0 == " " }
        if rest.isEmpty { return lines.joined(separator: "\n") }
    }
}
