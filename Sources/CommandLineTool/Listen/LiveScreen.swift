private import Capture
private import Core
import Daemon
import Events
private import Spotting
private import Synchronization

/// What `listen` shows: on a terminal a meter that moves under the words heard, elsewhere a line a word.
final class LiveScreen: Sendable {
    let isShown: Bool
    private let words: [String]
    /// Lines of the meter that stand on the terminal.
    private let lines = Mutex(0)

    init(isShown: Bool, words: [String]) {
        self.isShown = isShown
        self.words = words
    }

    /// One line for something heard.
    func show(_ event: DetectionEvent, json: Bool) {
        let text: String
        if json {
            text = event.json
        } else {
            let mark = event.kind == .phrasePartial ? " …" : ""
            text = "\(event.date.clockText)  \(event.name)\(mark)  \(percent(event.confidence))"
        }
        lines.withLock { lines in
            Terminal.output(erasing(&lines) + text + "\n")
        }
    }

    /// The meter as it is now.
    func show(_ listener: Listener) {
        guard isShown else { return }
        let text = meter(listener)
        lines.withLock { lines in
            let erasing = erasing(&lines)
            lines = text.count
            Terminal.output(erasing + text.map { $0 + "\n" }.joined())
        }
    }

    func clear() { lines.withLock { Terminal.output(erasing(&$0)) } }

    /// Moves up to where the meter began, and clears what is below.
    private func erasing(_ lines: inout Int) -> String {
        defer { lines = 0 }
        return lines > 0 ? "\u{1B}[\(lines)A\u{1B}[J" : ""
    }

    private func meter(_ listener: Listener) -> [String] {
        let heard = listener.detectorStatus
        var result: [String] = []
        if let status = listener.microphone?.status {
            let level = decibels(amplitude: status.level)
            let warning = status.peak >= 0.99 ? "  too loud" : ""
            let state = status.state == .running ? "" : "  \(status.state)"
            result.append("\(levelBar(level, floor: -70)) \(decimal(level, 0)) dB\(state)\(warning)")
        }
        let classes = zip(words, heard.scores).map { word, score in
            let name = word.hasPrefix("_") ? String(word.dropFirst().dropLast()) : word
            return "\(name) \(Int((score * 100).rounded()))"
        }
        for begin in stride(from: 0, to: classes.count, by: 6) {
            let cells = classes[begin..<min(begin + 6, classes.count)].map {
                $0.prefix(12) + String(repeating: " ", count: max(0, 12 - $0.count))
            }
            result.append(cells.joined())
        }
        return result
    }
}
