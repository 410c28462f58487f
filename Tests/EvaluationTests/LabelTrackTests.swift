import Core
import Glibc
import TestSupport
import Testing

@testable import Evaluation

struct LabelTrackTests {
    private static let labels = Labels(["up", "stop", "_unknown_", "_silence_"])

    @Test func `a track as Audacity exports it`() throws {
        let text =
            "\u{FEFF}2.000000\t2.500000\tStop\r\n\\\t300.0\t4000.0\r\n\r\n0.5\t1.0\tup\r\n3\t3\tfront door\n4\t5\t\n6\t7\n"
        let track = try LabelTrack(text, file: "x.txt")
        #expect(track.entries.map(\.label) == ["stop", "up", "front door", "", ""])
        let words = [SpokenWord(label: 0, start: 0.5, end: 1), SpokenWord(label: 1, start: 2, end: 2.5)]
        #expect(track.words(of: Self.labels) == words)
    }

    @Test func `words match in lower and upper case`() throws {
        let labels = Labels(["Up", "STOP", "_unknown_", "_silence_"])
        let track = try LabelTrack("1\t2\tstop\n3\t4\tUP\n", file: "x.txt")
        #expect(track.words(of: labels).map(\.label) == [1, 0])
    }

    @Test func `a track that classify wrote`() throws {
        let track = try LabelTrack("0.725000\t1.400000\tup 98 %\n2\t3\tup 98 times\n", file: "x.txt")
        #expect(track.entries.map(\.label) == ["up", "up 98 times"])
    }

    @Test func `special labels count as other speech`() throws {
        let track = try LabelTrack("0\t1\t_unknown_\n1\t2\t_silence_\n", file: "x.txt")
        #expect(track.words(of: Self.labels) == [])
    }

    @Test(arguments: ["", "\n\n", "\u{FEFF}", "  \r\n"])
    func `an empty track has no words`(_ text: String) throws {
        #expect(try LabelTrack(text, file: "x.txt").entries == [])
    }

    @Test(arguments: [
        "hello", "1\tx\tup", "x\t2\tup", "nan\t2\tup", "1\tinf\tup", "-1\t2\tup", "2\t1\tup", "1 2 up", "\t\tup",
        "\u{FFFD}\u{0}\u{1}",
    ])
    func `a line that cannot be read is refused with its number`(_ line: String) throws {
        let error = #expect(throws: EvaluationError.self) { try LabelTrack("1\t2\tup\n\(line)\n", file: "x.txt") }
        #expect(error?.description.hasPrefix("x.txt, line 2: ") == true)
    }

    @Test func `a file beyond the limits is not a track, and the line says why`() throws {
        let most = String(repeating: "x", count: LabelTrack.Limit.lineBytes - 4)
        #expect(try LabelTrack("1\t2\t\(most)", file: "x.txt").entries.count == 1)
        let long = #expect(throws: EvaluationError.self) { try LabelTrack("0\t1\tup\n1\t2\t\(most)x", file: "x.txt") }
        #expect(long?.description.hasPrefix("x.txt, line 2: longer than 64 KiB; ") == true)
        // The limit of a million takes ten seconds in a debug build.
        #expect(LabelTrack.Limit.labels == 1_000_000)
        let lines = String(repeating: "1\t2\tup\n", count: 20_000)
        #expect(try LabelTrack(lines, file: "x.txt", limit: 20_000).words(of: Self.labels).count == 20_000)
        let many = #expect(throws: EvaluationError.self) {
            try LabelTrack(lines + "1\t2\tup\n", file: "x.txt", limit: 20_000)
        }
        #expect(many?.description.hasPrefix("x.txt, line 20001: more than 20000 labels; ") == true)
    }

    @Test func `a file that cannot be read as a track is refused`() throws {
        let folder = try TestFolder()
        func problem(_ path: String) -> String {
            #expect(throws: EvaluationError.self) { try LabelTrack(path: path) }?.description ?? ""
        }
        #expect(problem(folder.file("none")).contains("cannot read this label track: open: No such file"))
        #expect(problem(folder.path).contains("not a regular file"))
        let large = try folder.write("large.txt", bytes: [])
        truncate(large, LabelTrack.Limit.fileBytes + 1)
        #expect(problem(large).contains("longer than 64 MiB"))
        let good = try folder.write("good\u{202E}.txt", bytes: Array("1\t2\tup\nx\n".utf8))
        #expect(problem(good).contains("good?.txt, line 2: "))
    }

    @Test func `a track longer than its recording is refused`() throws {
        let track = try LabelTrack("1\t2\tup\n9\t12\tup\n", file: "x.txt")
        // A word may end after the recording.
        try track.check(seconds: 10, file: "x.txt")
        let error = #expect(throws: EvaluationError.self) { try track.check(seconds: 8, file: "x.txt") }
        #expect(error?.description.contains("9.0 s") == true)
        try LabelTrack("", file: "x.txt").check(seconds: 0, file: "x.txt")
    }
}
