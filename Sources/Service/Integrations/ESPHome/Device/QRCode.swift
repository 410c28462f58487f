private import CQREncode

/// A text as a picture that a telephone's camera reads.
public struct QRCode {
    /// Light modules around the picture, which cameras need.
    private static let margin = 2

    /// Whether each module is dark, row by row.
    public let rows: [[Bool]]

    /// Nil without libqrencode, or for a text that is too long.
    public init?(_ text: String) {
        var library = CQREncode()
        guard CQREncode_load(&library), let picture = library.make?(text, 0, 1) else { return nil }
        defer { library.destroy?(picture) }
        let width = Int(picture.pointee.width)
        guard (1...177).contains(width), let data = picture.pointee.data else { return nil }
        rows = (0..<width).map { row in (0..<width).map { data[row * width + $0] & 1 == 1 } }
    }

    /// - Parameter rows: whether each module is dark, row by row.
    init(_ rows: [[Bool]]) { self.rows = rows }

    /// Lines for a terminal, two rows of modules each, in black on white whatever the terminal's colours are.
    public var lines: [String] {
        let modules = rows
        let width = modules.count + 2 * Self.margin
        func isDark(_ row: Int, _ column: Int) -> Bool {
            let (row, column) = (row - Self.margin, column - Self.margin)
            guard modules.indices.contains(row), modules[row].indices.contains(column) else { return false }
            return modules[row][column]
        }
        return stride(from: 0, to: width, by: 2).map { row in
            let text = (0..<width).map { column -> Character in
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return "\u{1B}[30;107m" + String(text) + "\u{1B}[0m"
        }
    }
}
