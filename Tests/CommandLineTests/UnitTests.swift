import Synchronization
import Testing

@testable import CommandLineTool
@testable import Core

/// Small parts of the command line, without running it.
struct UnitTests {
    private static let options: [Arguments.Option] = [
        .init("--jobs", short: "-j", takesValue: true), .init("--null", short: "-0"), .init("--quiet", short: "-q"),
    ]

    @Test func `options and operands in every spelling`() throws {
        for words in [["--jobs", "4"], ["--jobs=4"], ["-j", "4"], ["-j4"]] {
            #expect(try Arguments(words, options: Self.options).value("--jobs") == "4")
        }
        let mixed = try Arguments(["a", "-0q", "-", "--", "--jobs"], options: Self.options)
        #expect(mixed.operands == ["a", "-", "--jobs"])
        #expect(mixed.has("--null") && mixed.has("--quiet") && !mixed.has("--jobs"))
        #expect(throws: UsageError.self) { try Arguments(["-x"], options: Self.options) }
        #expect(throws: UsageError.self) { try Arguments(["--jobs"], options: Self.options) }
    }

    @Test(arguments: [
        (0.0, 2, "0.00"), (1.005, 1, "1.0"), (0.9999, 2, "1.00"), (-0.5, 1, "-0.5"), (-0.001, 2, "0.00"),
        (12.3, 0, "12"),
        (.infinity, 2, "0"), (3599.996, 2, "3600.00"),
    ])
    func `numbers in decimals`(_ value: Double, _ places: Int, _ text: String) {
        #expect(decimal(value, places) == text)
    }

    @Test func `JSON strings are escaped`() {
        #expect(jsonString("a\"b\\c\n\u{1}é") == #""a\"b\\c\n\u0001é""#)
    }

    @Test func `names stay on their line`() {
        #expect(printable("a\nb\u{1B}[2Jé") == "a?b?[2Jé")
    }

    @Test func `edit distances`() {
        #expect(editDistance("classify", "clasify") == 1)
        #expect(editDistance("", "abc") == 3)
        #expect(editDistance("help", "help") == 0)
    }

    @Test func `lists of names`() {
        #expect(FileList.names(in: Array("a b\r\n\nc".utf8), nulSeparated: false) == ["a b", "c"])
        #expect(FileList.names(in: Array("a\nb\0c\0".utf8), nulSeparated: true) == ["a\nb", "c"])
    }

    @Test func `the loudest second of a longer clip, the middle of a shorter one`() {
        var samples = [Float](repeating: 0, count: 40_000)
        for index in 20_000..<24_000 { samples[index] = 1 }
        let window = ClipScorer.loudestWindow(of: samples, length: 16_000, hop: 1_600)
        #expect(window.count == 16_000 && window.reduce(0, +) == 4_000)
        let short = ClipScorer.loudestWindow(of: [1, 2], length: 6, hop: 2)
        #expect(short == [0, 0, 1, 2, 0, 0])
        #expect(ClipScorer.loudestWindow(of: [], length: 3, hop: 1) == [0, 0, 0])
    }

    @Test func `the progress bar stays within the terminal`() {
        let line = Progress.line(done: 3, of: 10, part: 0.5, name: String(repeating: "x", count: 200), width: 80)
        #expect(line.count < 80 && line.contains("35 %") && line.contains("3/10"))
    }

    @Test func `output waits for its turn`() {
        let printed = Printed()
        let output = OrderedOutput { piece in printed.add(piece.text) }
        output.put("b", file: 1)
        output.put("a", file: 0)
        output.finish(file: 1)
        #expect(printed.text == "a")
        output.put("A", file: 0)
        output.finish(file: 0)
        output.put("c", file: 2)
        #expect(printed.text == "aAbc")
        output.put("e", file: 4)
        output.flush()
        #expect(printed.text == "aAbce")
    }
}

private final class Printed: Sendable {
    private let state = Mutex("")
    var text: String { state.withLock { $0 } }
    func add(_ more: String) { state.withLock { $0 += more } }
}
