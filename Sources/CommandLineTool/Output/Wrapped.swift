private import Core

/// A paragraph in lines that fit the columns of a terminal, broken at spaces; a longer word has a line of its own.
func wrapped(_ text: String, columns width: Int) -> String {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
        if line.isEmpty {
            line = String(word)
        } else if columns(line) + 1 + columns(String(word)) < width {
            line += " " + word
        } else {
            lines.append(line)
            line = String(word)
        }
    }
    return (lines + [line]).joined(separator: "\n")
}
