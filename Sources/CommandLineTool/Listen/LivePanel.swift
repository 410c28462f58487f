import Core
import IntegrationInterface
import Spotting

/// What `beckon listen` shows below its lines on a terminal, as a pure function of the state: ``lines(width:height:style:)``.
///
///     hw:CARD=Mic  ·  48000 Hz  ·  command mode  ·  10 words
///     level        ██████████████████████··│····  -21 dB
///     left         ██████████████████│█████████·    97 %
///     other speech █····························     3 %
///     right        ··················│··········     0 %
///     last         left 97 % 2 s ago  ·  right 88 % 14 s ago
struct LivePanel {
    /// A word that was detected.
    struct Heard {
        var name: String
        var confidence: Float
        /// Seconds ago.
        var age: Double
    }

    /// How a panel may be drawn.
    struct Style {
        var hasColour: Bool
        /// Whether the terminal shows more than ASCII.
        var isUnicode: Bool
    }

    /// What the service hears.
    var live = LiveState()
    var mode = DetectionMode.command
    /// Number of words that may be detected.
    var words = 0
    /// The largest sample, held for a while, in dBFS.
    var heldPeak = -120.0
    /// The newest first.
    var heard: [Heard] = []

    /// The level at which the bar is empty, in dBFS.
    static let floor = -70.0

    /// The panel's lines for a terminal of this size: none wider than `width` columns, and fewer than `height`, so that a line
    /// is left for messages. What matters least is left out where there is no room.
    func lines(width: Int, height: Int, style: Style) -> [String] {
        let drawing = Drawing(panel: self, width: width, style: style)
        let best = live.classes.sorted { $0.score > $1.score }.prefix(3)
        // From the top; the number says what is kept longest.
        var rows: [(rank: Int, line: StyledText)] = [(2, drawing.header)]
        if let position = live.position { rows.append((position < 0 ? 6 : 3, drawing.progress(position))) }
        rows.append((0, drawing.levelLine))
        for (index, score) in best.enumerated() { rows.append(([1, 5, 6][index], drawing.line(score))) }
        rows.append((4, drawing.lastWords))
        let kept = Set(rows.indices.sorted { rows[$0].rank < rows[$1].rank }.prefix(max(0, height - 1)))
        return rows.indices.filter(kept.contains).map { index in
            rows[index].line.rendered(room: width, hasColour: style.hasColour)
        }
    }
}

/// The lines of a panel at a width.
private struct Drawing {
    let panel: LivePanel
    let width: Int
    let style: LivePanel.Style

    private var live: LiveState { panel.live }
    private var source: String { live.source.isEmpty ? "no microphone yet" : live.source }
    private var separator: String { style.isUnicode ? "  ·  " : "  |  " }

    // MARK: - Lines

    var header: StyledText {
        var facts: [(String, StyledText.Style)] = live.problem.map { [($0, .bad)] } ?? []
        if let rate = live.rate { facts.append(("\(rate) Hz", .dim)) }
        facts.append(("\(panel.mode.rawValue) mode", .dim))
        facts.append((counted(panel.words, "word"), .dim))
        switch live.confirmation {
        case .on: facts.append(("confirmed", .dim))
        case .off: facts.append(("not confirmed", .dim))
        case .missing: break
        }
        // Facts are left out from the last on; the name is cut.
        func size(_ count: Int) -> Int { facts.prefix(count).reduce(0) { $0 + separator.count + columns($1.0) } }
        let least = min(columns(source), 12)
        let fit = (0...facts.count).last { width - size($0) >= least } ?? 0
        var line = StyledText(fitted(source, width - size(fit)), .bold)
        for (text, style) in facts.prefix(fit) {
            line.add(separator, .dim)
            line.add(text, style)
        }
        // Where nothing is heard, that matters more than the device's name.
        if fit == 0, let trouble = live.problem { return StyledText(fitted(trouble, width), .bad) }
        return line
    }

    func progress(_ position: Double) -> StyledText {
        let length = live.length.map { " of \(positionText($0))" } ?? " of audio"
        var line = StyledText(pad("at", nameWidth + 1))
        let text = positionText(position) + length
        let room = width - line.width - columns(text) - 2
        if let length = live.length, length > 0, room >= 6 {
            line.add(bar(room, position / length, tick: nil, .plain))
            line.add("  ")
        }
        line.add(text)
        return width >= line.width ? line : StyledText(fitted(text, width))
    }

    var levelLine: StyledText {
        func share(_ level: Double) -> Double { max(0, min(1, 1 - level / LivePanel.floor)) }
        return barLine(
            "level",
            // As wide as the level, so that the bar does not move.
            live.isTooLoud ? "too loud" : left("\(decimal(live.level, 0)) dB", 8),
            share(live.level),
            tick: panel.heldPeak > LivePanel.floor ? share(panel.heldPeak) : nil,
            live.isTooLoud ? .bad : .good
        )
    }

    func line(_ score: LiveState.Class) -> StyledText {
        let fires = score.threshold.map { score.score >= $0 } ?? false
        return barLine(
            Self.title(score.name),
            left(percent(score.score), 8),
            Double(score.score),
            tick: score.threshold.map(Double.init),
            fires ? .good : .plain
        )
    }

    var lastWords: StyledText {
        var line = StyledText(fitted(pad("last", nameWidth + 1), width))
        guard !panel.heard.isEmpty else {
            line.add(fitted(live.position == nil ? "say a word" : "no word yet", width - line.width), .dim)
            return line
        }
        for (index, heard) in panel.heard.enumerated() {
            var next = StyledText(index == 0 ? "" : separator, .dim)
            next.add(heard.name, .bold)
            next.add(" \(percent(heard.confidence))")
            next.add(" \(durationText(heard.age)) ago", .dim)
            if index > 0, line.width + next.width > width { break }
            line.add(next)
        }
        return line
    }

    // MARK: - Parts

    /// The column of names: wide enough for all classes, so that the bars do not move, but at most a third of the line.
    private var nameWidth: Int {
        let widest = live.classes.map { columns(Self.title($0.name)) }.max() ?? 0
        return max(5, min(widest, width / 3))
    }

    private static func title(_ name: String) -> String {
        switch name {
        case Labels.unknown: "other speech"
        case Labels.silence: "silence"
        default: name
        }
    }

    /// A name, a bar and a value; without the bar where there is no room for it.
    private func barLine(
        _ name: String,
        _ value: String,
        _ share: Double,
        tick: Double?,
        _ style: StyledText.Style
    ) -> StyledText {
        let title = pad(fitted(name, nameWidth), nameWidth)
        let room = width - nameWidth - 1 - columns(value)
        var line = StyledText(title)
        line.add(" ")
        if room >= 4 { line.add(bar(room, share, tick: tick, style)) }
        line.add(value, style == .plain ? .plain : style)
        return line
    }

    private func bar(_ cells: Int, _ share: Double, tick: Double?, _ fill: StyledText.Style) -> StyledText {
        let share = share.isFinite ? max(0, min(1, share)) : 0
        let filled = Int((share * Double(cells)).rounded())
        let mark = tick.map { min(cells - 1, max(0, Int(($0 * Double(cells)).rounded(.down)))) }
        let (full, empty, line) = style.isUnicode ? ("█", "·", "│") : ("#", ".", "|")
        var result = StyledText()
        func run(_ range: Range<Int>) {
            let whole = range.clamped(to: 0..<filled).count
            result.add(String(repeating: full, count: whole), fill)
            result.add(String(repeating: empty, count: range.count - whole), .dim)
        }
        guard let mark else {
            run(0..<cells)
            return result
        }
        run(0..<mark)
        result.add(line, .bold)
        run(mark + 1..<cells)
        return result
    }

    /// The text in at most `width` columns; a mark stands for what was cut.
    private func fitted(_ text: String, _ width: Int) -> String {
        let text = printable(text)
        guard columns(text) > width else { return text }
        guard width > 0 else { return "" }
        return prefix(text, columns: width - 1) + (style.isUnicode ? "…" : "~")
    }
}
