/// A table of text cells, for aligned plain text and for HTML pages.
public struct TextTable: Sendable {
    public let header: [String]
    public private(set) var rows: [[String]] = []
    /// Columns that hold names, aligned left; the others hold numbers, aligned right.
    private let names: Set<Int>

    /// - Parameter names: indices of the columns that hold names.
    public init(_ header: [String], names: Set<Int> = [0]) {
        self.header = header
        self.names = names
    }

    /// Indices of the columns that hold numbers.
    public var numeric: Set<Int> { Set(header.indices).subtracting(names) }

    /// Adds a row; its cells are made ``printable(_:)``.
    public mutating func add(_ row: [String]) { rows.append(row.map(printable)) }

    /// All lines, the header first; each column as wide as its widest cell.
    public var text: String {
        let lines = [header] + rows
        let widths = header.indices.map { column in
            lines.map { $0.indices.contains(column) ? columns($0[column]) : 0 }.max() ?? 0
        }
        return lines.map { line in
            let cells = zip(line, widths).enumerated().map { column, cell in
                names.contains(column) ? pad(cell.0, cell.1) : left(cell.0, cell.1)
            }
            let text = cells.joined(separator: "  ")
            return text.prefix(text.count - text.reversed().prefix { $0 == " " }.count) + "\n"
        }.joined()
    }
}

extension TextTable {
    /// What a cell of a table of counts has for none; a row in lines of its own leaves such a cell out.
    public static let none = "·"

    /// ``text`` if no line is wider than `room` columns; else each row in lines of its own, its names first.
    public func text(columns room: Int) -> String {
        let whole = text
        guard whole.split(separator: "\n").contains(where: { columns(String($0)) > room }) else { return whole }
        let numeric = numeric
        return rows.map { row in
            let cells = row.indices.filter { header.indices.contains($0) }
            let title = cells.filter { !numeric.contains($0) }.map { row[$0] }.filter { !$0.isEmpty }
            let numbers = cells.filter { numeric.contains($0) && row[$0] != Self.none }.map {
                "\(header[$0].lowercased()) \(row[$0])"
            }
            return (Self.lines(title, indent: "", room) + Self.lines(numbers, indent: "  ", room)).joined()
        }.joined()
    }

    /// Items with commas between, in lines that fit where an item does.
    private static func lines(_ items: [String], indent: String, _ room: Int) -> [String] {
        var lines: [String] = []
        for item in items {
            // With room for the comma after it.
            if let line = lines.last, columns(line) + 3 + columns(item) <= room {
                lines[lines.count - 1] = "\(line), \(item)"
            } else {
                if let line = lines.last { lines[lines.count - 1] = line + "," }
                lines.append((lines.isEmpty ? indent : "  ") + item)
            }
        }
        return lines.map { $0 + "\n" }
    }
}

/// Text padded with spaces on the right to `width` columns of a terminal.
public func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - columns(text)))
}

/// Text padded with spaces on the left to `width` columns of a terminal.
public func left(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - columns(text))) + text
}

/// A fraction as a percentage, `97.3 %`; a dash for nil.
public func shareText(_ share: Double?, places: Int = 1) -> String {
    share.map { decimal($0 * 100, places) + " %" } ?? "–"
}

/// A fraction as a percentage without the sign, for columns of percentages; a dash for nil.
public func perCentText(_ share: Double?, places: Int = 1) -> String { numberText(share.map { $0 * 100 }, places) }

/// A number with a fixed number of decimals; a dash for nil.
public func numberText(_ number: Double?, _ places: Int) -> String { number.map { decimal($0, places) } ?? "–" }

/// Seconds as `0:01.25`; from one hour on as `1:02:03.45`.
public func positionText(_ seconds: Double) -> String {
    let hundredths = Int((max(0, seconds) * 100).rounded())
    let (minutes, rest) = (hundredths / 6000, hundredths % 6000)
    let tail = padded(rest / 100, 2) + "." + padded(rest % 100, 2)
    return minutes < 60 ? "\(minutes):\(tail)" : "\(minutes / 60):\(padded(minutes % 60, 2)):\(tail)"
}
