private import Core

/// Text filled up with blanks on the right.
func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
}

/// Text filled up with blanks on the left.
func left(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

/// A table of texts: as lines, its columns as wide as their widest cell, or as part of a page.
struct Columns {
    let header: [String]
    /// Columns that hold names, set to the left; the others hold numbers.
    private let names: Set<Int>
    private(set) var rows: [[String]] = []

    init(_ header: [String], names: Set<Int> = [0]) {
        self.header = header
        self.names = names
    }

    /// Columns that hold numbers.
    var numeric: Set<Int> { Set(header.indices).subtracting(names) }

    mutating func add(_ row: [String]) { rows.append(row) }

    /// All lines, the header first.
    var text: String {
        let lines = [header] + rows
        let widths = header.indices.map { column in
            lines.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
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

/// A share as people read it, `97.3 %`, or a dash where there is none.
func shareText(_ share: Double?, places: Int = 1) -> String { share.map { decimal($0 * 100, places) + " %" } ?? "–" }

/// A share in per cent without the sign, for columns of nothing else.
func perCentText(_ share: Double?, places: Int = 1) -> String { numberText(share.map { $0 * 100 }, places) }

/// A number, or a dash where there is none.
func numberText(_ number: Double?, _ places: Int) -> String { number.map { decimal($0, places) } ?? "–" }
