private import Core
private import Synchronization

/// A bar on standard error for work that takes a while; only on a terminal, redrawn ten times a second at most.
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

    /// Files finished, the failed ones too.
    var done: Int { state.withLock { $0.done } }

    /// One file more is finished.
    func finish() {
        state.withLock { $0.done += 1 }
    }

    /// Says how far a file has come; draws if it is time to.
    func report(file: String, seconds: Double, of length: Double) {
        guard isShown else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            guard state.last.duration(to: now) > .milliseconds(100) else { return }
            state.last = now
            state.drawn = true
            let part = length > 0 ? min(1, seconds / length) : 0
            Terminal.error("\r\u{1B}[K" + Self.line(done: state.done, of: files, part: part, name: file))
        }
    }

    /// Takes the bar away before something else is printed.
    func clear() {
        guard isShown else { return }
        state.withLock { state in
            guard state.drawn else { return }
            state.drawn = false
            Terminal.error("\r\u{1B}[K")
        }
    }

    /// The bar: how much of all is done, then the file at hand, within the terminal's width.
    static func line(done: Int, of files: Int, part: Double, name: String, width: Int = Terminal.width) -> String {
        let whole = files > 0 ? min(1, (Double(done) + part) / Double(files)) : 0
        let cells = 20
        let full = Int(whole * Double(cells))
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: cells - full)
        let head = "\(bar) \(decimal(whole * 100, 0)) %  \(done)/\(files)  "
        return head + String(printable(name).suffix(max(0, width - head.count - 1)))
    }
}
