import Core
public import Evaluation

extension ConfusionMatrix {
    /// The matrix as text. Columns are headed by the numbers of the rows, so that it stays narrow; one that is still too wide is continued
    /// below.
    ///
    /// - Parameter room: columns of a terminal.
    public func text(room: Int = 80) -> String {
        let used = labels.indices.filter { label in
            counts[label].contains { $0 > 0 } || counts.contains { $0[label] > 0 }
        }
        guard !used.isEmpty else { return "" }
        func cell(_ count: Int) -> String { count == 0 ? TextTable.none : "\(count)" }
        let digits = "\(used.count)".count
        let names = used.map { printable(Labels.spoken(labels[$0])) }
        let title = "SAID ↓ HEARD →"
        let nameWidth = max(columns(title), digits + 1 + (names.map(columns).max() ?? 0))
        let width = 1 + max(2, digits, used.flatMap { row in used.map { "\(counts[row][$0])".count } }.max() ?? 0)
        let perBlock = max(1, (room - 1 - nameWidth) / width)
        let blocks = stride(from: 0, to: used.count, by: perBlock).map {
            Array(used.indices)[$0..<min(used.count, $0 + perBlock)]
        }
        return blocks.map { block in
            let head = pad(title, nameWidth) + block.map { left("\($0 + 1)", width) }.joined()
            let rows = used.indices.map { row in
                pad("\(left("\(row + 1)", digits)) \(names[row])", nameWidth)
                    + block.map { left(cell(counts[used[row]][used[$0]]), width) }.joined()
            }
            return ([head] + rows).map { $0 + "\n" }.joined()
        }.joined(separator: "\n")
    }
}
