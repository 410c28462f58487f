import Foundation
import TestSupport
import Testing

/// `beckon bench --compare`, on hand-written reports.
struct BenchCompareTests {
    @Test func `two reports side by side, row by row`() throws {
        let folder = try TestFolder()
        let first = try folder.write(
            "first.json",
            bytes: try benchReport([
                ("gate", nil, 2), ("hop", "baseline", 80), ("hop", "avx2", 40), ("window", "avx2", 9),
            ])
        )
        let second = try folder.write(
            "second.json",
            bytes: try benchReport(
                [("hop", "avx2", 30), ("gate", nil, 3), ("hop", "avx512", 20)],
                processor: "Other\u{1B}[2J"
            )
        )
        let program = try Program.beckon(["bench", "--compare", first, second])
        #expect(program.status == 0 && program.error == "")
        let cells = program.lines.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(cells.contains("hop avx2 µs 40.0 30.0 0.75"))
        #expect(cells.contains("hop avx512 µs – 20.0 –"))
        #expect(cells.contains("start-up – ms 20.0 20.0 1.00"))
        #expect(cells.contains("note: the processors differ: Test CPU, and Other?[2J"))
        #expect(cells.contains("note: second: the room is warm"))
    }

    @Test func `a file that is not a report is an error`() throws {
        let folder = try TestFolder()
        let good = try folder.write("good.json", bytes: try benchReport([("hop", "avx2", 40)]))
        try folder.write("empty.json", bytes: [])
        try folder.write("list.json", bytes: Array("[1, 2]".utf8))
        try folder.write("other.json", bytes: Array("{\"benchmark\": \"end-to-end\", \"words\": 1}".utf8))
        try folder.write("newer.json", bytes: Array("{\"benchmark\": \"stages\", \"format\": 2}".utf8))
        try folder.write("half.json", bytes: Array("{\"benchmark\": \"stages\", \"format\": 1, \"stages\": []}".utf8))
        try folder.write("zero.json", bytes: try benchReport([("hop", "avx2", 0)]))
        let cases = [
            ("missing.json", "No such file"), ("", "folder"), ("empty.json", "no report"), ("list.json", "no report"),
            ("other.json", "bench --end-to-end"), ("newer.json", "another version"), ("half.json", "damaged"),
            ("zero.json", "not positive"),
        ]
        for (name, part) in cases {
            for files in [[good, folder.file(name)], [folder.file(name), good]] {
                let program = try Program.beckon(["bench", "--compare"] + files)
                #expect(program.status == 1 && program.output == "", "\(name)")
                let error = program.error
                #expect(error.contains(folder.file(name)) && error.contains(part), "\(error)")
                #expect(error.filter { $0 == "\n" }.count == 1, "\(error)")
            }
        }
    }

    @Test(arguments: [
        (["--compare", "a.json"], 2, "two files"), (["--compare", "--json", "a", "b"], 2, "a table only"),
        (["--compare", "--end-to-end"], 2, "one of --end-to-end, --compare"), (["--kernels", "sse"], 2, "not 'sse'"),
        (["--kernels", "avx2,"], 2, "not 'avx2,'"), (["--seconds", "0"], 2, "not '0'"),
        (["--seconds", "nan"], 2, "not 'nan'"), (["--streams", "-1"], 2, "not '-1'"),
        (["--device", "mic"], 2, "--device goes with --end-to-end"),
        (["--compare", "--streams", "2", "a", "b"], 2, "stages"),
        (["--model", "/nowhere"], 78, "/nowhere/model.json"), (["--word", "maybe=0.5"], 78, "'maybe'"),
        (["--first-score", "--model", "/nowhere"], 78, "/nowhere/model.json"),
    ])
    func `errors are one line`(_ arguments: [String], status: Int32, part: String) throws {
        let program = try Program.beckon(["bench"] + arguments)
        #expect(program.status == status && program.output == "")
        #expect(program.error.contains(part) && program.error.filter { $0 == "\n" }.count == 1, "\(program.error)")
    }

    @Test func `kernels that are selected are the ones that are measured`() throws {
        let arguments = ["bench", "--seconds", "0.01", "--json"]
        let wrong = try Program.beckon(arguments, environment: ["BECKON_KERNELS": "mmx"])
        #expect(wrong.status == 78 && wrong.output == "" && wrong.error.contains("BECKON_KERNELS"))
        let forced = try Program.beckon(arguments, environment: ["BECKON_KERNELS": "baseline"])
        #expect(forced.status == 0 && forced.error == "")
        #expect(forced.output.contains("\"baseline\"") && !forced.output.contains("\"avx2\""))
    }
}
