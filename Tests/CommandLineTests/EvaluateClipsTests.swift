import CSndFile
import Foundation
import TestSupport
import Testing

/// `beckon evaluate DIR` on clips cut from the recorded voice.
struct EvaluateClipsTests {
    /// The part of the report that the tests check.
    private struct Report: Decodable {
        struct Count: Decodable {
            let clips: Int
            let right: Int
        }
        struct Accuracy: Decodable {
            let words: Count
            let unknown: Count
            let silence: Count
            let all: Count
            let twelveClass: Double?
        }
        struct Matrix: Decodable {
            let labels: [String]
            let counts: [[Int]]
        }
        struct Mistake: Decodable {
            let said: String
            let heard: String
            let clips: [String]
        }
        let clips: Int
        let accuracy: Accuracy
        let confusion: Matrix
        let mistakes: [Mistake]

        init(_ program: Program) throws {
            self = try JSONDecoder().decode(Report.self, from: Data(program.output.utf8))
        }
    }

    /// Six words, cut from after "front", "rear" or "side"; two other words; and 3.5 s of noise.
    private static func clips() throws -> TestFolder {
        let folder = try TestFolder()
        for name in ["left", "right", "centre", "_background_noise_"] { try folder.folder(name) }
        let format = SF_FORMAT_WAV | SF_FORMAT_PCM_16
        for place in ["Front", "Rear", "Side"] {
            for (side, word) in [("Left", "left"), ("Right", "right")] {
                let word = "\(word)/\(place).wav"
                let samples = try Voices.samples("\(place)_\(side)").dropFirst(28_000)
                try folder.write(word, format: format, rate: Voices.rate, Array(samples))
            }
        }
        for place in ["Front", "Rear"] {
            let samples = try Voices.samples("\(place)_Center").dropFirst(28_000)
            try folder.write("centre/\(place).wav", format: format, rate: Voices.rate, Array(samples))
        }
        let noise = try Voices.samples("Noise") + Voices.samples("Noise") + Voices.samples("Noise")
        let background = Array(noise.prefix(168_000))
        try folder.write("_background_noise_/noise.wav", format: format, rate: Voices.rate, background)
        return folder
    }

    @Test func `clips in folders get the labels that classify gives`() throws {
        let folder = try Self.clips()
        let program = try Program.beckon(["evaluate", "--json", folder.path])
        #expect(program.status == 0 && program.error == "beckon: taken for other speech: centre\n")
        let report = try Report(program)
        #expect(report.clips == 11)
        #expect(report.accuracy.words.clips == 6 && report.accuracy.unknown.clips == 2)
        #expect(report.accuracy.silence.clips == 3)
        #expect(report.accuracy.words.right >= 5, "the voice's own words")

        let files = ["left", "right", "centre"].map(folder.file)
        let labels = try Result.all(in: try Program.beckon(["classify", "--clips", "--json"] + files)).compactMap(
            \.label
        )
        #expect(labels.count == 8)
        let heard = Dictionary(labels.map { ($0, 1) }, uniquingKeysWith: +)
        // All rows but the last, which is the noise cut into clips.
        let rows = report.confusion.counts.dropLast()
        for (column, label) in report.confusion.labels.enumerated() {
            #expect(rows.reduce(0) { $0 + $1[column] } == heard[label] ?? 0, "\(label)")
        }
    }

    @Test(arguments: ["1", "3"])
    func `text for people, the same however many files at a time`(jobs: String) throws {
        let folder = try Self.clips()
        let program = try Program.beckon(["evaluate", "--jobs", jobs, folder.path])
        #expect(program.status == 0)
        for text in ["12-class accuracy", "PRECISION", "SAID ↓ HEARD →", "ECE", "AUROC", "RECALL"] {
            #expect(program.output.contains(text), "\(text)")
        }
        #expect(program.output == (try Program.beckon(["evaluate", folder.path]).output))
        #expect(!program.output.contains("\u{1B}"))
    }

    @Test func `a list takes its clips only, whatever their ending`() throws {
        let folder = try Self.clips()
        let list = try folder.write(
            "list.txt",
            bytes: Array("left/Rear.flac\r\n./right/Side.wav\nleft/Rear.flac\n".utf8)
        )
        let report = try Report(try Program.beckon(["evaluate", "--json", "--list", list, folder.path]))
        #expect(report.clips == 2 && report.accuracy.words.clips == 2 && report.accuracy.twelveClass == nil)

        try folder.write("more.txt", bytes: Array("left/Rear.wav\nyes/none.wav\n".utf8))
        let missing = try Program.beckon(["evaluate", "--json", "--list", folder.file("more.txt"), folder.path])
        #expect(missing.status == 1 && missing.error.contains("1 clip is not found"))
        #expect(missing.error.contains("yes/none"))
        #expect(try Report(missing).clips == 1)

        try folder.write("none.txt", bytes: [])
        let none = try Program.beckon(["evaluate", "--list", folder.file("none.txt"), folder.path])
        #expect(none.status == 1 && none.output == "" && none.error.contains("none.txt"))
    }

    @Test func `clips of a taught word count for it, in a folder of its name`() throws {
        let folder = try Self.clips()
        let format = SF_FORMAT_WAV | SF_FORMAT_PCM_16
        let takes = try [1, 0.7, 0.4].map { gain in
            let samples = try Voices.samples("Rear_Center").map { $0 * Float(gain) }
            return try folder.write("\(gain).wav", format: format, rate: Voices.rate, samples)
        }
        let words = folder.file("words")
        let taught = try Program.beckon(["enroll", "my centre", "--words", words, "--from"] + takes)
        #expect(taught.status == 0, "\(taught.error)")
        for take in takes { try FileManager.default.removeItem(atPath: take) }
        try FileManager.default.moveItem(atPath: folder.file("centre"), toPath: folder.file("My_Centre"))

        let program = try Program.beckon(["evaluate", "--json", "--words", words, folder.path])
        #expect(program.status == 0 && program.error == "", "\(program.error)")
        let report = try Report(program)
        #expect(report.accuracy.words.clips == 8 && report.accuracy.unknown.clips == 0)
        let index = try #require(report.confusion.labels.firstIndex(of: "my centre"))
        #expect(report.confusion.counts[index].reduce(0, +) == 2)

        let without = try Program.beckon(["evaluate", "--json", "--words", "none", folder.path])
        #expect(without.error == "beckon: taken for other speech: My_Centre\n", "\(without.error)")
        #expect(try Report(without).accuracy.unknown.clips == 2)
    }

    @Test func `folders that no word is named like are listed once, with the word that may be meant`() throws {
        let folder = try Self.clips()
        for (name, new) in [("centre", "computer"), ("left", "stopp"), ("_background_noise_", "_backgroud_noise_")] {
            try FileManager.default.moveItem(atPath: folder.file(name), toPath: folder.file(new))
        }
        let program = try Program.beckon(["evaluate", "--json", folder.path])
        let says =
            "beckon: taken for other speech: _backgroud_noise_ (did you mean _background_noise_?), "
            + "stopp (did you mean stop?), computer\n"
        #expect(program.status == 0 && program.error == says, "\(program.error)")
        // Where somebody says that it is other speech, nothing is said.
        for name in ["_backgroud_noise_", "stopp"] { try FileManager.default.removeItem(atPath: folder.file(name)) }
        try FileManager.default.moveItem(atPath: folder.file("computer"), toPath: folder.file("_unknown_"))
        #expect(try Program.beckon(["evaluate", "--json", folder.path]).error == "")
        // A hundred folders are one line.
        for number in 0..<100 {
            try folder.folder("word \(number)")
            let audio = try folder.bytes("right/Front.wav")
            try folder.write("word \(number)/1.wav", bytes: audio)
        }
        let many = try Program.beckon(["evaluate", "--json", folder.path]).error
        #expect(
            many.split(separator: "\n").count == 1 && many.contains("word 0, word 1, word 10") && many.count < 250,
            "\(many)"
        )
        #expect(many.hasSuffix(" and 88 more\n"), "\(many)")
    }

    @Test func `unreadable files are reported, counted and left out`() throws {
        let folder = try Self.clips()
        try folder.write("left/broken.wav", bytes: Array("hello".utf8))
        try folder.write("loose.wav", bytes: Array("hello".utf8))
        try folder.write("_background_noise_/short.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, [0, 0.5, 0])
        let program = try Program.beckon(["evaluate", "--json", folder.path])
        #expect(program.status == 1)
        #expect(try Report(program).clips == 11)
        let lines = program.error.split(separator: "\n").filter { !$0.contains("taken for other speech") }
        #expect(lines.count == 3)
        for name in ["loose.wav", "broken.wav", "short.wav"] {
            #expect(lines.contains { $0.hasPrefix("beckon: ") && $0.contains(name) }, "\(name): \(program.error)")
        }
    }

    @Test func `paths that are not folders, and empty folders`() throws {
        let folder = try TestFolder()
        let table = [
            (folder.file("none"), "no such folder"), (Voices.path("Noise"), "not a folder"),
            (folder.path, "no audio files"),
        ]
        for (path, says) in table {
            let program = try Program.beckon(["evaluate", path])
            #expect(program.status == 1 && program.output == "")
            #expect(program.error.split(separator: "\n").count == 1 && program.error.contains(path))
            #expect(program.error.contains(says), "\(program.error)")
        }
        let list = try Program.beckon(["evaluate", "--list", folder.file("none"), Voices.folder])
        #expect(list.status == 1 && list.error.contains("cannot read this list"))
    }

    @Test func `a page that needs nothing else`() throws {
        let folder = try Self.clips()
        try folder.folder("<b>&word")
        let voice = try Voices.samples("Side_Left")
        try folder.write("<b>&word/x.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: Voices.rate, voice)
        let page = folder.file("report.html")
        let program = try Program.beckon(["evaluate", "--html", page, folder.path])
        #expect(program.status == 0 && program.output.contains("AUROC"))
        let html = String(decoding: try folder.bytes("report.html"), as: UTF8.self)
        #expect(html.hasPrefix("<!DOCTYPE html>"))
        // A reliability diagram, and DET curves of the two words that have clips and of all commands against other words.
        let tree = try Tree(html)
        #expect(tree.all("div").count { $0.attributes["role"] == "img" } == 4)
        #expect(tree.texts("p").contains("There are no clips of yes, no, up, down, on, off, stop, go."))
        #expect(!tree.texts("span").contains("no data"))
        #expect(tree.texts("caption").first == "Counts of 12 clips by the word said and the label detected.")
        #expect(!html.contains("_unknown_") && tree.texts("th").contains("other speech"))
        // The bars of the reliability diagram have their counts, which add up.
        let counts = tree.all("span").filter { $0.attributes["class"] == "right" }.compactMap { Int($0.text) }
        #expect(!counts.isEmpty && counts.reduce(0, +) == 12)
        #expect(html.contains("Reliability") && html.contains("DET"))
        #expect(!html.contains("<script") && !html.contains("<b>") && !html.contains("@import"))
        for link in html.matches(of: /https?:\/\/[^"]*/) { #expect(link.output == "http://www.w3.org/2000/svg") }

        for bad in [folder.file("none/report.html"), folder.path] {
            let failed = try Program.beckon(["evaluate", "--html", bad, folder.path])
            #expect(failed.status == 1 && failed.output == "" && failed.error.contains(bad))
        }
    }
}
