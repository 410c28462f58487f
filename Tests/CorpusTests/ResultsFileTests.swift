import Foundation
import TestSupport
import Testing

@testable import Corpus

struct ResultsFileTests {
    private static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// Adds results of files until `count` are done; each is the name and a newline, and `b` has none.
    private static func add(_ file: ResultsFile, _ names: [String]) {
        for name in names where !file.isDone(name) {
            if name != "b" { file.write("\(name)\n") }
            file.end(name, hasFailed: name == "c")
        }
    }

    private static let names = ["a", "b", "c", "d e%\n", "é", "a"]

    private static func whole(_ folder: TestFolder) throws -> (results: [UInt8], journal: [UInt8], path: String) {
        let path = folder.file("results")
        let file = try ResultsFile(path: path, heading: "one", resumes: false)
        #expect(file.isNew && file.resumed == 0)
        add(file, names)
        try file.finish()
        return (try folder.bytes("results"), try folder.bytes("results.journal"), path)
    }

    @Test func `the journal has a heading and a line for each file`() throws {
        let (results, journal, _) = try Self.whole(try TestFolder())
        #expect(String(decoding: results, as: UTF8.self) == "a\nc\nd e%\n\né\na\n")
        #expect(
            String(decoding: journal, as: UTF8.self)
                == "beckon-journal 1 one\n2 done a\n2 done b\n4 failed c\n10 done d%20e%25%0A\n13 done é\n15 done a\n"
        )
    }

    @Test func `a kill at any byte of the journal or the results loses nothing and doubles nothing`() throws {
        let folder = try TestFolder()
        let (results, journal, path) = try Self.whole(folder)
        for journalBytes in 0...journal.count {
            let kept = journal[..<journalBytes].split(separator: 10, omittingEmptySubsequences: false).dropLast()
            let ends = kept.dropFirst().compactMap { Int(String(decoding: $0.prefix { $0 != 32 }, as: UTF8.self)) }
            // The results are synced before the journal, so they are never shorter than it says.
            for resultBytes in (ends.last ?? 0)...results.count {
                try folder.write("results", bytes: Array(results[..<resultBytes]))
                try folder.write("results.journal", bytes: Array(journal[..<journalBytes]))
                let file = try ResultsFile(path: path, heading: "one", resumes: true)
                #expect(file.resumed == max(0, kept.count - 1))
                #expect(file.resumedFailures == (kept.count > 3 ? 1 : 0) && file.isNew == ((ends.last ?? 0) == 0))
                Self.add(file, Self.names)
                try file.finish()
                #expect(try folder.bytes("results") == results && (try folder.bytes("results.journal")) == journal)
            }
        }
    }

    @Test func `what cannot be gone on with is left as it is`() throws {
        let folder = try TestFolder()
        let (results, journal, path) = try Self.whole(folder)
        func expect(_ says: String, heading: String = "one", _ line: Int = #line) throws {
            let before = (try? folder.bytes("results"), try? folder.bytes("results.journal"))
            let error = #expect(throws: ResultsFileError.self) {
                _ = try ResultsFile(path: path, heading: heading, resumes: true)
            }
            #expect(error?.description.contains(says) == true, "line \(line): \(error?.description ?? "")")
            #expect((try? folder.bytes("results")) == before.0 && (try? folder.bytes("results.journal")) == before.1)
        }
        try expect("was begun with other options", heading: "two")
        try folder.write("results", bytes: Array(results.dropLast()))
        try expect("has 14 bytes, but had 15")
        try folder.write("results", bytes: results)
        for bad in ["5 done x\n", "20 lost x\n", "x\n", "99999999999999999999 done x\n", "-3 done x\n"] {
            try folder.write("results.journal", bytes: journal + Array((bad + "15 done z\n").utf8))
            try expect("line 8: this journal is damaged")
        }
        try FileManager.default.removeItem(atPath: path + ".journal")
        try expect("its journal")
    }

    @Test func `two processes do not write the same file`() throws {
        let folder = try TestFolder()
        let path = folder.file("results")
        let first = try ResultsFile(path: path, heading: "one", resumes: true)
        Self.add(first, ["a"])
        for resumes in [true, false] {
            let error = #expect(throws: ResultsFileError.self) {
                _ = try ResultsFile(path: path, heading: "one", resumes: resumes)
            }
            #expect(error?.description.contains("is being written by another process") == true)
        }
        try first.finish()
        #expect(try Self.text(path) == "a\n")
    }

    @Test func `the journal names a file only after its results were saved`() throws {
        let folder = try TestFolder()
        let path = folder.file("results")
        let file = try ResultsFile(path: path, heading: "one", resumes: false)
        file.write("a, first line\n")
        file.save()
        #expect(try Self.text(path) == "a, first line\n" && Self.text(path + ".journal") == "beckon-journal 1 one\n")
        file.end("a", hasFailed: false)
        file.write("b, first line\n")
        file.save()
        #expect(try Self.text(path + ".journal") == "beckon-journal 1 one\n14 done a\n")
        try file.finish()
    }

    @Test func `a full disk is an error that says how to go on`() throws {
        let error = #expect(throws: ResultsFileError.self) {
            _ = try ResultsFile(path: "/dev/full", heading: "one", resumes: false)
        }
        #expect(error?.description.contains("is not a file") == true)
        #expect(throws: ResultsFileError.self) {
            _ = try ResultsFile(path: "/nonexistent/x", heading: "", resumes: true)
        }
    }
}
