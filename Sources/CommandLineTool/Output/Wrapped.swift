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
