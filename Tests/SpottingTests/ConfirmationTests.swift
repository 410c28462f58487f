import Core
import Testing

@testable import Spotting

/// What the gate proposes, and what becomes of it with the verdicts of networks.
struct ConfirmationTests {
    /// Verdicts in the order of the looks, such as `up 0.9`; the last one stays.
    private final class Script: ProposalLook {
        var verdicts: [Verdict]
        /// Middle of each word looked at, in samples.
        var middles: [Int] = []
        var posteriors: [[Float]] = []
        var hops: [Int] = []

        init(_ text: String) {
            verdicts = text.split(separator: ",").map { part in
                let words = part.split(separator: " ")
                let label = ScoreTrace.words.firstIndex(of: String(words[0])) ?? 0
                return Verdict(label: label, confidence: Float(words[1]) ?? 0, confirmed: 0.5)
            }
        }

        func look(_ word: ProposedWord, _ posteriors: [Float]) -> Verdict {
            middles.append(word.middle)
            self.posteriors.append(posteriors)
            hops.append(word.hops)
            return verdicts.count > 1 ? verdicts.removeFirst() : verdicts[0]
        }
    }

    private struct Outcome {
        var fired: [String] = []
        var detections: [Detection] = []
        var looks = 0
        var refusals = 0
    }

    /// The words that fire, each with its hop, where networks confirm `confirmed`, from a score of 0.5 on.
    private static func outcome(
        _ said: String,
        sound: String? = nil,
        levels: String? = nil,
        verdicts: Script,
        _ settings: GateSettings = GateSettings(),
        confirmed: [String] = ScoreTrace.words
    ) -> Outcome {
        var handler = ScoreTrace.handler(settings)
        handler.confirm(words: ScoreTrace.labels.map { confirmed.contains($0) ? 0.5 : nil })
        var outcome = Outcome()
        let hops = ScoreTrace(said, sound: sound, levels: levels).hops
        func add(_ detection: Detection, _ place: String) {
            outcome.detections.append(detection)
            let kind = detection.kind == .nearMiss ? "near " : ""
            outcome.fired.append("\(kind)\(ScoreTrace.labels[detection.index])@\(place)")
        }
        for (index, hop) in hops.enumerated() {
            handler.process(HopScores(posteriors: hop.scores), activity: hop.activity, looks: verdicts) {
                add($0, "\(index)")
            }
        }
        if let last = hops.last { handler.finish(activity: last.activity, looks: verdicts) { add($0, "end") } }
        outcome.looks = handler.looks
        outcome.refusals = handler.refusals
        return outcome
    }

    private static var settings: GateSettings {
        var settings = GateSettings()
        settings.smoothing = 1
        settings.longestConfirmation = 3
        return settings
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let rule: String
        let said: String
        let verdicts: String
        let fires: String
        let looks: Int
        var testDescription: String { rule }
    }

    static let rows = [
        Row(rule: "nothing is looked at without a word", said: "..????....", verdicts: "up 0.9", fires: "", looks: 0),
        Row(rule: "a confirmed word fires at once", said: "..UUUUUU....", verdicts: "up 0.9", fires: "up@3", looks: 1),
        Row(
            rule: "a refused word is looked at three times",
            said: "..UUUUUU....",
            verdicts: "up 0.7",
            fires: "",
            looks: 3
        ),
        Row(
            rule: "a later look may confirm it",
            said: "..UUUUUU....",
            verdicts: "up 0.7,up 0.9",
            fires: "up@4",
            looks: 2
        ),
        Row(rule: "a low score is proposed", said: "..uuuuuu....", verdicts: "up 0.9", fires: "up@3", looks: 1),
        Row(rule: "one below the level is not", said: "..pppppp....", verdicts: "up 0.9", fires: "", looks: 0),
        Row(
            rule: "a word is proposed beside a higher other speech",
            said: "..bbbbbb....",
            verdicts: "up 0.9",
            fires: "up@3",
            looks: 1
        ),
        Row(
            rule: "the verdict may be another word",
            said: "..UUUUUU....",
            verdicts: "stop 0.9,stop 0.9",
            fires: "stop@3",
            looks: 3
        ),
        Row(rule: "one hop is not stable", said: "...U......", verdicts: "up 0.9", fires: "", looks: 0),
        Row(
            rule: "a word that fired is not looked at until it is armed",
            said: "..UUUUUU......UUUUUU....",
            verdicts: "up 0.9",
            fires: "up@3 up@15",
            looks: 2
        ),
    ]

    @Test(arguments: rows) func `proposals and verdicts`(_ row: Row) {
        let outcome = Self.outcome(row.said, verdicts: Script(row.verdicts), Self.settings)
        #expect(outcome.fired.joined(separator: " ") == row.fires)
        #expect(outcome.looks == row.looks)
    }

    @Test func `a detection tells both parts, and the look is at the middle of the word`() throws {
        let script = Script("up 0.9")
        let outcome = Self.outcome("...uuuuuuu....", sound: "..####........", verdicts: script, Self.settings)
        let word = try #require(outcome.detections.first)
        #expect(word.confidence == 0.9 && word.proposed == 0.6 && word.confirmed == 0.5 && word.threshold == 0.8)
        #expect(script.middles == [Int(((word.start + word.end) / 2 * 16_000).rounded())])
        #expect(script.posteriors == [[0.6, 0.01, 0.01, 0.01, 0.36, 0.01]])
        let plain = Self.outcome("...UUUUUU....", verdicts: Script("up 0.1"), Self.settings, confirmed: ["stop"])
        let unconfirmed = try #require(plain.detections.first)
        #expect(unconfirmed.confidence == 0.95 && unconfirmed.proposed == nil && unconfirmed.confirmed == nil)
        #expect(plain.looks == 0, "a word that no network knows needs no look")
    }

    @Test func `a look knows for how many hops the word has been the likeliest`() {
        let script = Script("up 0.1")
        _ = Self.outcome("..UUUUUU??SSSS....", verdicts: script, Self.settings)
        #expect(script.hops == [2, 3, 4, 2, 3, 4])
        var settings = Self.settings
        settings.trigger = .end
        let end = Script("up 0.1")
        _ = Self.outcome("..UUUUUU??....", verdicts: end, settings)
        #expect(end.hops == [7], "of the hop at which it is over")
    }

    @Test func `at the end trigger one look decides, also where the audio ends`() {
        var settings = Self.settings
        settings.trigger = .end
        func fired(_ said: String, _ verdicts: String) -> (String, Int) {
            let outcome = Self.outcome(said, verdicts: Script(verdicts), settings)
            return (outcome.fired.joined(separator: " "), outcome.looks)
        }
        #expect(fired("..UUUUUU??....", "up 0.9") == ("up@8", 1))
        #expect(fired("..UUUUUU??....", "up 0.7") == ("", 1))
        #expect(fired("..UUUUUU", "stop 0.9") == ("stop@end", 1))
    }

    @Test func `a word that is decided at its end is fused with its best score`() {
        var settings = Self.settings
        settings.trigger = .end
        for said in ["..UUUUUUb??....", "..uUUUUUbbb"] {
            let script = Script("up 0.9")
            let outcome = Self.outcome(said, verdicts: script, settings)
            #expect(outcome.detections.first?.proposed == 0.95)
            #expect(script.posteriors.first?.first == 0.95, "that of the hop before it faded")
        }
        let script = Script("stop 0.9,left 0.9")
        _ = Self.outcome("..SSSSLLLL....", verdicts: script, settings)
        #expect(script.posteriors.map { $0[1] > 0.9 } == [true, false], "the next word has its own")
    }

    @Test func `a low threshold proposes no word beside a higher other speech`() {
        var handler = ScoreTrace.handler(Self.settings, threshold: 0.001)
        handler.confirm(words: ScoreTrace.labels.map { ScoreTrace.words.contains($0) ? 0.5 : nil })
        let script = Script("stop 0.9")
        for hop in ScoreTrace("..??????..UUUUUU...").hops {
            handler.process(HopScores(posteriors: hop.scores), activity: hop.activity, looks: script) { _ in }
        }
        #expect(script.posteriors.allSatisfy { $0[0] == 0.95 } && !script.posteriors.isEmpty)
    }

    @Test func `a taught word that is refused at the first quiet is looked at again when it is over`() {
        var settings = Self.settings
        settings.mode = .command
        // Said, quiet, the verdicts, when it fires, and the looks.
        let rows = [
            ("....uuuuu.......", "...###..........", "up 0.95", "up@6", 1),
            // Above what it needs when it is over, below what it needs before.
            ("....uuuuu.......", "...###..........", "up 0.85", "up@8", 3),
            ("....uuuuu.......", "...###..........", "up 0.7", "", 4),
            // The window has forgotten the word before the quiet is long enough.
            ("....uuu.........", "...###..........", "up 0.85", "up@7", 2),
            // Something follows.
            ("....uuu??????...", "...##########...", "up 0.85", "", 0),
        ]
        for (said, sound, verdicts, fires, looks) in rows {
            var gate = Gate(
                settings: settings,
                thresholds: Thresholds(labels: ScoreTrace.labels, defaults: ScoreTrace.labels.map { _ in 0.8 }),
                silence: ScoreTrace.silence,
                hopSeconds: 0.1
            )
            gate.proposals = [0.5]
            gate.alone = [Gate.AloneLevels(least: 0.8, immediate: 0.9)]
            gate.settings.longestConfirmation = 8
            let script = Script(verdicts)
            var fired: [String] = []
            for (index, hop) in ScoreTrace(said, sound: sound).hops.enumerated() {
                var found = gate.step(hop.scores, activity: hop.activity)
                if let proposal = gate.proposal {
                    let word = ProposedWord(
                        label: proposal.label,
                        score: proposal.confidence,
                        middle: 0,
                        end: 0,
                        hops: 0
                    )
                    found = gate.confirm(script.look(word, []), activity: hop.activity)
                }
                if let found { fired.append("\(ScoreTrace.labels[found.index])@\(index)") }
            }
            #expect(
                fired.joined(separator: " ") == fires && script.middles.count == looks,
                "\(said) \(verdicts): \(fired) \(script.middles.count)"
            )
        }
    }

    /// Somebody talks before, during and after the word, so that no pause is heard.
    @Test func `in command mode a confirmed word stands out of talk by its level`() {
        var settings = Self.settings
        settings.mode = .command
        let lead = (said: String(repeating: "?", count: 24), levels: "334434333443343343344343")
        let rows: [(said: String, levels: String, verdicts: String, fires: String)] = [
            ("????UUUUU???????", "3343666334334433", "up 0.9", "up@32"),
            // Pauses between what the others say.
            ("????UUUUU???????", "3003666330334403", "up 0.9", "up@32"),
            // The networks refuse it, or name another word.
            ("????UUUUU???????", "3343666334334433", "up 0.2", ""),
            ("????UUUUU???????", "3343666334334433", "stop 0.9", "stop@32"),
            // It is hardly louder than the talk, or somebody goes on as loud.
            ("????UUUUU???????", "3343555334454433", "up 0.9", ""),
            ("????UUUUU???????", "3343666566666333", "up 0.9", ""),
            ("???????UUUUU????", "6663436663343333", "up 0.9", ""),
            // What follows at once is the rest of it.
            ("????UUUUUSSSS???", "3343666334334433", "up 0.9, stop 0.9", "up@32"),
        ]
        for row in rows {
            let said = lead.said + row.said
            func fired(_ confirmed: [String], _ trigger: GateSettings.Trigger = .early) -> String {
                settings.trigger = trigger
                let found = Self.outcome(
                    said,
                    sound: String(repeating: "#", count: said.count),
                    levels: lead.levels + row.levels,
                    verdicts: Script(row.verdicts),
                    settings,
                    confirmed: confirmed
                )
                return found.fired.joined(separator: " ")
            }
            #expect(fired(ScoreTrace.words) == row.fires, "\(row)")
            #expect(fired([]) == "", "without a second look: \(row)")
            // 0.3 s after its end, where nobody goes on as loud.
            #expect(fired(ScoreTrace.words, .end) == row.fires.replacing("@32", with: "@34"), "at its end: \(row)")
        }
    }

    @Test func `in command mode a corrected word needs the same pauses`() {
        var settings = Self.settings
        settings.mode = .command
        let alone = Self.outcome("....uuuu....", sound: "...###......", verdicts: Script("stop 0.9"), settings)
        #expect(alone.fired == ["stop@6"])
        let inTalk = Self.outcome("????uuuu????", verdicts: Script("stop 0.9"), settings)
        #expect(inTalk.fired == [] && inTalk.looks == 0)
    }

    @Test func `a word that the verdict leaves just under its threshold is a near miss`() throws {
        var settings = Self.settings
        settings.nearMissMargin = 0.2
        let near = Self.outcome("..UUUUUU..................", verdicts: Script("up 0.7"), settings)
        #expect(near.fired.count == 1 && near.fired[0].hasPrefix("near up@"))
        #expect(near.detections.first?.confidence == 0.7)
        let far = Self.outcome("..UUUUUU..................", verdicts: Script("up 0.3"), settings)
        #expect(far.fired == [], "its score in the streaming network does not count")
    }

    // MARK: - Recent audio

    @Test func `recent audio comes back at its place, however loud it is`() {
        let audio = RecentAudio(hopSamples: 1600, sampleRate: 16_000, seconds: 4, after: 3)
        func hop(_ number: Int) -> [Float] {
            (0..<1600).map {
                Float((number * 1600 + $0) % 997) / 997 * [1, 0.001, 3][number % 3] * ($0 % 2 == 0 ? 1 : -1)
            }
        }
        let hops = (0..<61).map(hop)
        for hop in hops[3..<60] { audio.add(hop: hop.span) }
        let samples = UnsafeMutableBufferPointer<Float>.allocate(capacity: 72_000)
        defer { samples.deallocate() }
        let first = 60 * 1600 - 67_000
        audio.read(from: first, into: samples)
        for index in samples.indices {
            let place = first + index
            let expected = place < 20 * 1600 || place >= 60 * 1600 ? 0 : hops[place / 1600][place % 1600]
            let peak: Float = [1, 0.001, 3][place / 1600 % 3]
            #expect(abs(samples[index] - expected) <= peak / 60_000, "sample \(index)")
            if abs(samples[index] - expected) > peak / 60_000 { break }
        }
        audio.flush()
        audio.read(from: first, into: samples)
        #expect(samples.allSatisfy { $0 == 0 })
        let last = hops[60]
        audio.add(hop: last.span)
        audio.read(from: 60 * 1600 - 10, into: samples)
        #expect(samples[9] == 0 && abs(samples[11] - hops[60][1]) < 0.001)
    }

    @Test(arguments: [3, 12, 15, 50]) func `audio goes on in a longer memory`(hops: Int) {
        func value(_ sample: Int) -> Float { Float(sample % 1009 + 1) / 1010 }
        func add(_ numbers: Range<Int>, to audio: RecentAudio) {
            for hop in numbers {
                let samples = (hop * 1600..<(hop + 1) * 1600).map(value)
                audio.add(hop: samples.span)
            }
        }
        let short = RecentAudio(hopSamples: 1600, sampleRate: 16_000, reach: 4000, seconds: 0)
        let long = RecentAudio(hopSamples: 1600, sampleRate: 16_000, seconds: 4)
        #expect(!short.keepsAsMuch(as: long) && long.keepsAsMuch(as: short))
        add(0..<hops, to: short)
        long.goOn(from: short)
        add(hops..<hops + 2, to: long)
        let samples = UnsafeMutableBufferPointer<Float>.allocate(capacity: 40_000)
        defer { samples.deallocate() }
        let first = (hops + 2) * 1600 - samples.count
        long.read(from: first, into: samples)
        // The short one keeps 1.5 s.
        let oldest = max(0, hops - 15) * 1600
        for index in samples.indices {
            let expected = first + index < oldest ? 0 : value(first + index)
            #expect(abs(samples[index] - expected) < 1e-4, "sample \(index)")
            if abs(samples[index] - expected) >= 1e-4 { break }
        }
    }

    @Test func `samples that are not finite make their hop silent`() {
        let audio = RecentAudio(hopSamples: 1600, sampleRate: 16_000, seconds: 4)
        let samples = UnsafeMutableBufferPointer<Float>.allocate(capacity: 1600)
        defer { samples.deallocate() }
        for strange in [Float.nan, .infinity, -.infinity, 0] {
            var hop = [Float](repeating: strange == 0 ? 1e-44 : 0.5, count: 1600)
            hop[1599] = strange
            audio.add(hop: hop.span)
            audio.read(from: 0, into: samples)
            #expect(samples.allSatisfy { $0 == 0 })
            audio.flush()
        }
    }
}
