private import Core
private import Synchronization

/// A progress bar on standard error, with the speed and the time left; only on a terminal, redrawn at most ten times a second.
final class Progress: Sendable {
    private struct State {
        /// Nil while they are being counted.
        var files: Int?
        var done = 0
        /// Files that were done before the start; they cost no time now.
        var doneBefore = 0
        /// Parts of the files that are being processed, 0 to 1.
        var parts: [String: Double] = [:]
        /// Seconds of audio that were processed, without those of ``parts``.
        var audio = 0.0
        var running: [String: Double] = [:]
        var drawn = false
        var last: ContinuousClock.Instant
    }

    /// What the bar shows.
    struct Status {
        var done = 0
        var files: Int?
        /// Share of all work, 0 to 1; nil if unknown.
        var share: Double?
        /// Seconds of audio in a second.
        var speed = 0.0
        /// In seconds; nil if unknown.
        var left: Double?
        var name = ""
    }

    private let isShown: Bool
    private let start: ContinuousClock.Instant
    private let state: Mutex<State>

    /// - Parameter files: their number; nil if it is told later or never.
    init(files: Int?, isShown: Bool) {
        self.isShown = isShown
        start = .now
        state = Mutex(State(files: files, last: start))
    }

    /// Finished files, including those that failed.
    var done: Int { state.withLock { $0.done } }

    var files: Int? { state.withLock { $0.files } }

    /// Tells the number of files.
    func expect(files: Int) { state.withLock { $0.files = files } }

    /// Counts files that were done before the start.
    func skip(_ count: Int) {
        state.withLock { state in
            state.done += count
            state.doneBefore += count
        }
    }

    /// Counts a finished file.
    func finish(file: String = "") {
        state.withLock { state in
            state.done += 1
            guard isShown else { return }
            state.parts[file] = nil
            state.audio += state.running.removeValue(forKey: file) ?? 0
        }
    }

    /// Records the position in a file, and redraws the bar if the last drawing is 100 ms old.
    func report(file: String, seconds: Double, of length: Double) {
        guard isShown else { return }
        state.withLock { state in
            state.parts[file] = length > 0 ? min(1, seconds / length) : 0
            state.running[file] = seconds
            let now = ContinuousClock.now
            guard state.last.duration(to: now) > .milliseconds(100) else { return }
            state.last = now
            state.drawn = true
            let status = Self.status(state, elapsed: start.duration(to: now) / .seconds(1), name: file)
            Output.writeError("\r\u{1B}[K" + Self.line(status))
        }
    }

    /// Erases the bar before other output.
    func clear() {
        guard isShown else { return }
        state.withLock { state in
            guard state.drawn else { return }
            state.drawn = false
            Output.writeError("\r\u{1B}[K")
        }
    }

    private static func status(_ state: State, elapsed: Double, name: String) -> Status {
        let audio = state.audio + state.running.values.reduce(0, +)
        var status = Status(done: state.done, files: state.files, speed: elapsed > 0 ? audio / elapsed : 0, name: name)
        guard let files = state.files, files > 0 else { return status }
        let work = Double(state.done) + state.parts.values.reduce(0, +)
        status.share = min(1, work / Double(files))
        let now = work - Double(state.doneBefore)
        // The first seconds say little.
        if elapsed > 2, now > 0 { status.left = elapsed * max(0, Double(files) - work) / now }
        return status
    }

    /// The bar, the share done in percent, speed, time left and the current file, cut to `width` columns.
    static func line(_ status: Status, width: Int = Terminal.width) -> String {
        let cells = 20
        var parts: [String] = []
        if let share = status.share {
            let full = Int(share * Double(cells))
            let bar = String(repeating: "█", count: full) + String(repeating: "░", count: cells - full)
            parts.append("\(bar) \(decimal(share * 100, 0)) %")
        }
        parts.append(status.files.map { "\(status.done)/\($0)" } ?? counted(status.done, "file"))
        if status.speed >= 1 { parts.append("\(decimal(status.speed, 0)) × real time") }
        if let left = status.left { parts.append("\(durationText(left)) left") }
        let head = String((parts.joined(separator: "  ") + "  ").prefix(max(0, width - 1)))
        return head + String(printable(status.name).suffix(max(0, width - head.count - 1)))
    }
}
