import CSndFile
import Foundation
import TestSupport
import Testing

/// `beckon evaluate --stream` on a recording made of the recorded voice.
struct EvaluateStreamTests {
    private struct Report: Decodable {
        struct Figures: Decodable {
            let said: Int
            let hits: Int
            let misses: Int
            let wrong: Int
            let falseAccepts: Int
            let falseAcceptsPerHour: Double?
            let latencyMedian: Double?
        }
        struct Point: Decodable {
            let threshold: Double
            let figures: Figures
        }
        struct Setting: Decodable {
            let mode: String
            let trigger: String
            let all: Figures
            let wordlessFalseAcceptsPerHour: Double?
            let curve: [Point]
        }
        struct File: Decodable {
            let file: String
            let seconds: Double
            let figures: [Figures]
        }
        let seconds: Double
        let wordlessSeconds: Double
        let files: [File]
        let settings: [Setting]

        init(_ program: Program) throws {
            self = try JSONDecoder().decode(Report.self, from: Data(program.output.utf8))
        }
    }

    /// "front left", "rear right", … with pauses, and a label track of the second words.
    private static func recording(in folder: TestFolder) throws -> String {
        var audio = [Float](repeating: 0, count: 24_000)
        var track = ""
        for (name, word) in [
            ("Front_Left", "left"), ("Rear_Right", "right"), ("Front_Center", "center"), ("Side_Left", "left"),
        ] {
            let start = Double(audio.count) / 48_000
            track += "\(start + 0.6)\t\(start + 1.4)\t\(word)\n"
            audio += try Voices.samples(name) + [Float](repeating: 0, count: 36_000)
        }
        try folder.write("talk.txt", bytes: Array(track.utf8))
        return try folder.write("talk.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: Voices.rate, audio)
    }

    @Test func `a sensitivity selects the thresholds of each mode`() throws {
        let folder = try TestFolder()
        let path = try Self.recording(in: folder)
        let model = try ModelCopy.write("model", ModelCopy.complete, in: folder)
        struct Report: Decodable {
            struct Setting: Decodable {
                let mode: String
                let words: [Word]
            }
            struct Word: Decodable { let threshold: Double? }
            let settings: [Setting]
        }
        for (sensitivity, spot, command) in [("strict", 0.996, 0.995), ("balanced", 0.9925, 0.93), ("eager", 0.6, 0.5)]
        {
            let options = ["--model", model, "--sensitivity", sensitivity]
            let program = try Program.beckon(["evaluate", "--stream", "--json"] + options + [path])
            #expect(program.status == 0 && program.error == "")
            let report = try JSONDecoder().decode(Report.self, from: Data(program.output.utf8))
            #expect(report.settings.map(\.mode) == ["spot", "command"])
            #expect(report.settings.map { $0.words.first?.threshold } == [spot, command])
        }
        let named = ["evaluate", "--stream", "--json", "--model", model, "--mode", "spot"]
        let own = try Program.beckon(named + ["--sensitivity", "eager", "--word", "yes=strict", path])
        let report = try JSONDecoder().decode(Report.self, from: Data(own.output.utf8))
        #expect(report.settings.first?.words.prefix(2).map(\.threshold) == [0.996, 0.6])
    }

    @Test func `evaluate counts the words that classify finds`() throws {
        let folder = try TestFolder()
        let path = try Self.recording(in: folder)
        let program = try Program.beckon(["evaluate", "--stream", "--json", path])
        #expect(program.status == 0 && program.error == "")
        let report = try Report(program)
        #expect(report.settings.map(\.mode) == ["spot", "command"])
        #expect(report.settings.map(\.trigger) == ["early", "early"])
        for setting in report.settings {
            let heard = try Result.all(in: try Program.beckon(["classify", "--json", "--mode", setting.mode, path]))
                .count
            #expect(setting.all.hits + setting.all.wrong + setting.all.falseAccepts == heard)
            #expect(setting.all.said == 3 && setting.all.hits + setting.all.misses == 3)
            #expect(setting.curve.count == 27 && setting.curve.first?.threshold == 0.3)
            for point in setting.curve where [0.5, 0.9].contains(point.threshold) {
                let options = ["classify", "--json", "--mode", setting.mode, "--threshold", "\(point.threshold)", path]
                let figures = point.figures
                let heard = try Result.all(in: try Program.beckon(options)).count
                #expect(figures.hits + figures.wrong + figures.falseAccepts == heard, "\(point.threshold)")
            }
        }
        let spot = try #require(report.settings.first)
        #expect(spot.all.hits == 3 && spot.all.wrong == 0 && spot.all.falseAccepts == 0)
        #expect(abs(try #require(spot.all.latencyMedian)) < 0.6)
    }

    @Test func `recordings without words are also counted by themselves`() throws {
        let folder = try TestFolder()
        let path = try Self.recording(in: folder)
        // The same audio under another name, with an empty label track: each word is a false accept.
        try folder.write("empty.wav", bytes: try folder.bytes("talk.wav"))
        try folder.write("empty.txt", bytes: [])
        let program = try Program.beckon(["evaluate", "--stream", "--json", "--mode", "spot", folder.path])
        let report = try Report(program)
        #expect(report.files.map(\.file) == [folder.file("empty.wav"), path])
        #expect(report.files.map { $0.figures.map(\.falseAccepts) } == [[3], [0]])
        #expect(report.seconds == 2 * report.wordlessSeconds)
        let spot = try #require(report.settings.first)
        #expect(report.settings.count == 1 && spot.all.said == 3)
        let rate = 3 * 3600 / report.wordlessSeconds
        #expect(abs(try #require(spot.wordlessFalseAcceptsPerHour) - rate) < 1e-6)
        #expect(abs(try #require(spot.all.falseAcceptsPerHour) - rate / 2) < 1e-6)
    }

    @Test func `options reach the detector`() throws {
        let folder = try TestFolder()
        let path = try Self.recording(in: folder)
        let strict = ["evaluate", "--stream", "--json", "--mode", "spot", "--threshold", "0.9999"]
        #expect(try Report(try Program.beckon(strict + [path])).settings.first?.all.hits == 0)
        let one = try Report(try Program.beckon(strict + ["--word", "right=0.5", path]))
        #expect(one.settings.first?.all.hits == 1)
        let end = try Report(try Program.beckon(["evaluate", "--stream", "--json", "--trigger", "end", path]))
        #expect(end.settings.map(\.trigger) == ["end", "end"])
        // With trigger `end`, a word is decided more than 0.1 s after its end.
        let tight = [
            "evaluate", "--stream", "--json", "--mode", "spot", "--trigger", "end", "--tolerance", "0.1", path,
        ]
        let late = try #require(try Report(try Program.beckon(tight)).settings.first)
        #expect(late.all.hits == 0 && late.all.falseAccepts == 3)
    }

    @Test func `text for people, and a page`() throws {
        let folder = try TestFolder()
        let path = try Self.recording(in: folder)
        let program = try Program.beckon(["evaluate", "--stream", "--html", folder.file("report.html"), path])
        #expect(program.status == 0)
        #expect(program.lines.filter { $0.hasPrefix("0.") }.count == 27)
        #expect(program.lines.filter { $0.hasPrefix(path) }.count == 2)
        let html = String(decoding: try folder.bytes("report.html"), as: UTF8.self)
        #expect(html.matches(of: /<svg xmlns/).count == 1 && html.contains(path))
    }

    @Test func `label tracks that are missing, invalid, or of another recording`() throws {
        let folder = try TestFolder()
        let good = try Self.recording(in: folder)
        let voice = try folder.bytes("talk.wav")
        let tracks: [(name: String, text: String?, says: String)] = [
            ("missing", nil, "missing.txt"), ("nonsense", "hello\n", "line 1"),
            ("turned", "0\t1\tup\n2\t1\tup\n", "line 2"),
            ("other", "900\t901\tup\n", "900.0 s"),
        ]
        for (name, text, says) in tracks {
            let path = try folder.write("\(name).wav", bytes: voice)
            if let text { try folder.write("\(name).txt", bytes: Array(text.utf8)) }
            let program = try Program.beckon(["evaluate", "--stream", "--json", path, good])
            #expect(program.status == 1)
            #expect(try Report(program).files.map(\.file) == [good])
            #expect(program.error.split(separator: "\n").count == 1 && program.error.contains(says), "\(program.error)")
            let alone = try Program.beckon(["evaluate", "--stream", path])
            #expect(alone.status == 1 && alone.output == "" && alone.error.split(separator: "\n").count == 1)
        }
    }

    @Test func `Ctrl-C ends without a report`() throws {
        let folder = try TestFolder()
        let path = try Self.recording(in: folder)
        let files = [folder.file("none.wav")] + Array(repeating: path, count: 5000)
        let program = try Program.beckon(["evaluate", "--stream", "--jobs", "1"] + files, interrupt: true)
        #expect(program.status == 130 && program.output == "")
        #expect(program.error.contains("interrupted after"))
    }
}
