import Core
import Foundation
import JSON
import TestSupport
import Testing

@testable import CommandLineTool
@testable import Spotting

/// How results are printed and where.
struct OutputTests {
    @Test func `a JSON line has its keys in a fixed order`() throws {
        let program = try Program.beckon(["classify", "--json", Voices.path("Side_Right")])
        let pattern = #"""
            ^\{"file": ".*Side_Right\.wav", "event": "word", "word": "right", "confidence": 0\.\d{4}, "start": \d\.\d{3}, "end": \d\.\d{3}, "time": \d\.\d{3}, "proposed": 0\.\d{4}, "confirmed": 0\.\d{4}\}\n$
            """#
        #expect(program.output.range(of: pattern, options: .regularExpression) != nil, "\(program.output)")
    }

    @Test func `clips give one label each with every score`() throws {
        let program = try Program.beckon([
            "classify", "--clips", "--json", Voices.path("Noise"), Voices.path("Side_Left"),
        ])
        let results = try Result.all(in: program)
        #expect(results.count == 2)
        #expect(results.first?.label == "_silence_")
        let labels = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go", "_unknown_", "_silence_"]
        for result in results {
            let scores = try #require(result.scores)
            #expect(Set(scores.keys) == Set(labels))
            let sum = scores.values.reduce(0, +)
            #expect(abs(sum - 1) < 0.001)
            #expect(scores.values.max() == result.confidence)
        }
        let line = program.lines.first ?? ""
        let order = labels.compactMap { label in line.range(of: "\"\(label)\": ")?.lowerBound }
        #expect(order.count == 12 && order == order.sorted())
    }

    @Test func `CSV has a header and one line per event`() throws {
        let program = try Program.beckon(["classify", "--format", "csv", Voices.path("Rear_Left")])
        #expect(program.lines.first == "file,event,word,confidence,start,end,time,proposed,confirmed")
        #expect(program.lines.count == 2)
        #expect(program.lines.last?.hasPrefix("\(Voices.path("Rear_Left")),word,left,0.") == true)
        let fields = program.lines.last?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        #expect(fields.count == 9 && fields[7...].allSatisfy { $0.hasPrefix("0.") && $0.count == 6 })
        // Without a second look there is nothing that was proposed.
        let plain = try Program.beckon(["classify", "--csv", "--no-confirm", Voices.path("Rear_Left")])
        #expect(plain.lines.last?.hasSuffix(",,") == true, "\(plain.output)")
    }

    @Test func `--csv is --format csv, and a file's name selects its format`() throws {
        let folder = try TestFolder()
        let voice = Voices.path("Rear_Left")
        let csv = try Program.beckon(["classify", "--format", "csv", voice]).output
        let json = try Program.beckon(["classify", "--json", voice]).output
        #expect(try Program.beckon(["classify", "--csv", voice]).output == csv)
        #expect(try Program.beckon(["classify", "--csv", "-f", "csv", voice]).output == csv)
        for (options, name, text) in [
            ([], "a.csv", csv), ([], "b.CSV", csv), ([], "a.json", json), ([], "a.jsonl", json),
            (["--json"], "c.csv", json),
            (["--csv"], "table", csv),
        ] {
            let program = try Program.beckon(["classify", "-o", folder.file(name)] + options + [voice])
            #expect(program.status == 0 && program.output == "", "\(program.error)")
            #expect(String(decoding: try folder.bytes(name), as: UTF8.self) == text, "\(name)")
        }
        // A second run with the same name replaces it, and another's journal is not.
        #expect(try Program.beckon(["classify", "-o", folder.file("a.csv"), "--resume", voice]).status == 0)
        #expect(String(decoding: try folder.bytes("a.csv"), as: UTF8.self) == csv)
    }

    @Test(arguments: [false, true])
    func `rows of phrases and of long words stay in the table's columns`(clips: Bool) {
        let words = ["left", "go", "ein sehr langes Wort"]
        let table = Table(files: ["a.wav"], words: words, phrases: ["go left and right"], colour: false)
        func found(_ kind: Spotting.Detection.Kind, _ name: String) -> String {
            let detection = Spotting.Detection(kind: kind, index: 0, confidence: 0.5, start: 1, end: 2, time: 2)
            return table.detection(FileDetection(file: "a.wav", name: name, detection: detection))
        }
        var rows = [table.header(clips: clips, labels: [])]
        if clips {
            rows += words.map { table.clip(ClipLabel(file: "a.wav", label: $0, confidence: 0.5, scores: [])) }
        } else {
            rows += words.map { found(.word, $0) }
            rows += [found(.phrase, "go left and right"), found(.phrasePartial, "go left and right")]
        }
        #expect(Set(rows.map(columns)).count == 1, "\(rows.joined())")
        #expect(rows[0].hasSuffix("  CONFIDENCE\n") && rows.dropFirst().allSatisfy { $0.hasSuffix("50 %\n") })
    }

    @Test(arguments: [36, 40, 60, 65, 66, 80, 200])
    func `no row of the table is wider than the terminal`(room: Int) {
        let name = "a folder/of some/recordings/one of them.wav"
        let table = Table(files: [name], words: ["left", "right"], colour: false, room: room)
        let detection = Spotting.Detection(kind: .word, index: 0, confidence: 1, start: 100, end: 101, time: 102)
        let rows = [
            table.header(clips: false, labels: []), table.nothing(file: name),
            table.detection(FileDetection(file: name, name: "right", detection: detection)),
            table.clip(ClipLabel(file: name, label: "right", confidence: 1, scores: [])),
        ]
        #expect(rows.allSatisfy { columns($0) - 1 <= room }, "\(rows.joined())")
        #expect(rows[2].contains("right") && rows[2].contains("1:40.00") && rows[2].contains("100 %"))
    }

    @Test func `a label track on standard output, or one per file in a folder`() throws {
        let one = try Program.beckon(["classify", "--format", "audacity", Voices.path("Rear_Left")])
        #expect(one.output.range(of: #"^\d\.\d{6}\t\d\.\d{6}\tleft \d+ %\n$"#, options: .regularExpression) != nil)

        let several = try Program.beckon(["classify", "--format", "audacity", Voices.folder])
        #expect(several.status == 2)
        #expect(several.error.contains("--output"))

        let folder = try TestFolder()
        let output = folder.file("tracks")
        let tracks = try Program.beckon(["classify", "--format", "audacity", "--output", output, Voices.folder])
        #expect(tracks.status == 0 && tracks.output == "")
        #expect(try FileManager.default.contentsOfDirectory(atPath: output).count == 9)
        let track = String(decoding: try folder.bytes("tracks/Rear_Left.txt"), as: UTF8.self)
        #expect(track == one.output)
        #expect(try folder.bytes("tracks/Noise.txt") == [])
    }

    @Test func `a label track that does not fit on the disk is reported`() throws {
        let folder = try TestFolder()
        // A limit on the size of files stands for a full disk; messages go to a pipe, which it does not hold for.
        let script = #"{ (trap "" XFSZ; ulimit -f 0; exec "$0" "$@"); echo "status $?"; } 2>&1 | cat"#
        let arguments = ["classify", "--format", "audacity", "--output", folder.path, Voices.path("Rear_Left")]
        let program = try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", script, Program.beckonFile.path] + arguments
        )
        #expect(program.output.hasSuffix("status 1\n"))
        #expect(program.output.contains("Rear_Left.txt: cannot write the label track (File too large)"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func `a table names every file and has no colour off a terminal`() throws {
        let program = try Program.beckon(["classify", Voices.folder])
        #expect(program.lines.count == 10)
        #expect(!program.output.contains("\u{1B}"))
        let columns = Set(program.lines.filter { $0.contains("%") }.map(\.count))
        #expect(columns.count == 1, "rows of one width: \(columns)")
    }

    @Test(arguments: [66, 80, 120])
    func `a row fits the terminal, and a long name loses its beginning`(_ width: Int) {
        let file = "/recordings/of/a/long/summer/計算機/Front_Center.wav"
        let table = Table(files: ["a.wav", file], colour: false, room: width)
        let row = table.nothing(file: file)
        let clip = table.clip(ClipLabel(file: file, label: "_unknown_", confidence: 1, scores: []))
        #expect(columns(table.header(clips: false, labels: [])) - 1 <= width)
        #expect(columns(clip) - 1 <= width && clip.contains("Center.wav  _unknown_"))
        #expect(row.hasPrefix("…") == (width < 120) && row.contains("Center.wav"))
        // Where a program may read it, the name is whole.
        #expect(Table(files: [file], colour: false).nothing(file: file).hasPrefix(file))
    }

    @Test func `names come from standard input, by lines or by NUL`() throws {
        let names = ["Front_Left", "Side_Right"].map(Voices.path)
        let expected = ["left", "right"]
        let byLine = try Program.beckon(
            ["classify", "--json", "--files-from", "-"],
            input: names.joined(separator: "\n") + "\n"
        )
        #expect(try Result.all(in: byLine).map(\.word) == expected)
        let byNul = try Program.beckon(
            ["classify", "--json", "-0", "--files-from", "-"],
            input: names.joined(separator: "\0")
        )
        #expect(try Result.all(in: byNul).map(\.word) == expected)
    }

    @Test(arguments: [1, 2, 7])
    func `files side by side print in order`(jobs: Int) throws {
        let names = Array(repeating: ["Front_Left", "Front_Right", "Side_Left"], count: 6).flatMap { $0 }
        let program = try Program.beckon(["classify", "--json", "--jobs", "\(jobs)"] + names.map(Voices.path))
        #expect(try Result.all(in: program).map(\.word) == names.map { $0.contains("Left") ? "left" : "right" })
    }

    @Test func `thresholds of all words and of one`() throws {
        let path = Voices.path("Side_Right")
        let none = try Program.beckon(["classify", "--json", "--threshold", "0.9999", path])
        #expect(none.output == "" && none.status == 0)
        let one = try Program.beckon(["classify", "--json", "-t", "0.9999", "--word", "right=0.5", path])
        #expect(try Result.all(in: one).map(\.word) == ["right"])
    }

    @Test func `a phrase is reported in parts and whole`() throws {
        let folder = try TestFolder()
        // Without its "front", so that the second word follows the first within the longest gap.
        let right = try Voices.samples("Front_Right").dropFirst(26_000)
        let audio = try Voices.samples("Front_Left") + [Float](repeating: 0, count: 4_800) + right
        let path = try folder.write("both.wav", format: 0x010002, rate: 48_000, audio)
        let program = try Program.beckon(["classify", "--json", "--phrase", "left right", path])
        let results = try Result.all(in: program)
        #expect(results.map(\.event) == ["word", "phrase-partial", "word", "phrase"])
        #expect(results.last?.phrase == "left right")
        #expect(results.last?.start == results.first?.start)
    }

    @Test func `statistics go to standard error`() throws {
        let program = try Program.beckon(["classify", "--json", "--stats", Voices.path("Noise")])
        #expect(program.output == "")
        #expect(
            program.error.range(of: #"^1 file, 1\.4 s of audio in .* times real time\n$"#, options: .regularExpression)
                != nil
        )
    }
}
