import Core
import Testing

@testable import Spotting

/// Every rule of the gate as a row of a table: the scores hop by hop, the activity, and the words that fire.
struct GateTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let rule: String
        let said: String
        var sound: String?
        let fires: String
        var testDescription: String { rule }
    }

    static let early = [
        Row(rule: "silence", said: "..........", fires: ""),
        Row(rule: "other speech never fires", said: "...?????...", fires: ""),
        Row(rule: "a word fires once however long it stays", said: "..UUUUUUUU....", fires: "up@3"),
        Row(rule: "one hop is not stable", said: "...U......", fires: ""),
        Row(rule: "a word below its threshold does not fire", said: "..uuuuuu....", fires: ""),
        Row(rule: "it fires when its score reaches the threshold", said: "..uuUUU....", fires: "up@4"),
        Row(rule: "two words in alternation are not stable", said: "..USUSUSUS....", fires: ""),
        Row(rule: "up … up fires twice", said: "..UUUUUU......UUUUUU....", fires: "up@3 up@15"),
        Row(rule: "up … up fires twice inside speech", said: "?UUUUU?????UUUUU???", fires: "up@2 up@12"),
        Row(
            rule: "a short dip of the score does not fire the word again",
            said: "..UUU??UUUU....",
            fires: "up@3"
        ),
        Row(
            rule: "another word does not re-arm the first",
            said: "..UUULLUU........",
            fires: "up@3 left@6"
        ),
        Row(
            rule: "two words within one stretch of speech",
            said: "??LLLLL??RRRRR???",
            fires: "left@3 right@10"
        ),
        Row(
            rule: "the residue of stop, sliding out of the window, does not fire up",
            said: "..SSSSSSUUUU......",
            sound: ".#####............",
            fires: "stop@3"
        ),
        Row(
            rule: "nor with other speech between",
            said: "..SSSS??UUUU......",
            sound: ".#####............",
            fires: "stop@3"
        ),
        Row(
            rule: "stop, then up, said right after it, fires both",
            said: "..SSSSS??UUUU.....",
            sound: ".#####..####......",
            fires: "stop@3 up@10"
        ),
        Row(
            rule: "another label of the same sound does not fire",
            said: "..SSUUUU.........",
            sound: ".####............",
            fires: "stop@3"
        ),
        Row(
            rule: "after the residue window a word fires without any sound",
            said: "..SSSS..............UUUU....",
            sound: ".#####......................",
            fires: "stop@3 up@21"
        ),
    ]

    @Test(arguments: early)
    func `the early trigger`(_ row: Row) {
        #expect(ScoreTrace(row.said, sound: row.sound).fired() == row.fires)
    }

    static let atEnd = [
        Row(rule: "a word fires when its score falls", said: "..UUUUUU??....", fires: "up@8"),
        Row(rule: "or when speech ends", said: "..UUUUUU......", fires: "up@8"),
        Row(rule: "the next word ends the one before", said: "..LLLLRRRR....", fires: "left@6 right@10"),
        Row(rule: "a word below its threshold does not fire", said: "..uuuuuu......", fires: ""),
        Row(rule: "a word that goes on to the end of the audio fires there", said: "..UUUUUU", fires: "up@end"),
        Row(rule: "and so does the one after another", said: "..LLLLRRRR", fires: "left@6 right@end"),
        Row(rule: "one that has fired does not fire again", said: "..UUUUUU??", fires: "up@8"),
        Row(rule: "nor one that is not stable yet", said: ".......U", fires: ""),
    ]

    @Test func `a command alone at the end of the audio fires, a word deep inside talk does not`() {
        var settings = GateSettings()
        settings.trigger = .end
        settings.mode = .command
        #expect(ScoreTrace(".....UUUU", sound: ".....####").fired(settings) == "up@end")
        let talk = String(repeating: "?", count: 20)
        #expect(ScoreTrace("....\(talk)UUUU").fired(settings) == "")
    }

    @Test(arguments: atEnd)
    func `the end trigger`(_ row: Row) {
        var settings = GateSettings()
        settings.trigger = .end
        #expect(ScoreTrace(row.said, sound: row.sound).fired(settings) == row.fires)
    }

    static let command = [
        Row(
            rule: "a word alone fires at the first quiet after it",
            said: "......UUUU.........",
            sound: ".....###...........",
            fires: "up@8"
        ),
        Row(rule: "a word with talk right after it does not fire", said: "......UUUU????????....", fires: ""),
        Row(
            rule: "a word in the first 1.6 s of an utterance, with quiet after it, fires",
            said: "....????????UUUU????????....",
            sound: "....###########.########....",
            fires: "up@15"
        ),
        Row(
            rule: "a word deep inside talk does not fire",
            said: "....??????????????????UUUU????????....",
            sound: "....#####################.########....",
            fires: ""
        ),
        Row(
            rule: "one detection per utterance",
            said: "....UUUULLLL........",
            sound: "...###..###.........",
            fires: "up@6"
        ),
        Row(
            rule: "after a pause shorter than quietBefore",
            said: "....??????????????????UUUU????....",
            sound: "....################..###.####....",
            fires: ""
        ),
        Row(
            rule: "after a pause that only the activity shows",
            said: "....??????????????????UUUU????....",
            sound: "....##############....###.####....",
            fires: "up@25"
        ),
    ]

    @Test(arguments: command)
    func `command mode`(_ row: Row) {
        var settings = GateSettings()
        settings.mode = .command
        #expect(ScoreTrace(row.said, sound: row.sound).fired(settings) == row.fires)
    }

    static let commandAtEnd = [
        Row(
            rule: "a word alone fires after quietAfter",
            said: "......UUUUUUU......",
            sound: ".....####..........",
            fires: "up@11"
        ),
        Row(
            rule: "a word with talk after it does not fire",
            said: "......UUUU????????????????......",
            fires: ""
        ),
    ]

    @Test(arguments: commandAtEnd)
    func `command mode at the end`(_ row: Row) {
        var settings = GateSettings()
        settings.mode = .command
        settings.trigger = .end
        #expect(ScoreTrace(row.said, sound: row.sound).fired(settings) == row.fires)
    }

    @Test func `a word said alone has levels of its own`() {
        func settings(_ mode: DetectionMode) -> GateSettings {
            var settings = GateSettings()
            settings.mode = mode
            return settings
        }
        let rows: [(mode: DetectionMode, least: Float, immediate: Float, said: String, sound: String, fires: String)] =
            [
                // At the first quiet, or if its score is low when it is over; by its best hop, with the threshold of its own.
                (.spot, 0.5, 0.55, "......uuuuuuuuu....", ".....####..........", "up@9"),
                (.spot, 0.5, 0.65, "......uuuuuuuuu....", ".....####..........", "up@11"),
                (.spot, 0.5, 0.65, "......uuuu?????....", ".....####..........", "up@11"),
                (.spot, 0.5, 0.65, "......uuuu.........", ".....####..........", "up@10"),
                (.spot, 0.61, 0.65, "......uuuuuuuuu....", ".....####..........", ""),
                // With a high score at once, as ever, and not again at its end.
                (.spot, 0.5, 0.55, "......UUUUUUUUu....", ".....####..........", "up@7"),
                // In the middle of talk only with a high score.
                (.spot, 0.5, 0.55, "....??uuuu?????....", "....###########....", ""),
                (.spot, 0.5, 0.55, "....??UUUU?????....", "....###########....", "up@7"),
                // The beginning of a sentence has a pause that is too short for a low score.
                (.spot, 0.5, 0.65, "......uuuuu????????????....", ".....####..############....", ""),
                (.command, 0.8, 0.9, "......UUUU????????????....", ".....###..############....", "up@8"),
                (.command, 0.8, 0.97, "......UUUU????????????....", ".....###..############....", ""),
                (.command, 0.8, 0.97, "......UUUU.........", ".....###...........", "up@10"),
                // Another word that fires meanwhile is the only one.
                (.command, 0.8, 0.97, "......UUUSSSSS......", ".....########.......", "stop@13"),
            ]
        for row in rows {
            let levels = Gate.AloneLevels(least: row.least, immediate: row.immediate)
            let fired = ScoreTrace(row.said, sound: row.sound).fired(settings(row.mode), alone: levels)
            #expect(fired == row.fires, "\(row)")
        }
    }

    @Test func `in noise that hides the pauses a word said alone stands out by its level`() {
        var settings = GateSettings()
        settings.mode = .command
        let lead = String(repeating: "?", count: 24)
        let sound = String(repeating: "#", count: 40)
        let rows: [(said: String, levels: String, fires: String)] = [
            ("????UUUUU???????", "3333666333333333", "up@32"),
            // A soft sound after it is another word.
            ("????UUUUU???????", "3333666566666333", ""),
            // So is one before it.
            ("???????UUUUU????", "6663336663333333", ""),
            // With a low score it has to be over.
            ("????uuuuu???????", "3333666333333333", "up@34"),
            ("????uuuuu???????", "3333666336666633", ""),
            // Noise alone.
            ("????UUUUU???????", "3333333333333333", ""),
        ]
        for row in rows {
            let trace = ScoreTrace(
                lead + row.said,
                sound: sound,
                levels: String(repeating: "3", count: 24) + row.levels
            )
            #expect(trace.fired(settings, alone: Gate.AloneLevels(least: 0.5, immediate: 0.9)) == row.fires, "\(row)")
            #expect(trace.fired(settings) == "", "not a word of the model: \(row)")
        }
    }

    @Test func `a word that is over is decided one hop ahead`() {
        var settings = GateSettings()
        settings.mode = .command
        let rows: [(said: String, sound: String, without: String, ahead: String)] = [
            // Only the hop after the first quiet one reaches the threshold (first row) or the stability (second row).
            ("....uuuU....", "....##......", "up@7", "up@6"),
            ("......UU....", ".....#......", "up@7", "up@6"),
            // A word that has fired without lookahead does not fire again by lookahead.
            ("....UUUUU...", "....##......", "up@6", "up@6"),
            // Another word in the next hop; sound in this hop; quiet for too long.
            ("....uuuS....", "....##......", "", ""),
            ("....uuUU....", "....###.....", "up@7", "up@7"),
            ("....uuuuuuuuU", "....##.......", "up@12", "up@12"),
            // Only the first word of an utterance fires.
            ("....UUUsSSS.", "....##......", "up@6", "up@6"),
        ]
        for row in rows {
            let trace = ScoreTrace(row.said, sound: row.sound)
            #expect(trace.fired(settings) == row.without, "\(row.said)")
            #expect(trace.fired(settings, looksAhead: true) == row.ahead, "\(row.said)")
        }
        var spot = settings
        spot.mode = .spot
        var end = settings
        end.trigger = .end
        #expect(spot.lookaheadQuiet() == nil && end.lookaheadQuiet() == nil)
    }

    @Test func `nothing from before a flush fires after it`() {
        // Without a flush the word fires at hop 3; after one, it must win two hops again.
        #expect(ScoreTrace("..UU......").fired() == "up@3")
        #expect(ScoreTrace("..U.......").fired(flushAt: 3) == "")
        #expect(ScoreTrace("..UU......").fired(flushAt: 3) == "")
    }

    @Test func `speech starts and ends with hysteresis`() {
        let thresholds = Thresholds(labels: ScoreTrace.labels, defaults: [])
        var gate = Gate(settings: GateSettings(), thresholds: thresholds, silence: ScoreTrace.silence, hopSeconds: 0.1)
        let speaking = ScoreTrace("?").hops[0].activity
        // P(silence) by hop, and whether the gate is in speech: it starts below 0.4, ends above 0.7, and holds between.
        let table: [(Float, Bool)] = [
            (0.9, false), (0.5, false), (0.41, false), (0.39, true), (0.6, true), (0.69, true), (0.71, false),
            (0.5, false), (0.1, true), (0.95, false),
        ]
        for (silence, speech) in table {
            var scores = [Float](repeating: 0, count: ScoreTrace.labels.count)
            scores[ScoreTrace.silence] = silence
            scores[ScoreTrace.unknown] = 1 - silence
            _ = gate.step(scores, activity: speaking)
            #expect(gate.inSpeech == speech, "P(silence) \(silence)")
        }
    }

    @Test func `each word has its own threshold`() throws {
        var thresholds = Thresholds(labels: ScoreTrace.labels, defaults: ScoreTrace.labels.map { _ in 0.8 })
        try thresholds.set("up", to: 0.5)
        var gate = Gate(settings: GateSettings(), thresholds: thresholds, silence: ScoreTrace.silence, hopSeconds: 0.1)
        var fired: [Int] = []
        for hop in ScoreTrace("..uuuu........ssss....").hops {
            if let detection = gate.step(hop.scores, activity: hop.activity) { fired.append(detection.index) }
        }
        #expect(fired == [0])
        #expect(throws: SpottingError.unknownWord("", known: [])) { try thresholds.set("maybe", to: 0.5) }
        #expect(throws: SpottingError.unknownWord("", known: [])) { try thresholds.set("_silence_", to: 0.5) }
    }

    @Test func `a word begins with the sound before its first hop`() throws {
        // The bounds in hops. What follows 0.2 s of quiet is the end of the word where the word was ahead before it, and
        // another sound where it was not.
        let table: [(said: String, sound: String, bounds: ClosedRange<Int>)] = [
            ("....uuuUU...", "..####......", 2...6),
            ("....uuuuuUU.", "..####..#...", 2...6),
            ("........uuUU", "..####..##..", 8...10),
            // The sound that begins with the hop, after another one that has long been over.
            ("........uuUU", "##.......##.", 9...11),
        ]
        for row in table {
            let thresholds = Thresholds(labels: ScoreTrace.labels, defaults: [])
            let silence = ScoreTrace.silence
            var gate = Gate(settings: GateSettings(), thresholds: thresholds, silence: silence, hopSeconds: 0.1)
            let hops = ScoreTrace(row.said, sound: row.sound).hops
            let fired = hops.compactMap { gate.step($0.scores, activity: $0.activity) }
            let word = try #require(fired.first, "\(row.said)")
            #expect(Int((word.start * 10).rounded()) == row.bounds.lowerBound, "\(row.said): \(word.start)")
            #expect(Int((word.end * 10).rounded()) == row.bounds.upperBound, "\(row.said): \(word.end)")
        }
    }

    @Test func `a vector of another length is ignored`() {
        let thresholds = Thresholds(labels: ScoreTrace.labels, defaults: [])
        var gate = Gate(settings: GateSettings(), thresholds: thresholds, silence: ScoreTrace.silence, hopSeconds: 0.1)
        #expect(gate.step([1, 0], activity: ActivityHistory()) == nil)
        #expect(gate.hop == 0)
    }
}
