import Actions
private import Configuration
import Core
import Daemon
import Events
private import Glibc
private import Input
import IntegrationInterface
import Spotting
import Synchronization
import System

/// The output of `listen`: one line per event and, on a terminal, a panel below the lines.
///
/// A stalled reader of standard output delays nothing: lines that find no room are dropped, counted and reported.
final class LiveScreen: EventSink {
    /// What the writer's thread shows and ends; it lives longer than the daemon.
    private final class Shown: Sendable {
        struct State {
            weak var daemon: Daemon?
            /// The newest first.
            var heard: [(name: String, confidence: Float, time: Instant)] = []
            /// Words by name, for the summary.
            var counts: [String: Int] = [:]
            var heldPeak = -120.0
            var heldSince = Clock.now
            /// With `--once`: what is printed at the end, with its line end.
            var answer = ""
            /// Whether nobody reads standard output any more; whether that ends the program, once it is known.
            var hasNoReader = false
            var endsWithReader: Bool?
        }

        let state = Mutex(State())

        var daemon: Daemon? { state.withLock { $0.daemon } }

        /// Ends the program where nobody reads its output and it does nothing else; otherwise says once that it goes on.
        func noteMissingReader(_ log: ServiceLog) {
            guard let daemon else { return }
            let goesOn = daemon.currentSettings.configuration.doesMoreThanPrint
            let isNew = state.withLock { state in
                guard state.hasNoReader, state.endsWithReader == nil else { return false }
                state.endsWithReader = !goesOn
                return true
            }
            guard isNew else { return }
            guard goesOn else { return daemon.end() }
            log.write(.warning, "standard output: its reader has gone; actions and integrations go on without it")
        }
    }

    /// How long the largest sample is held before its mark falls.
    private static let holdTime = Duration.milliseconds(1500)

    /// Whether standard output is a terminal that can draw a panel.
    static var canDraw: Bool { Terminal.outputIsTerminal && Terminal.canMoveCursor }

    /// Standard output.
    let output: LineWriter
    private let json: Bool
    /// Whether only the word that ends listening is printed.
    private let once: Bool
    /// The name of a file or stream that is played; nil for a microphone.
    private let played: String?
    private let shown: Shown
    private let log: ServiceLog
    /// Nil without a panel.
    private let terminal: PanelTerminal?
    /// Nil unless the journal reads standard output.
    private let journal = Output.outputJournal

    /// - Parameters:
    ///   - once: whether only the word that ends listening is printed.
    ///   - played: the name of a file or stream that is played; nil for a microphone.
    ///   - log: gets the number of dropped lines.
    init(json: Bool, once: Bool, played: String?, log: ServiceLog) throws {
        self.json = json
        self.once = once
        self.played = played
        self.log = log
        let shown = Shown()
        self.shown = shown
        var settings = LineWriter.Settings()
        settings.resumed = { dropped in
            // Nobody could have read them.
            guard !shown.state.withLock({ $0.hasNoReader }) else { return nil }
            let lines = counted(dropped, "line was", "lines were")
            log.write(.warning, "standard output: \(lines) dropped, as its reader did not read them")
            return nil
        }
        settings.failed = { number in
            if number == EPIPE {
                shown.state.withLock { $0.hasNoReader = true }
                shown.noteMissingReader(log)
            }
            Output.note(failure: number)
            if Output.hasFailed { shown.daemon?.end() }
        }
        let terminal = !json && Self.canDraw ? PanelTerminal() : nil
        self.terminal = terminal
        if let terminal {
            settings.frame = { text, isEnding in
                if isEnding { terminal.hide() }
                return terminal.frame(text) { columns, rows in
                    Self.panel(shown).lines(width: columns, height: rows, style: Terminal.panelStyle)
                }
            }
        }
        output = try LineWriter(STDOUT_FILENO, name: "beckon-screen", settings: settings)
    }

    /// Whether the log must be written through ``output``, because it goes to the terminal that the panel is on.
    var takesLog: Bool { terminal != nil && Terminal.errorIsOutput }

    /// From now on the panel shows this daemon, and a failed write ends it.
    func show(_ daemon: Daemon) {
        shown.state.withLock { $0.daemon = daemon }
        if Output.hasFailed { daemon.end() }
        shown.noteMissingReader(log)
    }

    /// Whether the program ends because nobody reads its output.
    var endsWithReader: Bool { shown.state.withLock { $0.endsWithReader ?? false } }

    func receive(_ event: DetectionEvent) {
        guard event.kind != .nearMiss else { return }
        guard !once else {
            // The newest one is the last one, if there is a last one.
            let answer = json ? "\(event.json)\n" : "\(printable(event.name))\n"
            if event.kind == .word || event.kind == .phrase { shown.state.withLock { $0.answer = answer } }
            return
        }
        guard !json else { return write("\(event.json)", event) }
        let isPart = event.kind == .phrasePartial
        // In a file, the time is its own.
        let time = played == nil ? event.date.timeOfDayText : positionText(event.start)
        guard !event.kind.isSession else {
            return write("\(time)  \(printable(event.name)): \(event.kind.key)", event)
        }
        write("\(time)  \(printable(event.name))\(isPart ? " …" : "")  \(percent(event.confidence))", event)
        guard !isPart else { return }
        shown.state.withLock { state in
            state.heard.insert((event.name, event.confidence, Clock.now), at: 0)
            if state.heard.count > 8 { state.heard.removeLast() }
            state.counts[event.name, default: 0] += 1
        }
    }

    func withheld(_ event: DetectionEvent, _ reason: WithheldReason) {
        guard !once, !event.kind.isSession else { return }
        guard !json else { return write("\(event.json(withheld: reason))", event, reason) }
        let time = played == nil ? event.date.timeOfDayText : positionText(event.start)
        let word = "\(printable(event.name))  \(percent(event.confidence))"
        let note =
            switch reason {
            case .yielded(let device): "yielded to \(printable(device))"
            case .ownSpeech: "said by the loudspeaker"
            }
        write("\(time)  \(word)  \(note)", event, reason)
    }

    /// Writes a line about an event; where the journal reads it, as an entry with the event's fields.
    private func write(_ line: String, _ event: DetectionEvent, _ reason: WithheldReason? = nil) {
        let fields = { event.journalFields(withheld: reason) }
        if let journal, (try? journal.write(line, level: .info, fields: fields())) != nil { return }
        output.write(json ? line + "\n" : fitted(line + "\n", columns: Terminal.outputRoom))
    }

    /// Acts on a signal about the terminal: another size, or a stop by Ctrl-Z until the shell continues the program.
    func receive(signal: Int32) {
        if signal == SIGTSTP {
            terminal?.hide()
            output.flush(until: Clock.now + .seconds(1))
            kill(getpid(), SIGSTOP)
            terminal?.show()
        }
        output.refresh()
    }

    /// Erases the panel, writes the summary and ends the writer.
    ///
    /// - Parameter hasFailed: whether an error follows, in place of the summary.
    /// - Returns: the summary where it is not written here, because standard output is for programs to read.
    func end(until time: Instant, hasFailed: Bool = false) -> String? {
        let summary = json || once || hasFailed ? nil : summary
        if once, shown.daemon?.hasFound == true { output.write(shown.state.withLock { $0.answer }) }
        if terminal != nil, let summary { output.write(wrapped(summary, columns: Terminal.outputSize.columns) + "\n") }
        output.finish(until: time)
        terminal?.hide()
        return terminal == nil && played != nil ? summary : nil
    }

    // MARK: - The summary

    /// How much was heard, and how often each word; nil if nothing was.
    private var summary: String? {
        guard let daemon = shown.daemon else { return nil }
        let counts = shown.state.withLock { $0.counts }
        let all = counts.values.reduce(0, +)
        let names = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\(printable($0.key)) \($0.value)" }
        let words = "words: \(all)" + (names.isEmpty ? "" : " (\(names.joined(separator: ", ")))")
        guard let played else {
            let seconds = Double(daemon.hops) * AudioFormat.hopDuration.seconds
            return "listened for \(durationText(seconds)); \(words)"
        }
        return "\(printable(played)): \(positionText(daemon.progress?.seconds ?? 0)) of audio; \(words)"
    }

    // MARK: - The panel, on the writer's thread

    private static func panel(_ shown: Shown) -> LivePanel {
        var panel = LivePanel()
        guard let daemon = shown.daemon else { return panel }
        let settings = daemon.currentSettings
        let live = daemon.live
        panel.live = live
        panel.mode = settings.configuration.gate.mode
        panel.words = settings.thresholds.words.count
        let now = Clock.now
        shown.state.withLock { state in
            if live.peak >= state.heldPeak || now - state.heldSince > holdTime {
                (state.heldPeak, state.heldSince) = (live.peak, now)
            }
            panel.heldPeak = state.heldPeak
            panel.heard = state.heard.map { heard in
                LivePanel.Heard(name: heard.name, confidence: heard.confidence, age: (now - heard.time).seconds)
            }
        }
        return panel
    }
}
