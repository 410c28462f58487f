import Capture
import Core
import Daemon
private import Dispatch
import Events
import Spotting
import Synchronization
import System

/// The output of `listen`: one line per event and, on a terminal, a live meter below the lines.
///
/// It writes on its own thread, so that a stalled reader of standard output blocks only this thread. Lines beyond the
/// capacity are dropped then.
final class LiveScreen: EventSink {
    private struct State {
        var waiting: [String] = []
        var isStopped = false
    }

    /// The largest number of lines that wait.
    private static let capacity = 1024

    private let json: Bool
    private let showsMeter: Bool
    private let state = Mutex(State())
    private let wakeUp: EventFD
    private let finished = DispatchSemaphore(value: 0)

    init(json: Bool) throws {
        self.json = json
        showsMeter = !json && Terminal.outputIsTerminal
        wakeUp = try EventFD(or: { $0 })
    }

    /// Starts the thread.
    func start(showing daemon: Daemon) throws {
        let body: @Sendable () -> Void = { [self, weak daemon] in
            run(meter: { daemon.map(meter) ?? [] }, failed: { daemon?.end() })
            finished.signal()
        }
        _ = try SystemThread(name: "beckon-screen", stackSize: 512 << 10, or: { $0 }, body)
    }

    /// Prints the waiting lines and ends the thread; waits at most 500 ms for it.
    func stop() {
        state.withLock { $0.isStopped = true }
        wakeUp.signal()
        _ = finished.wait(timeout: .now() + .milliseconds(500))
    }

    func receive(_ event: DetectionEvent) {
        let text: String
        if json {
            text = "\(event.json)"
        } else {
            let mark = event.kind == .phrasePartial ? " …" : ""
            text = "\(event.date.clockText)  \(event.name)\(mark)  \(percent(event.confidence))"
        }
        state.withLock { if $0.waiting.count < Self.capacity { $0.waiting.append(text) } }
        wakeUp.signal()
    }

    // MARK: - On the screen's thread

    private func run(meter: () -> [String], failed: () -> Void) {
        /// The number of meter lines on the terminal now.
        var shown = 0
        while true {
            // The meter is redrawn every 100 ms; without it only an event wakes the thread.
            wakeUp.wait(until: Clock.now + .milliseconds(showsMeter ? 100 : 60_000))
            let (lines, isStopped) = state.withLock { state in
                defer { state.waiting = [] }
                return (state.waiting, state.isStopped)
            }
            let below = showsMeter && !isStopped ? meter() : []
            // Moves the cursor up to the first line of the meter, and clears from there on.
            let erasing = shown > 0 ? "\u{1B}[\(shown)A\u{1B}[J" : ""
            shown = below.count
            let text = erasing + (lines + below).map { $0 + "\n" }.joined()
            if !text.isEmpty { Output.write(text) }
            if Output.hasFailed { failed() }
            if isStopped { return }
        }
    }

    private func meter(_ daemon: Daemon) -> [String] {
        var result: [String] = []
        if let status = daemon.microphone?.status {
            let level = decibels(amplitude: status.level)
            let warning = status.peak >= 0.99 ? "  too loud" : ""
            let state = status.state == .running ? "" : "  \(status.state)"
            result.append("\(levelBar(level, floor: -70)) \(decimal(level, 0)) dB\(state)\(warning)")
        }
        let classes = zip(daemon.vocabulary.labels, daemon.detectorStatus.scores).map { word, score in
            let name = Labels.isSpecial(word) ? String(word.dropFirst().dropLast()) : word
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
