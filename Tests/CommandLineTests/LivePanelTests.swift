import Core
import IntegrationInterface
import Testing

@testable import CommandLineTool

/// The panel of `beckon listen` as a function of state and size.
struct LivePanelTests {
    private static let unicode = LivePanel.Style(hasColour: false, isUnicode: true)
    private static let ascii = LivePanel.Style(hasColour: false, isUnicode: false)

    private static func score(_ name: String, _ score: Float, _ threshold: Float? = nil) -> LiveState.Class {
        LiveState.Class(name: name, kind: .word, score: score, threshold: threshold, isInSession: false)
    }

    private static let panel: LivePanel = {
        var panel = LivePanel()
        panel.live.source = "hw:CARD=Device,DEV=0"
        panel.live.rate = 48_000
        panel.words = 12
        (panel.live.level, panel.heldPeak) = (-21.4, -7)
        panel.live.classes = [
            score("yes", 0.02, 0.5), score("left", 0.97, 0.6),
            score("smart mirror", 0.01, 0.8),
            score("日本語の鏡", 0.31, 0.75),
            score(Labels.unknown, 0.11), score(Labels.silence, 0),
        ]
        panel.heard = [
            .init(name: "left", confidence: 0.97, age: 2.4), .init(name: "日本語の鏡", confidence: 0.88, age: 75),
            .init(name: "smart mirror", confidence: 0.91, age: 3700),
        ]
        return panel
    }()

    private static func lines(_ change: (inout LivePanel) -> Void = { _ in }, _ width: Int, _ height: Int = 24)
        -> [String]
    {
        var panel = panel
        change(&panel)
        return panel.lines(width: width, height: height, style: unicode)
    }

    @Test func `no line is wider than the terminal, and one row is left for messages`() {
        var panels = [Self.panel, LivePanel()]
        for trouble in ["muted", "lost; waiting for it"] {
            var panel = Self.panel
            panel.live.problem = trouble
            panels.append(panel)
        }
        var file = Self.panel
        (file.live.source, file.live.position, file.live.length) = (
            "recordings/日本語/a long name of a file.wav", 3725.5, 7300
        )
        file.live.peak = 0
        file.live.classes[0].score = .nan
        panels.append(file)
        file.live.length = nil
        panels.append(file)
        for panel in panels {
            for width in Array(1...45) + [60, 80, 140, 300] {
                // All heights at each third width, which is soon enough for an edge that moves by one.
                for height in 0...12 where width % 3 == 0 || height % 4 == 0 {
                    let lines = panel.lines(width: width, height: height, style: Self.unicode)
                    #expect(lines.allSatisfy { columns($0) <= width }, "\(width): \(lines)")
                    #expect(lines.count <= max(0, height - 1))
                    let plain = panel.lines(width: width, height: height, style: Self.ascii)
                    #expect(plain.allSatisfy { columns($0) <= width }, "\(width): \(plain)")
                }
            }
        }
    }

    /// The whole panel at each width.
    static let drawings: [(width: Int, lines: [String])] = [
        (
            20,
            [
                "hw:CARD=Device,DEV=0",
                "level  ███·│  -21 dB",
                "left   ███│█    97 %",
                "日本…  ██·│·    31 %",
                "other… █····    11 %",
                "last   left 97 % 2 s",
            ]
        ),
        (
            40,
            [
                "hw:CARD=Device,DEV=0  ·  48000 Hz",
                "level        █████████████····│·  -21 dB",
                "left         ███████████│██████·    97 %",
                "日本語の鏡   ██████········│····    31 %",
                "other speech ██·················    11 %",
                "last         left 97 % 2 s ago",
            ]
        ),
        (
            60,
            [
                "hw:CARD=Device,D…  ·  48000 Hz  ·  command mode  ·  12 words",
                "level        ███████████████████████████········│···  -21 dB",
                "left         ███████████████████████│██████████████·    97 %",
                "日本語の鏡   ████████████·················│·········    31 %",
                "other speech ████···································    11 %",
                "last         left 97 % 2 s ago",
            ]
        ),
        (
            80,
            [
                "hw:CARD=Device,DEV=0  ·  48000 Hz  ·  command mode  ·  12 words",
                "level        █████████████████████████████████████████············│·····  -21 dB",
                "left         ███████████████████████████████████│█████████████████████··    97 %",
                "日本語の鏡   ██████████████████··························│··············    31 %",
                "other speech ██████·····················································    11 %",
                "last         left 97 % 2 s ago  ·  日本語の鏡 88 % 1 min 15 s ago",
            ]
        ),
        (
            140,
            [
                "hw:CARD=Device,DEV=0  ·  48000 Hz  ·  command mode  ·  12 words",
                "level        ███████████████████████████████████████████████████████████████████████████████████························│···········  -21 dB",
                "left         ███████████████████████████████████████████████████████████████████████│███████████████████████████████████████████····    97 %",
                "日本語の鏡   █████████████████████████████████████····················································│·····························    31 %",
                "other speech █████████████··········································································································    11 %",
                "last         left 97 % 2 s ago  ·  日本語の鏡 88 % 1 min 15 s ago  ·  smart mirror 91 % 1 h 1 min ago",
            ]
        ),
    ]

    @Test(arguments: drawings)
    func `the panel at a width`(_ width: Int, lines: [String]) {
        #expect(Self.lines({ _ in }, width) == lines)
    }

    @Test func `in a low terminal what matters least is left out`() {
        let all = Self.lines({ _ in }, 80)
        #expect(all.count == 6)
        func kept(_ height: Int) -> [Int] { Self.lines({ _ in }, 80, height).compactMap { all.firstIndex(of: $0) } }
        // 0 header, 1 level, 2 to 4 classes, 5 last words
        #expect(
            kept(1) == [] && kept(2) == [1] && kept(3) == [1, 2] && kept(4) == [0, 1, 2] && kept(5) == [0, 1, 2, 5]
        )
        #expect(kept(6) == [0, 1, 2, 3, 5] && kept(7) == [0, 1, 2, 3, 4, 5] && kept(50).count == 6)
    }

    @Test func `bars and ticks are where the numbers say`() throws {
        var panel = LivePanel()
        panel.live.classes = [Self.score("go", 0.5, 0.75)]
        func bar(_ line: Int, _ width: Int) throws -> String {
            let lines = panel.lines(width: width, height: 24, style: Self.ascii)
            return try #require(lines[line].firstMatch(of: /[#.|]{4,}/)).output.description
        }
        // 5 columns for the name, 1 blank, 8 for the value.
        #expect(try bar(2, 34) == "##########.....|....")
        panel.live.classes[0].score = 0.75
        #expect(try bar(2, 34) == "###############|....")
        panel.live.classes[0].score = 1
        #expect(try bar(2, 34) == "###############|####")
        (panel.live.level, panel.heldPeak) = (-35, -7)
        #expect(try bar(1, 34) == "##########........|.")
        (panel.live.level, panel.heldPeak) = (-120, -120)
        #expect(try bar(1, 34) == "....................")
        (panel.live.level, panel.heldPeak) = (0, 0)
        #expect(try bar(1, 34) == "###################|")
    }

    @Test func `trouble is said before the facts, and where nothing else fits`() {
        func header(_ width: Int) -> String { Self.lines({ $0.live.problem = "lost; waiting for it" }, width)[0] }
        #expect(header(80) == "hw:CARD=Dev…  ·  lost; waiting for it  ·  48000 Hz  ·  command mode  ·  12 words")
        #expect(header(40) == "hw:CARD=Device…  ·  lost; waiting for it")
        #expect(header(20) == "lost; waiting for it" && header(10) == "lost; wai…")
    }

    @Test func `where a model has confirming networks, the header says whether they confirm`() {
        func end(_ state: ConfirmationState) -> String {
            Self.lines({ $0.live.confirmation = state }, 100)[0].split(separator: "  ·  ").suffix(2).joined(
                separator: "|"
            )
        }
        #expect(end(.on) == "12 words|confirmed" && end(.off) == "12 words|not confirmed")
        #expect(end(.missing) == "command mode|12 words")
    }

    @Test func `a file shows its time and its position`() {
        func line(_ width: Int, _ length: Double?) -> String {
            Self.lines({ ($0.live.position, $0.live.length) = (30, length) }, width)[1]
        }
        #expect(line(20, 120) == "0:30.00 of 2:00.00" && line(60, nil).hasSuffix("0:30.00 of audio"))
    }

    @Test func `colours mark what fires, and are left out where they are not wanted`() {
        let coloured = Self.panel.lines(width: 80, height: 24, style: .init(hasColour: true, isUnicode: true))
        let plain = Self.lines({ _ in }, 80)
        #expect(coloured.map { $0.replacing(/\u{1B}\[[0-9;]*m/, with: "") } == plain)
        #expect(plain.allSatisfy { !$0.contains("\u{1B}") })
        // The first class is above its threshold, the second is not.
        #expect(coloured[2].contains("\u{1B}[32m") && !coloured[3].contains("\u{1B}[32m"))
    }

    @Test func `names cannot break the screen`() {
        let lines = Self.lines({ $0.live.classes[1].name = "le\u{1B}[2Jft\n" }, 80)
        #expect(lines.allSatisfy { !$0.contains("\u{1B}") && !$0.contains("\n") } && lines[2].contains("le?[2Jft?"))
    }
}

/// The bytes that keep a panel below the lines.
struct PanelDrawingTests {
    private var drawing = PanelDrawing()
    private var screen = ScreenEmulator(columns: 20, rows: 8)

    private mutating func show(_ text: String, _ panel: [String], isResized: Bool = false) {
        // A terminal puts a carriage return before each line feed.
        screen.write(drawing.frame(text, above: panel, isResized: isResized).replacing("\n", with: "\r\n"))
    }

    @Test mutating func `lines stay above the panel, which is drawn in place`() {
        show("", ["level 1", "scores 1"])
        #expect(screen.all == ["level 1", "scores 1"] && !screen.showsCursor)
        show("", ["level 22", "scores"])
        show("yes 97 %\nno 88 %\n", ["level 3", "scores"])
        #expect(screen.all == ["yes 97 %", "no 88 %", "level 3", "scores"])
        show("", ["level 4"])
        #expect(screen.all == ["yes 97 %", "no 88 %", "level 4"])
        show("", [])
        #expect(screen.all == ["yes 97 %", "no 88 %"] && screen.showsCursor && screen.unknown == [])
    }

    @Test mutating func `nothing is written while nothing changes`() {
        #expect(drawing.frame("", above: ["a", "b"], isResized: false) != "")
        #expect(drawing.frame("", above: ["a", "b"], isResized: false) == "")
        #expect(drawing.frame("", above: ["a", "b"], isResized: true) != "")
        #expect(
            drawing.frame("", above: [], isResized: true) != "" && drawing.frame("", above: [], isResized: false) == ""
        )
    }

    @Test mutating func `at the bottom of the screen lines scroll, the panel does not`() {
        for number in 1...50 { show("line \(number)\n", ["level \(number)", "scores", "last"]) }
        #expect(screen.rows == (46...50).map { "line \($0)" } + ["level 50", "scores", "last"])
        #expect(screen.scrollback == (1...45).map { "line \($0)" })
    }

    @Test mutating func `a line that is longer than the terminal does not break the panel`() {
        show("", [String(repeating: "x", count: 30), "scores"])
        show("", [String(repeating: "y", count: 30), "scores"])
        #expect(screen.all == [String(repeating: "y", count: 20), "scores"])
        // A message may take two rows.
        show(String(repeating: "m", count: 30) + "\n", ["level", "scores"])
        #expect(
            screen.all == [String(repeating: "m", count: 20), String(repeating: "m", count: 10), "level", "scores"]
        )
    }

    @Test mutating func `another size leaves nothing behind`() {
        show("yes\n", ["level ##############", "scores", "more", "last"])
        screen.resize(columns: 10, rows: 4)
        show("", ["level ####", "scores"], isResized: true)
        #expect(screen.all == ["yes", "level ####", "scores"])
        screen.resize(columns: 40, rows: 8)
        show("no\n", ["level", "scores", "more", "last"], isResized: true)
        #expect(screen.all == ["yes", "no", "level", "scores", "more", "last"])
    }
}
