import Core

/// A small terminal: the screen after what a program wrote. Understands text, CR, LF, and the control sequences of the panel.
struct ScreenEmulator {
    /// Cells of the screen; the second half of a wide character is empty.
    private var cells: [[String]]
    private(set) var columns: Int
    private var row = 0
    private var column = 0
    private var wraps = true
    /// Whether the cursor is shown.
    private(set) var showsCursor = true
    /// Rows that scrolled out at the top.
    private(set) var scrollback: [String] = []
    /// Characters that did not fit a line that must not wrap.
    private(set) var cut = 0
    /// Control sequences that it does not know.
    private(set) var unknown: [String] = []
    /// The beginning of a control sequence whose end has not come.
    private var open = ""

    init(columns: Int, rows: Int) {
        self.columns = columns
        cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
    }

    /// The rows without the blanks at their ends.
    var rows: [String] { cells.map(Self.text) }

    /// All rows that are not blank, with those that scrolled out.
    var all: [String] { (scrollback + rows).filter { !$0.isEmpty } }

    private static func text(_ cells: [String]) -> String {
        let text = cells.joined()
        return String(text.reversed().drop { $0 == " " }.reversed())
    }

    /// Another size; rows are cut or filled up, as by a terminal that does not break lines anew. Rows go from the bottom first.
    mutating func resize(columns new: Int, rows count: Int) {
        columns = new
        cells = cells.map { Array($0.prefix(new)) + Array(repeating: " ", count: max(0, new - $0.count)) }
        while cells.count > count, cells.count - 1 > row { cells.removeLast() }
        while cells.count > count {
            scrollback.append(Self.text(cells.removeFirst()))
            row -= 1
        }
        while cells.count < count { cells.append(Array(repeating: " ", count: new)) }
        column = min(column, new - 1)
    }

    mutating func write(_ text: String) {
        for scalar in text.unicodeScalars {
            if !open.isEmpty {
                open.unicodeScalars.append(scalar)
                if open.unicodeScalars.count > 2, (0x40...0x7E).contains(scalar.value) {
                    control(open)
                    open = ""
                }
                continue
            }
            switch scalar {
            case "\u{1B}": open = "\u{1B}"
            case "\r": column = 0
            case "\n": lineFeed()
            default: put(String(scalar))
            }
        }
    }

    private mutating func put(_ text: String) {
        let width = Core.columns(text)
        guard width > 0 else {
            if column > 0 { cells[row][column - 1] += text }
            return
        }
        if column + width > columns {
            guard wraps else {
                cut += 1
                return
            }
            column = 0
            lineFeed()
        }
        cells[row][column] = text
        if width == 2 { cells[row][column + 1] = "" }
        column += width
    }

    private mutating func lineFeed() {
        guard row + 1 == cells.count else {
            row += 1
            return
        }
        scrollback.append(Self.text(cells.removeFirst()))
        cells.append(Array(repeating: " ", count: columns))
    }

    private mutating func control(_ sequence: String) {
        let body = sequence.dropFirst(2).dropLast()
        switch (sequence.last, body) {
        case ("m", _): break
        case ("A", _): row = max(0, row - (Int(body) ?? 1))
        // After a character in the last column the cursor is still there.
        case ("K", ""): for index in min(column, columns - 1)..<columns { cells[row][index] = " " }
        case ("J", ""):
            for index in min(column, columns - 1)..<columns { cells[row][index] = " " }
            for below in row + 1..<max(row + 1, cells.count) { cells[below] = Array(repeating: " ", count: columns) }
        case ("h", "?7"): wraps = true
        case ("l", "?7"): wraps = false
        case ("h", "?25"): showsCursor = true
        case ("l", "?25"): showsCursor = false
        default: unknown.append(String(sequence.dropFirst()))
        }
    }
}
