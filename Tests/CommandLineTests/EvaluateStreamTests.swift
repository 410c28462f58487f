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
            #expect(setting.curve.count == 35 && setting.curve.first?.threshold == 0.1)
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
        #expect(program.lines.filter { $0.hasPrefix("0.") }.count == 35)
        #expect(program.lines.filter { $0.hasPrefix(path) }.count == 2)
        let html = String(decoding: try folder.bytes("report.html"), as: UTF8.self)
        let page = try Tree(html)
        // DET curves of both modes, and of the two words that are said in each.
        #expect(page.all("div").count { $0.attributes["role"] == "img" } == 6 && html.contains(path))
        let titles = page.all("div").filter { $0.attributes["class"] == "x-title" }.map(\.text)
        #expect(titles == Array(repeating: "misses (%)", count: 6))
        #expect(page.all("script").isEmpty)
    }

    /// The errors of `evaluate --stream --json`.
    private struct Errors: Decodable {
        struct Error: Decodable {
            let kind: String
            let file: String
            let said: String?
            let start: Double?
            let heard: String?
            let time: Double
            let score: Double
            let threshold: Double?
        }
        struct Setting: Decodable {
            let mode: String
            let all: Report.Figures
            let errors: [Error]
        }
        let settings: [Setting]
    }

    /// The recording with a track that says "stop" for "left", has one "left" too many, and leaves "right" out.
    private static func mistakenTrack(_ name: String, in folder: TestFolder) throws -> String {
        let path = try recording(in: folder)
        let lines = String(decoding: try folder.bytes("talk.txt"), as: UTF8.self).split(separator: "\n")
        let track = [
            lines[0].replacing("left", with: "stop"), lines[2].replacing("center", with: "left"), lines[3][...],
        ]
        try folder.write("\(name).txt", bytes: Array((track.joined(separator: "\n") + "\n").utf8))
        let target = folder.file("\(name).wav")
        if target != path { try FileManager.default.copyItem(atPath: path, toPath: target) }
        return target
    }

    @Test func `every error is listed once, with its file, time and score`() throws {
        let folder = try TestFolder()
        let path = try Self.mistakenTrack("talk", in: folder)
        let program = try Program.beckon(["evaluate", "--stream", "--json", path])
        let report = try JSONDecoder().decode(Errors.self, from: Data(program.output.utf8))
        #expect(report.settings.map(\.mode) == ["spot", "command"])
        let spot = try #require(report.settings.first)
        #expect(spot.errors.map(\.kind) == ["wrong", "false-accept", "miss"])
        #expect(
            spot.errors.map(\.said) == ["stop", nil, "left"] && spot.errors.map(\.heard) == ["left", "right", nil]
        )
        #expect(spot.errors.allSatisfy { $0.file == path && (0...1).contains($0.score) && $0.threshold != nil })
        let wrong = try #require(spot.errors.first)
        #expect(wrong.start == 1.1 && wrong.time > 1.1 && wrong.time < 2.9 && wrong.score >= wrong.threshold ?? 1)
        // A miss never reached its threshold, and the time of its best score lies by the word.
        let miss = spot.errors[2]
        #expect(miss.score < miss.threshold ?? 0 && abs(miss.time - (miss.start ?? 0)) < 2)
        for setting in report.settings {
            let kinds = Dictionary(grouping: setting.errors, by: \.kind).mapValues(\.count)
            #expect(kinds["wrong", default: 0] == setting.all.wrong)
            #expect(kinds["false-accept", default: 0] == setting.all.falseAccepts)
            #expect(kinds["miss", default: 0] + kinds["wrong", default: 0] == setting.all.misses)
        }
    }

    @Test func `each error of the page leads to its own page, which leads back`() throws {
        let folder = try TestFolder()
        let path = try Self.mistakenTrack("a<script>b&' #%41", in: folder)
        let program = try Program.beckon([
            "evaluate", "--stream", "--mode", "spot", "--html", folder.file("my: report #1.html"), path,
        ])
        #expect(program.status == 0 && program.error == "")
        let html = String(decoding: try folder.bytes("my: report #1.html"), as: UTF8.self)
        let page = try Tree(html)
        #expect(page.texts("h3").suffix(3) == ["Misses: 1", "Wrong words: 1", "False accepts: 1"])
        #expect(page.all("script").isEmpty && page.texts("td").contains(path))
        let links = page.all("a").compactMap { $0.attributes["href"] }
        // Errors close to each other share a page.
        #expect(links.count == 3 && Set(links).count >= 1)
        for link in links {
            #expect(link.hasPrefix("my%3A%20report%20%231-errors/0"))
            let name = try #require(link.removingPercentEncoding)
            let detail = try Tree(String(decoding: try folder.bytes(name), as: UTF8.self))
            #expect(detail.all("a").first?.attributes["href"] == "../my%3A%20report%20%231.html")
            #expect(
                detail.texts("h1") == ["What the model sees: a<script>b&' #%41.wav"] && detail.all("script").isEmpty
            )
            #expect(detail.texts("p").contains { $0.hasPrefix("Missed: “left” is said at 0:") })
            #expect(detail.texts("span").contains("said, by the label track"))
        }
        // Without pages, the report says how to make them.
        let options = ["--mode", "spot", "--pages", "0", "--word", "left=0.5"]
        let bare = ["evaluate", "--stream", "--html", folder.file("bare.html")] + options + [path]
        #expect(try Program.beckon(bare).status == 0)
        let listed = try Tree(String(decoding: try folder.bytes("bare.html"), as: UTF8.self))
        #expect(listed.all("a").isEmpty && !FileManager.default.fileExists(atPath: folder.file("bare-errors")))
        let command = try #require(listed.texts("code").first)
        #expect(command.hasPrefix("beckon inspect --mode spot --word left=0.5 --from "))
        #expect(command.hasSuffix(" '" + path.replacing("'", with: "'\\''") + "'"))
    }

    @Test func `operating points of the sensitivities`() throws {
        let folder = try TestFolder()
        let path = try Self.recording(in: folder)
        let model = try ModelCopy.write("model", ModelCopy.complete, in: folder)
        struct Report: Decodable {
            struct Point: Decodable {
                let sensitivity: String
                let figures: Figures
            }
            struct Figures: Decodable {
                let hits: Int
                let falseAccepts: Int
            }
            struct Word: Decodable {
                struct Point: Decodable {
                    struct Counts: Decodable { let threshold: Double }
                    let sensitivity: String
                    let counts: Counts
                }
                let word: String
                let own: Bool
                let sensitivities: [Point]
            }
            struct Setting: Decodable {
                let all: Figures
                let sensitivities: [Point]
                let words: [Word]
            }
            let settings: [Setting]
        }
        let program = try Program.beckon(["evaluate", "--stream", "--json", "--model", model, "--words", "none", path])
        let report = try JSONDecoder().decode(Report.self, from: Data(program.output.utf8))
        for setting in report.settings {
            #expect(setting.sensitivities.map(\.sensitivity) == ["strict", "balanced", "eager"])
            // The thresholds in use are those of balanced.
            #expect(setting.sensitivities[1].figures.hits == setting.all.hits)
            #expect(setting.sensitivities[0].figures.hits <= setting.sensitivities[2].figures.hits)
            #expect(setting.words.allSatisfy { !$0.own })
        }
        let first = try #require(report.settings.first?.words.first)
        #expect(first.sensitivities.map(\.counts.threshold) == [0.996, 0.9925, 0.6])
        let page = folder.file("page.html")
        _ = try Program.beckon(["evaluate", "--stream", "--html", page, "--model", model, "--words", "none", path])
        let html = String(decoding: try folder.bytes("page.html"), as: UTF8.self)
        #expect(html.contains("balanced") && html.contains("strict") && html.contains("eager"))
    }

    @Test func `taught words are measured like the model's`() throws {
        let folder = try TestFolder()
        var audio = [Float](repeating: 0, count: 24_000)
        var track = ""
        for name in ["Front_Center", "Side_Left", "Front_Center"] {
            let start = Double(audio.count) / 48_000
            let voice = try Voices.samples(name)
            let end = start + Double(voice.count) / 48_000
            track += name == "Side_Left" ? "\(start + 0.6)\t\(end)\tleft\n" : "\(start)\t\(end)\tfrontcenter\n"
            audio += voice + [Float](repeating: 0, count: 48_000)
        }
        let path = try folder.write("own.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: Voices.rate, audio)
        try folder.write("own.txt", bytes: Array(track.utf8))
        var takes: [String] = []
        for number in 0..<3 {
            // Played at three speeds, so that no two takes are the same.
            let voice = try Voices.samples("Front_Center")
            let speed = 0.97 + 0.03 * Double(number)
            let played = (0..<Int(Double(voice.count) / speed)).map { voice[Int(Double($0) * speed)] }
            let quiet = [Float](repeating: 0, count: 24_000)
            let samples = quiet + played + quiet
            takes.append(
                try folder.write(
                    "take\(number).wav",
                    format: SF_FORMAT_WAV | SF_FORMAT_PCM_16,
                    rate: Voices.rate,
                    samples
                )
            )
        }
        let words = folder.file("words.json")
        let enrolled = try Program.beckon(["enroll", "frontcenter", "--words", words, "--from"] + takes)
        #expect(enrolled.status == 0, "\(enrolled.error)")
        struct Report: Decodable {
            struct Word: Decodable {
                struct Count: Decodable { let threshold: Double }
                let word: String
                let own: Bool
                let figures: EvaluateStreamTests.Report.Figures
                let curve: [Count]
            }
            struct Setting: Decodable { let words: [Word] }
            let settings: [Setting]
        }
        let page = folder.file("page.html")
        let options = ["--mode", "spot", "--words", words]
        let program = try Program.beckon(["evaluate", "--stream", "--json", "--html", page] + options + [path])
        let report = try JSONDecoder().decode(Report.self, from: Data(program.output.utf8))
        let own = try #require(report.settings.first?.words.first { $0.word == "frontcenter" })
        #expect(own.own && own.figures.said == 2 && own.figures.hits == 2 && own.curve.count == 35)
        #expect(report.settings.first?.words.count { $0.own } == 1)
        let tree = try Tree(String(decoding: try folder.bytes("page.html"), as: UTF8.self))
        #expect(tree.texts("strong").contains("frontcenter (taught)"))
        let keys = tree.all("span").filter { $0.attributes["class"] == "key" }.map(\.text)
        #expect(keys == ["the model's words", "taught words"])
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
