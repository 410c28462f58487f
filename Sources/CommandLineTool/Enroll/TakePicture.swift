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
        let bar = "▕" + Self.envelope(utterance.samples, width: width) + "▏"
        text = isNarrow ? bar + "\n" + numbers : bar + "  " + numbers
    }

    /// The level of each of `width` parts, from 40 dB below the loudest one.
    private static func envelope(_ samples: [Float], width: Int) -> String {
        let levels = (0..<width).map { column in
            let part = samples[column * samples.count / width..<(column + 1) * samples.count / width]
            return decibels(part.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(1, part.count)))
        }
        let most = levels.max() ?? 0
        return String(
            levels.map { level in
                let height = max(0, min(1, (level - most + 40) / 40))
                return marks[Int((height * Double(marks.count - 1)).rounded())]
            }
        )
    }
}
