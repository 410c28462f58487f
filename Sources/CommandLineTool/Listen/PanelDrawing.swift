/// The bytes that keep a panel below the lines of a terminal. A pure value.
///
/// Between two frames the cursor is at the start of the panel's first line. After a change of the size, terminals may have
/// broken the panel's lines anew, but the cursor stays at the start of the same line: what is to be erased is all from there.
struct PanelDrawing {
    private var shown: [String] = []

    /// Erases from the cursor to the end of the screen.
    private static let erase = "\r\u{1B}[J"
    private static let (hideCursor, showCursor) = ("\u{1B}[?25l", "\u{1B}[?25h")
    /// A line that is longer than the terminal is cut there, in place of going on in the next row.
    private static let (wrapOff, wrapOn) = ("\u{1B}[?7l", "\u{1B}[?7h")

    /// - Parameters:
    ///   - text: new lines to put above the panel, each with its line end; may be empty.
    ///   - panel: the panel's lines; none erases it.
    ///   - isResized: whether the terminal's size has changed since the last frame.
    mutating func frame(_ text: String, above panel: [String], isResized: Bool) -> String {
        guard !text.isEmpty || isResized || panel != shown else { return "" }
        defer { shown = panel }
        let erasesAll = !shown.isEmpty && (!text.isEmpty || isResized || panel.count < shown.count)
        let above = (erasesAll ? Self.erase : "") + text
        guard !panel.isEmpty else { return above + (shown.isEmpty ? "" : Self.showCursor) }
        var frame = above + (shown.isEmpty ? Self.hideCursor : "") + Self.wrapOff
        // Erased before it is drawn: after a line that fills the terminal the cursor is on its last character.
        frame += panel.map { "\r\u{1B}[K\($0)" }.joined(separator: "\n")
        if panel.count > 1 { frame += "\u{1B}[\(panel.count - 1)A" }
        return frame + "\r" + Self.wrapOn
    }
}
