private import Core
private import Synchronization

/// A progress bar on standard error; only on a terminal, redrawn at most ten times a second.
final class Progress: Sendable {
    private struct State {
        var done = 0
        var drawn = false
        var last: ContinuousClock.Instant
    }

    private let files: Int
    private let isShown: Bool
    private let state: Mutex<State>

    init(files: Int, isShown: Bool) {
        self.files = files
        self.isShown = isShown
        state = Mutex(State(last: .now))
    }

    /// Finished files, including those that failed.
    var done: Int { state.withLock { $0.done } }

    /// Counts a finished file.
    func finish() {
        state.withLock { $0.done += 1 }
    }

    /// Records the position in a file, and redraws the bar if the last drawing is 100 ms old.
    func report(file: String, seconds: Double, of length: Double) {
        guard isShown else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            guard state.last.duration(to: now) > .milliseconds(100) else { return }
            state.last = now
            state.drawn = true
            let part = length > 0 ? min(1, seconds / length) : 0
            Output.writeError("\r\u{1B}[K" + Self.line(done: state.done, of: files, part: part, name: file))
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

    /// The bar, the share done in percent and the current file, cut to `width` columns.
    static func line(done: Int, of files: Int, part: Double, name: String, width: Int = Terminal.width) -> String {
        let whole = files > 0 ? min(1, (Double(done) + part) / Double(files)) : 0
        let cells = 20
        let full = Int(whole * Double(cells))
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: cells - full)
        let head = "\(bar) \(decimal(whole * 100, 0)) %  \(done)/\(files)  "
        return head + String(printable(name).suffix(max(0, width - head.count - 1)))
    }
}
