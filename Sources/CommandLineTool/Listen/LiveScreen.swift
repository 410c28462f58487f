import Capture
import Core
import Daemon
private import Dispatch
import Events
import Spotting
import Synchronization
import System

/// What `listen` prints: a line an event and, on a terminal, a meter below the lines that moves.
///
/// It writes on a thread of its own, so that a reader that stalls holds up nothing but this; lines that then find no room
/// are dropped.
final class LiveScreen: EventSink {
    private struct State {
        var waiting: [String] = []
        var isStopped = false
    }

    /// Lines that may wait.
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

    /// Prints what waits, for half a second at most, and ends.
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
        /// Lines of the meter that stand on the terminal.
        var shown = 0
        while true {
            // A meter moves often; all else has time.
            wakeUp.wait(until: Clock.now + .milliseconds(showsMeter ? 100 : 60_000))
            let (lines, isStopped) = state.withLock { state in
                defer { state.waiting = [] }
                return (state.waiting, state.isStopped)
            }
            let below = showsMeter && !isStopped ? meter() : []
            // Moves up to where the meter began, and clears what is below.
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
