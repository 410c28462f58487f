import Spotting
import Testing

/// Every rule of the gate as a row of a table: what is heard, and what may come out.
struct GateTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let rule: String
        let heard: String
        var sound: String?
        let fires: String
        var testDescription: String { rule }
    }

    static let early = [
        Row(rule: "silence", heard: "..........", fires: ""),
        Row(rule: "other speech never fires", heard: "...?????...", fires: ""),
        Row(rule: "a word fires once however long it stays", heard: "..UUUUUUUU....", fires: "up@3"),
        Row(rule: "one hop is not stable", heard: "...U......", fires: ""),
        Row(rule: "a word below its threshold", heard: "..uuuuuu....", fires: ""),
        Row(rule: "it fires when it becomes sure", heard: "..uuUUU....", fires: "up@4"),
        Row(rule: "two words that take turns are not stable", heard: "..USUSUSUS....", fires: ""),
        Row(rule: "up … up fires twice", heard: "..UUUUUU......UUUUUU....", fires: "up@3 up@15"),
        Row(rule: "up … up fires twice inside speech", heard: "?UUUUU?????UUUUU???", fires: "up@2 up@12"),
        Row(
            rule: "a short dip of the score does not fire the word again",
            heard: "..UUU??UUUU....",
            fires: "up@3"
        ),
        Row(
            rule: "another word does not re-arm the first",
            heard: "..UUULLUU........",
            fires: "up@3 left@6"
        ),
        Row(
            rule: "words follow each other in one breath",
            heard: "??LLLLL??RRRRR???",
            fires: "left@3 right@10"
        ),
        Row(
            rule: "stop sliding out of the window never gives up",
            heard: "..SSSSSSUUUU......",
            sound: ".#####............",
            fires: "stop@3"
        ),
        Row(
            rule: "nor after some doubt",
            heard: "..SSSS??UUUU......",
            sound: ".#####............",
            fires: "stop@3"
        ),
        Row(
            rule: "stop, then up, said right after it, gives both",
            heard: "..SSSSS??UUUU.....",
            sound: ".#####..####......",
            fires: "stop@3 up@10"
        ),
        Row(
            rule: "long after a word another may fire however quiet it was said",
            heard: "..SSSS..............UUUU....",
            sound: ".#####......................",
            fires: "stop@3 up@21"
        ),
    ]

    @Test(arguments: early)
    func `the early trigger`(_ row: Row) {
        #expect(Trace(row.heard, sound: row.sound).fired() == row.fires)
    }

    static let atEnd = [
        Row(rule: "a word fires when its score falls", heard: "..UUUUUU??....", fires: "up@8"),
        Row(rule: "or when speech ends", heard: "..UUUUUU......", fires: "up@8"),
        Row(rule: "the next word ends the one before", heard: "..LLLLRRRR....", fires: "left@6 right@10"),
        Row(rule: "a doubtful word does not fire", heard: "..uuuuuu......", fires: ""),
    ]

    @Test(arguments: atEnd)
    func `the end trigger`(_ row: Row) {
        var settings = GateSettings()
        settings.trigger = .end
        #expect(Trace(row.heard, sound: row.sound).fired(settings) == row.fires)
    }

    static let command = [
        Row(
            rule: "a word alone fires at the first quiet behind it",
            heard: "......UUUU.........",
            sound: ".....###...........",
            fires: "up@8"
        ),
        Row(rule: "a word that talk goes on from at once", heard: "......UUUU????????....", fires: ""),
        Row(
            rule: "a word that begins a sentence late",
            heard: "....????????UUUU????????....",
            sound: "....###########.########....",
            fires: "up@15"
        ),
        Row(
            rule: "a word deep inside talk",
            heard: "....??????????????????UUUU????????....",
            sound: "....#####################.########....",
            fires: ""
        ),
        Row(
            rule: "one decision an utterance",
            heard: "....UUUULLLL........",
            sound: "...###..###.........",
            fires: "up@6"
        ),
        Row(
            rule: "after a pause too short to be one",
            heard: "....??????????????????UUUU????....",
            sound: "....################..###.####....",
            fires: ""
        ),
        Row(
            rule: "after a pause that the window does not see",
            heard: "....??????????????????UUUU????....",
            sound: "....##############....###.####....",
            fires: "up@25"
        ),
    ]

    @Test(arguments: command)
    func `command mode`(_ row: Row) {
        var settings = GateSettings()
        settings.mode = .command
        #expect(Trace(row.heard, sound: row.sound).fired(settings) == row.fires)
    }

    static let commandAtEnd = [
        Row(
            rule: "a word alone fires once it has been quiet",
            heard: "......UUUUUUU......",
            sound: ".....####..........",
            fires: "up@11"
        ),
        Row(
            rule: "a word that talk goes on from stays shut",
            heard: "......UUUU????????????????......",
            fires: ""
        ),
    ]

    @Test(arguments: commandAtEnd)
    func `command mode at the end`(_ row: Row) {
        var settings = GateSettings()
        settings.mode = .command
        settings.trigger = .end
        #expect(Trace(row.heard, sound: row.sound).fired(settings) == row.fires)
    }

    @Test func `a word that is over is decided a hop ahead`() {
        var settings = GateSettings()
        settings.mode = .command
        let rows: [(heard: String, sound: String, without: String, ahead: String)] = [
            // The threshold is reached, then the stability, only in the hop after the first quiet one.
            ("....uuuU....", "....##......", "up@7", "up@6"),
            ("......UU....", ".....#......", "up@7", "up@6"),
            // What qualifies by itself is not decided twice.
            ("....UUUUU...", "....##......", "up@6", "up@6"),
            // Another word in the next hop; sound in this one; quiet for too long.
            ("....uuuS....", "....##......", "", ""),
            ("....uuUU....", "....###.....", "up@7", "up@7"),
            ("....uuuuuuuuU", "....##.......", "up@12", "up@12"),
            // Only the first word of an utterance.
            ("....UUUsSSS.", "....##......", "up@6", "up@6"),
        ]
        for row in rows {
            let trace = Trace(row.heard, sound: row.sound)
            #expect(trace.fired(settings) == row.without, "\(row.heard)")
            #expect(trace.firedAhead(settings) == row.ahead, "\(row.heard)")
        }
        var spot = settings
        spot.mode = .spot
        var end = settings
        end.trigger = .end
        #expect(spot.foreseenQuiet == nil && end.foreseenQuiet == nil)
    }

    @Test func `nothing heard before a gap fires after it`() {
        // Without the flush the word fires at hop 3; after a flush right before, it needs its stability anew.
        #expect(Trace("..UU......").fired() == "up@3")
        #expect(Trace("..U.......").fired(flushAt: 3) == "")
        #expect(Trace("..UU......").fired(flushAt: 3) == "")
    }

    @Test func `speech starts and ends with hysteresis`() {
        let thresholds = Thresholds(labels: Trace.labels, defaults: [])
        var gate = Gate(settings: GateSettings(), thresholds: thresholds, silence: Trace.silence, hopSeconds: 0.1)
        // P(silence) over time, and whether that is speech: starts below 0.4, ends above 0.7, holds between.
        let table: [(Float, Bool)] = [
            (0.9, false), (0.5, false), (0.41, false), (0.39, true), (0.6, true), (0.69, true), (0.71, false),
            (0.5, false), (0.1, true), (0.95, false),
        ]
        for (silence, speech) in table {
            var scores = [Float](repeating: 0, count: Trace.labels.count)
            scores[Trace.silence] = silence
            scores[Trace.unknown] = 1 - silence
            _ = gate.step(scores, quietSeconds: 0)
            #expect(gate.inSpeech == speech, "P(silence) \(silence)")
        }
    }

    @Test func `each word has its own threshold`() throws {
        var thresholds = Thresholds(labels: Trace.labels, defaults: Trace.labels.map { _ in 0.8 })
        try thresholds.set("up", to: 0.5)
        var gate = Gate(settings: GateSettings(), thresholds: thresholds, silence: Trace.silence, hopSeconds: 0.1)
        var fired: [Int] = []
        for hop in Trace("..uuuu........ssss....").hops {
            if let decision = gate.step(hop.scores, quietSeconds: hop.quietSeconds) { fired.append(decision.label) }
        }
        #expect(fired == [0])
        #expect(throws: SpottingError.unknownWord("", known: [])) { try thresholds.set("maybe", to: 0.5) }
        #expect(throws: SpottingError.unknownWord("", known: [])) { try thresholds.set("_silence_", to: 0.5) }
    }

    @Test func `a vector of another length is not a hop`() {
        let thresholds = Thresholds(labels: Trace.labels, defaults: [])
        var gate = Gate(settings: GateSettings(), thresholds: thresholds, silence: Trace.silence, hopSeconds: 0.1)
        #expect(gate.step([1, 0], quietSeconds: 0) == nil)
        #expect(gate.hop == 0)
    }
}
