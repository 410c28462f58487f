import Core

/// A level in dB FS as a bar: empty at `floor` and below, full at 0 dB FS.
func levelBar(_ level: Double, floor: Double, width: Int = 30) -> String {
    let filled = Int((max(0, min(1, 1 - level / floor)) * Double(width)).rounded())
    return "[" + String(repeating: "█", count: filled) + String(repeating: "·", count: width - filled) + "]"
}

/// Shows the current level as a bar on standard error; only on a terminal.
struct LevelMeter {
    func show(_ peak: Float, isOpen: Bool) {
        guard Terminal.errorIsTerminal else { return }
        // A line that fills the terminal would begin another one, and leave this one behind.
        let width = max(4, min(30, Terminal.width - 11))
        let bar = levelBar(decibels(amplitude: peak), floor: -60, width: width)
        Output.writeError("\r\u{1B}[K\(bar) \(isOpen ? "heard …" : "speak")")
    }

    func clear() {
        guard Terminal.errorIsTerminal else { return }
        Output.writeError("\r\u{1B}[K")
    }
}
