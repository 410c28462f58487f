private import Core

/// Pieces of text with a style each, as one line of a terminal.
struct StyledText {
    enum Style {
        case plain, bold, dim, good, bad

        /// The parameters of SGR, the control sequence that sets colours.
        var code: String {
            switch self {
            case .plain: ""
            case .bold: "1"
            case .dim: "2"
            case .good: "32"
            case .bad: "1;31"
            }
        }
    }

    private var pieces: [(text: String, style: Style)] = []

    /// The columns that it takes on a terminal.
    private(set) var width = 0

    init(_ text: String = "", _ style: Style = .plain) { add(text, style) }

    /// Adds a piece; what a terminal would not show is replaced.
    mutating func add(_ text: String, _ style: Style = .plain) {
        let text = printable(text)
        guard !text.isEmpty else { return }
        pieces.append((text, style))
        width += columns(text)
    }

    mutating func add(_ other: StyledText) { for piece in other.pieces { add(piece.text, piece.style) } }

    /// The line with its control sequences, cut to `room` columns.
    func rendered(room: Int, hasColour: Bool) -> String {
        var rest = room
        var line = ""
        for piece in pieces where rest > 0 {
            let text = prefix(piece.text, columns: rest)
            rest -= columns(text)
            let isPlain = !hasColour || piece.style == .plain
            line += isPlain ? text : "\u{1B}[\(piece.style.code)m\(text)\u{1B}[0m"
            // A wide character that does not fit ends the line, so that no later piece takes its place.
            if text.utf8.count < piece.text.utf8.count { break }
        }
        return line
    }
}
