import Capture
import Core
import Daemon
import Events
private import Glibc
import Spotting
import Synchronization
import System

/// The output of `listen`: one line per event and, on a terminal, a live meter below the lines.
///
/// A stalled reader of standard output delays nothing: lines that find no room are dropped, counted and reported.
final class LiveScreen: EventSink {
    /// What the writer's thread shows and ends; it lives longer than the daemon.
    private final class Link: Sendable {
        private struct State {
            weak var daemon: Daemon?
        }

        private let state = Mutex(State())

        var daemon: Daemon? {
            get { state.withLock { $0.daemon } }
            set { state.withLock { $0.daemon = newValue } }
        }
    }

    /// Standard output.
    let output: LineWriter
    private let json: Bool
    private let link: Link

    /// - Parameter log: gets the number of dropped lines.
    init(json: Bool, log: ServiceLog) throws {
        self.json = json
        let link = Link()
        self.link = link
        var settings = LineWriter.Settings()
        settings.resumed = { dropped in
            log.write(.warning, "standard output: \(dropped) lines were dropped, as its reader did not read them")
            return nil
        }
        settings.failed = { number in
            Output.note(failure: number)
            if Output.hasFailed { link.daemon?.end() }
        }
        if !json, Terminal.outputIsTerminal { settings.footer = { link.daemon.map(Self.meter) ?? [] } }
        output = try LineWriter(STDOUT_FILENO, name: "beckon-screen", settings: settings)
    }

    /// From now on the meter shows this daemon, and a failed write ends it.
    func show(_ daemon: Daemon) {
        link.daemon = daemon
        if Output.hasFailed { daemon.end() }
    }

    func receive(_ event: DetectionEvent) {
        if json {
            output.write("\(event.json)\n")
        } else {
            guard !event.kind.isSession else {
                output.write("\(event.date.clockText)  \(event.name): \(event.kind.key)\n")
                return
            }
            let mark = event.kind == .phrasePartial ? " …" : ""
            output.write("\(event.date.clockText)  \(event.name)\(mark)  \(percent(event.confidence))\n")
        }
    }

    private static func meter(_ daemon: Daemon) -> [String] {
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
