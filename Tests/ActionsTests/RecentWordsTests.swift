import Audio
import Configuration
import Core
import Events
import Foundation
import JSON
import System
import TestSupport
import Testing

@testable import Actions
@testable import Spotting

/// The ring of detected and nearly detected words, and how loud they were.
struct RecentWordsTests {
    private let folder: TestFolder
    private let history = AudioHistory()

    init() throws {
        folder = try TestFolder()
        // Five seconds of a tone, block by block, as the detector hands on windows.
        let window = (0..<16_000).map { Float(sin(Double($0) * 0.2)) * 0.1 }
        for _ in 0..<50 { history.add(window.span) }
    }

    private func event(_ word: String, _ kind: Detection.Kind = .nearMiss, at time: Double = 3) -> DetectionEvent {
        DetectionEvent(
            Detection(
                kind: kind,
                index: 0,
                confidence: 0.71,
                start: time - 0.5,
                end: time - 0.1,
                time: time,
                threshold: 0.8,
                mode: .command
            ),
            sequence: 1,
            name: word,
            date: Timestamp(microseconds: 1_772_368_205_250_000),
            device: "mic",
            sound: WordLevel(level: -31.24, signalToNoise: 18.04)
        )
    }

    private func ring(_ change: (inout Configuration.Misses) -> Void = { _ in }) -> RecentWords {
        var settings = Configuration.Misses()
        settings.dir = folder.file("misses")
        change(&settings)
        return RecentWords(settings, history: history, log: ServiceLog { _, _ in })
    }

    @Test func `nothing is kept without a folder`() {
        let ring = ring { $0.dir = nil }
        ring.receive(event("stop"))
        #expect(ring.list.entries == [])
        #expect(
            JSON.object(ring.list.members).description == #"{"on": false, "dir": null, "margin": 0.200, "misses": []}"#
        )
    }

    /// A list that somebody else put there.
    @Test func `numbers without bounds and clips of other folders are not taken from a list`() throws {
        let dir = folder.file("misses")
        mkdir(dir, 0o700)
        let secret = try folder.write("beckon-secret.wav", bytes: [1])
        let own = try folder.write("misses/beckon-20260301T123004.650Z-1-a.wav", bytes: [1])
        symlink(secret, dir + "/beckon-link.wav")
        link(secret, dir + "/beckon-hard.wav")
        mkdir(dir + "/beckon-folder.wav", 0o700)
        func line(
            _ number: String = "7",
            confidence: String = "0.5",
            date: String = "2026-03-01T12:30:04.750Z",
            clip: String
        )
            -> String
        {
            "{\"number\": \(number), \"event\": \"word\", \"word\": \"a\", \"confidence\": \(confidence), "
                + "\"date\": \"\(date)\", \"clip\": \"\(clip)\"}\n"
        }
        var text = line(clip: own)
        for number in [
            "9223372036854774784", "9007199254740993", "9223372036854775808", "0", "-1", "1.5", "NaN", "Infinity",
        ] {
            text += line(number, clip: own)
        }
        for confidence in ["1e300", "-1", "NaN", "-Infinity"] { text += line(confidence: confidence, clip: own) }
        for date in [
            "10000-01-01T00:00:00.00Z", "9999999999-1-1T1:1:1.01Z", "9999-12-31T23:59:60.000Z",
            "0000-00-01T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
        ] { text += line(date: date, clip: own) }
        for clip in [
            "/etc/shadow", "/etc/passwd", secret, dir + "/../beckon-secret.wav", dir + "/beckon-link.wav",
            dir + "/beckon-hard.wav", dir + "/beckon-folder.wav", dir + "/beckon-gone.wav", dir + "/misses.jsonl", "",
            "misses/beckon-20260301T123004.650Z-1-a.wav",
        ] { text += line(clip: clip) }
        text += "\u{0}\n{}\n[1]\n{\"number\": {\"number\": 1}}\n"
        try folder.write("misses/misses.jsonl", bytes: Array(text.utf8))
        let ring = ring { $0.keep = 1000 }
        #expect(ring.list.entries.map(\.clip) == [own] && ring.list.entries.map(\.number) == [7])
        for _ in 0..<2000 { ring.receive(event("b")) }
        #expect(ring.list.entries.first?.number == 2007)
        // The list may not be a link either.
        try folder.write("list", bytes: Array(line(clip: own).utf8))
        unlink(dir + "/misses.jsonl")
        symlink(folder.file("list"), dir + "/misses.jsonl")
        #expect(self.ring().list.entries == [])
    }

    @Test func `words and near misses are kept with their clips, newest first, also over a restart`() throws {
        let ring = ring { $0.keep = 2 }
        for (word, kind) in [("a", Detection.Kind.word), ("b", .nearMiss), ("x", .phrase), ("c", .nearMiss)] {
            ring.receive(event(word, kind))
        }
        #expect(ring.list.entries.map(\.word) == ["c", "b"])
        #expect(comesTrue(within: 10) { ring.list.entries.allSatisfy { $0.clip != nil } })
        let entry = try #require(ring.list.entries.first)
        #expect(
            entry.number == 3 && entry.isNear && entry.confidence.isNearly(0.71)
                && entry.threshold?.isNearly(0.8) == true
        )
        let clip = try #require(entry.clip)
        // A second before the word, its 0.4 s, and 0.3 s after it.
        #expect(abs(try Voices.samples(at: clip).count - Int(1.7 * 16_000)) <= 1)
        #expect(
            entry.json.description == """
                {"number": 3, "event": "near-miss", "word": "c", "confidence": 0.7100, "threshold": 0.8000, "mode": "command", \
                "date": "2026-03-01T12:30:04.750Z", "level": -31.2, "snr": 18.0, "device": "mic", "clip": "\(clip)"}
                """
        )
        let list = RecentWordList(try JSONNode.parse("\(JSON.object(ring.list.members))"))
        #expect(list.entries.map(\.number) == [3, 2] && list[3]?.word == "c" && list[4] == nil)
        #expect(list.isOn && list.folder == folder.file("misses"))
        // The list is written after the clip.
        #expect(
            comesTrue(within: 10) {
                guard let list = try? folder.bytes("misses/misses.jsonl") else { return false }
                return String(decoding: list, as: UTF8.self).contains(clip)
            }
        )
        ring.stop()
        let next = self.ring { $0.keep = 2 }
        #expect(next.list.entries.map(\.number) == [3, 2])
        next.receive(event("d"))
        #expect(next.list.entries.map(\.word) == ["d", "c"] && next.list.entries.first?.number == 4)
        #expect(comesTrue(within: 10) { next.list.entries.allSatisfy { $0.clip != nil } })
        // Only as many clips as entries, and the list.
        #expect(
            // While the list is written, there is also its temporary file.
            comesTrue(within: 10) {
                (try? FileManager.default.contentsOfDirectory(atPath: folder.file("misses")))?.count == 3
            }
        )
    }

    @Test func `clips that make room are forgotten`() throws {
        // A clip has 54,444 bytes, so the quota of a megabyte has room for 18.
        let ring = ring { ($0.keep, $0.quota) = (100, 1) }
        for number in 1...20 {
            ring.receive(event("w\(number)"))
            #expect(comesTrue(within: 10) { ring.list.entries.first?.clip != nil })
        }
        #expect(ring.list.entries.count == 20)
        #expect(ring.list.entries.count { $0.clip != nil } == 18)
    }

    @Test(arguments: ["", "{}", "[", "{\"number\": 0}", "{\"number\": 1e99, \"word\": \"a\"}", "{\"number\": \"1\"}"])
    func `a damaged list is not an entry`(_ line: String) throws {
        #expect(RecentWords.entries(in: Array(line.utf8)) == [])
        try FileManager.default.createDirectory(atPath: folder.file("misses"), withIntermediateDirectories: false)
        try folder.write("misses/misses.jsonl", bytes: Array((line + "\n").utf8))
        #expect(ring().list.entries == [])
    }
}

/// Level and signal-to-noise ratio of a word, on noise and tones of known power.
struct WordLevelTests {
    /// Noise of a root mean square, then a tone of another: two seconds and half a second.
    private static func audio(noise: Float, tone: Float) -> [Float] {
        var state: UInt64 = 1
        func random() -> Float {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Float(state >> 40) / Float(1 << 24) * 2 - 1
        }
        // Uniform in ±1 has the power 1/3, a sine of amplitude 1 has 1/2.
        let before = (0..<32_000).map { _ in random() * noise * Float(3).squareRoot() }
        let word = (0..<8000).map { index in
            random() * noise * Float(3).squareRoot() + Float(sin(Double(index) * 0.4)) * tone * Float(2).squareRoot()
        }
        return before + word
    }

    @Test(arguments: [(-40.0, -20.0), (-60, -30), (-30, -30), (-50, -6)])
    func `level and ratio are those of the signal`(_ noise: Double, _ tone: Double) throws {
        func amplitude(_ level: Double) -> Float { Float(pow(10, level / 20)) }
        let audio = Self.audio(noise: amplitude(noise), tone: amplitude(tone))
        let level = try #require(WordLevel(samples: audio, start: 32_000))
        let total = 10 * log10(pow(10, noise / 10) + pow(10, tone / 10))
        #expect(abs(level.level - total) < 0.5, "\(level)")
        #expect(abs((level.signalToNoise ?? 0) - (tone - noise)) < 1, "\(level)")
    }

    @Test func `digital silence, little audio and none give bounded numbers`() throws {
        let silent = try #require(WordLevel(samples: [Float](repeating: 0, count: 40_000), start: 32_000))
        #expect(silent.level == -120 && silent.signalToNoise == -20)
        let loud = try #require(
            WordLevel(samples: [Float](repeating: 0, count: 32_000) + [Float](repeating: 1, count: 8000), start: 32_000)
        )
        #expect(loud.level == 0 && loud.signalToNoise == 80)
        let short = try #require(WordLevel(samples: [Float](repeating: 0.1, count: 8000), start: 3000))
        #expect(abs(short.level + 20) < 0.01 && short.signalToNoise == nil)
        #expect(WordLevel(samples: [], start: 0) == nil)
        #expect(WordLevel(samples: [1, 1], start: 1) == nil)
        #expect(WordLevel(samples: [1, 1], start: 5) == nil)
        #expect(WordLevel(samples: [1, 1], start: -1) == nil)
    }
}

extension Double {
    fileprivate func isNearly(_ other: Double) -> Bool { abs(self - other) < 1e-6 }
}
