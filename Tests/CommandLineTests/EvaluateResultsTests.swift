import CSndFile
import Foundation
import TestSupport
import Testing

/// `beckon evaluate` for those who go on with its results: rows, errors, proposed thresholds, two runs side by side.
struct EvaluateResultsTests {
    /// Six words of two speakers, and two other words.
    private static func clips() throws -> TestFolder {
        let folder = try TestFolder()
        for name in ["clips", "clips/left", "clips/right", "clips/centre"] { try folder.folder(name) }
        for place in ["Front", "Rear", "Side"] {
            for side in ["Left", "Right", "Center"] where place != "Side" || side != "Center" {
                let word = side == "Center" ? "centre" : side.lowercased()
                try folder.write(
                    "clips/\(word)/\(place.lowercased())_nohash_0.wav",
                    format: SF_FORMAT_WAV | SF_FORMAT_PCM_16,
                    rate: Voices.rate,
                    Array(try Voices.samples("\(place)_\(side)").dropFirst(28_000))
                )
            }
        }
        return folder
    }

    private static func rows(_ text: String) -> [[String]] {
        text.split(separator: "\n").map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }

    private static func text(_ folder: TestFolder, _ name: String) throws -> String {
        String(decoding: try folder.bytes(name), as: UTF8.self)
    }

    @Test func `CSV has a row for each clip, with the score of each label`() throws {
        let folder = try Self.clips()
        let program = try Program.beckon(["evaluate", "--csv", folder.file("clips")])
        #expect(program.status == 0, "\(program.error)")
        let rows = Self.rows(program.output)
        #expect(
            rows.first == [
                "file", "said", "label", "heard", "confidence", "margin", "speaker", "yes", "no", "up", "down", "left",
                "right", "on", "off", "stop", "go", "_unknown_", "_silence_",
            ]
        )
        #expect(rows.count == 9 && rows.allSatisfy { $0.count == 19 })
        for row in rows.dropFirst() {
            let scores = row[7...].compactMap(Double.init).sorted(by: >)
            #expect(scores.count == 12 && abs(scores.reduce(0, +) - 1) < 0.002)
            #expect(Double(row[4]) == scores[0] && abs((Double(row[5]) ?? 0) - (scores[0] - scores[1])) < 2e-4)
            #expect(row[2] == (row[1] == "centre" ? "_unknown_" : row[1]))
        }
        #expect(Set(rows.dropFirst().map { $0[6] }) == ["front", "rear", "side"])
    }

    @Test func `taught words and wake words have columns`() throws {
        let folder = try Self.clips()
        let words = folder.file("words")
        let voices = ["Front", "Rear"].map { Voices.path("\($0)_Center") }
        #expect(try Program.beckon(["enroll", "centre", "--words", words, "--from"] + voices).status == 0)
        let program = try Program.beckon(
            ["evaluate", "--csv", "--words", words, "--wake-word", "alexa", folder.file("clips")]
        )
        let header = Self.rows(program.output).first ?? []
        #expect(header.contains("centre") && header.contains("alexa"), "\(program.error)")
        #expect(Self.rows(program.output).filter { $0.count > 3 && $0[1] == "centre" }.allSatisfy { $0[2] == "centre" })
    }

    @Test func `a file gets the results, and the tables are printed`() throws {
        let folder = try Self.clips()
        let clips = folder.file("clips")
        let csv = try Program.beckon(["evaluate", "--csv", clips]).output
        for (options, name) in [([], "a.csv"), (["--csv"], "b.txt"), ([], "c.json"), (["--json"], "d")] {
            let program = try Program.beckon(["evaluate", "-o", folder.file(name)] + options + [clips])
            #expect(program.status == 0 && program.output.contains("SAID ↓ HEARD →"), "\(program.error)")
            let text = try Self.text(folder, name)
            #expect(text == csv || text.hasPrefix("{\n") && text.contains("\"results\""), "\(name)")
        }
        #expect(try Self.text(folder, "a.csv") == csv && Self.text(folder, "b.txt") == csv)
    }

    @Test func `all errors are listed, each in a line`() throws {
        let folder = try Self.clips()
        try FileManager.default.moveItem(atPath: folder.file("clips/left"), toPath: folder.file("clips/stop"))
        for (count, lines) in [("all", 3), ("2", 2), ("0", 0)] {
            let program = try Program.beckon(["evaluate", "--errors", count, folder.file("clips")])
            let fields = program.lines.map { $0.split(separator: " ") }
            // Two scores are before the name.
            let found = fields.filter {
                $0.count > 4 && $0[0] == "stop"
                    && $0.suffix(3).prefix(2).allSatisfy { Double($0) != nil && $0.contains(".") }
            }
            #expect(program.status == 0 && found.count == lines, "\(count): \(program.output)")
        }
    }

    @Test func `proposed thresholds are a configuration that listen takes`() throws {
        let folder = try Self.clips()
        let file = folder.file("mine.json5")
        for target in [["--target", "0.5/h"], ["--target-precision", "0.99"], ["--target-precision", "90%"]] {
            let program = try Program.beckon(["evaluate", "--write-config", file] + target + [folder.file("clips")])
            #expect(program.status == 0 && program.output.contains("PROPOSED"), "\(program.error)")
            let checked = try Program.beckon(["config", "check", file])
            #expect(checked.status == 0 && checked.error == "", "\(checked.error)")
            let text = try Self.text(folder, "mine.json5")
            #expect(text.contains("\"left\": { threshold: 0.") && text.contains("// yes was not said"), "\(text)")
        }
        let json = try Program.beckon(["evaluate", "--json", "--target", "1/h", folder.file("clips")]).output
        #expect(json.contains("\"proposals\"") && json.contains("\"recallInterval\""))
    }

    @Test func `recordings get proposals, too`() throws {
        let folder = try TestFolder()
        let samples = try Voices.samples("Side_Left") + Voices.samples("Rear_Right")
        try folder.write("talk.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: Voices.rate, samples)
        try folder.write("talk.txt", bytes: Array("0.7\t1.3\tleft\n2.2\t3\tright\n".utf8))
        let file = folder.file("mine.json5")
        let program = try Program.beckon(
            [
                "evaluate", "--stream", "--errors", "all", "--target", "1/h", "--write-config", file,
                folder.file("talk.wav"),
            ]
        )
        #expect(program.status == 0 && program.output.contains("PROPOSED"), "\(program.error)")
        #expect(try Program.beckon(["config", "check", file]).status == 0)
        #expect(try Self.text(folder, "mine.json5").contains("mode: \"command\""))
    }

    @Test func `two runs are compared word by word`() throws {
        let folder = try Self.clips()
        let clips = folder.file("clips")
        let list = try folder.write(
            "list.txt",
            bytes: Array("left/front_nohash_0.wav\tann\nright/side_nohash_0.wav\n".utf8)
        )
        let runs = [("a.json", []), ("b.json", ["--no-confirm"]), ("c.json", ["--list", list])]
        for (name, options) in runs {
            #expect(try Program.beckon(["evaluate", "-o", folder.file(name)] + options + [clips]).status == 0)
        }
        let names = ["a.json", "b.json", "c.json"].map(folder.file)
        let same = try Program.beckon(["evaluate", "--compare", names[0], names[0]])
        #expect(same.status == 0 && same.output.contains("3 speakers"), "\(same.error)\(same.output)")
        let all = same.lines.first { $0.hasPrefix("all ") }?.split(separator: " ").map(String.init) ?? []
        #expect(all.count > 6 && all[1] == "8" && all[4...6] == ["0", "0", "1.000"], "\(all)")
        let other = try Program.beckon(["evaluate", "--json", "--compare", names[0], names[1]])
        #expect(other.status == 0 && other.output.contains("\"onlySecond\""))
        let part = try Program.beckon(["evaluate", "--compare", names[0], names[2]])
        #expect(part.status == 0 && part.output.contains("Left out: 6 clips of the first alone, 0 of the second"))
    }

    @Test(
        arguments: [
            (["--csv", "--json", "."], 2, "--json and --csv exclude each other"),
            (["--csv", "--stream", "x.wav"], 2, "one row a clip"), (["-o", "results", "."], 2, ".csv or .json"),
            (["-o", "a.html", "."], 2, "did you mean --html a.html?"),
            (["--errors", "some", "."], 2, "a number, or all"),
            (["--target", "0.5", "."], 2, "did you mean 0.5/h?"),
            (["--target", "99%", "."], 2, "--target-precision 99%"),
            (["--target-precision", "99", "."], 2, "did you mean 0.99?"),
            (["--target", "x/h", "."], 2, "such as 0.5/h"),
            (["--target", "1/h", "--target-precision", "0.9", "."], 2, "exclude each other"),
            (["--write-config", "x.json5", "."], 2, "add --target 0.5/h"), (["--compare", "a.json"], 2, "two files"),
            (["--compare", "--csv", "a.json", "b.json"], 2, "--csv does not go with --compare"),
            (["--compare", "/nonexistent/a.json", "/nonexistent/b.json"], 1, "/nonexistent/a.json: cannot be read"),
            (["--compare", "/dev/null", "/dev/null"], 1, "give --compare two files"),
        ] as [([String], Int32, String)]
    )
    func `a mistake is one line`(_ arguments: [String], status: Int32, says: String) throws {
        let program = try Program.beckon(["evaluate"] + arguments)
        #expect(program.status == status && program.output == "", "\(program.error)")
        #expect(program.error.split(separator: "\n").count == 1 && program.error.contains(says), "\(program.error)")
    }
}
