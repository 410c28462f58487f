private import Core
import Enrollment

/// A take as the terminal shows it: its envelope as wide as the terminal, its duration and its level.
struct TakePicture {
    private static let marks = Array(" ▁▂▃▄▅▆▇█")
    /// Columns below which duration and level stand on a line of their own.
    private static let narrow = 40

    /// One line; two in a narrow terminal.
    let text: String

    /// - Parameter columns: width of the terminal.
    init(_ utterance: Utterance, columns: Int = Terminal.width) {
        let level = TakeCheck(utterance).level
        let numbers = "\(decimal(utterance.seconds, 2)) s  \(left(decimal(level, 0), 3)) dB"
        let isNarrow = columns < Self.narrow
        // Two columns for the edges. The last column stays empty: some terminals wrap a line that fills it.
        let width = max(4, columns - 3 - (isNarrow ? 0 : Core.columns(numbers) + 2))
        let bar = "▕" + Self.envelope(utterance, width: width) + "▏"
        text = isNarrow ? bar + "\n" + numbers : bar + "  " + numbers
    }

    private static func envelope(_ utterance: Utterance, width: Int) -> String {
        String(utterance.envelope(width).map { marks[Int(($0 * Double(marks.count - 1)).rounded())] })
    }
}
