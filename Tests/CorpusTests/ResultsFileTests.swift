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
        let lines = String(decoding: journal, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "beckon-journal 2 one" && lines.last == "")
        let parts = lines.dropFirst().dropLast().map { $0.split(separator: " ", maxSplits: 1) }
        #expect(
            parts.map { $0[1] } == [
                "2 done a", "2 done b", "4 failed c", "10 done d%20e%25%0A", "13 done é", "15 done a",
            ]
        )
        // Lines that say the same have other checks, as those before them differ.
        #expect(Set(parts.map { $0[0] }).count == parts.count && parts.allSatisfy { $0[0].count == 16 })
    }

    /// Written by version 1, which had no checks.
    private static let former = "beckon-journal 1 one\n2 done a\n2 done b\n4 failed c\n"

    @Test func `a journal without checks is resumed as it is`() throws {
        let folder = try TestFolder()
        let (results, _, path) = try Self.whole(folder)
        try folder.write("results", bytes: Array(results.prefix(9)))
        try folder.write("results.journal", bytes: Array(Self.former.utf8))
        let file = try ResultsFile(path: path, heading: "one", resumes: true)
        #expect(file.resumed == 3 && file.resumedFailures == 1)
        Self.add(file, Self.names)
        try file.finish()
        #expect(try folder.bytes("results") == results)
        #expect(try Self.text(path + ".journal") == Self.former + "10 done d%20e%25%0A\n13 done é\n15 done a\n")
    }

    @Test func `no damage to a journal doubles or loses results`() throws {
        let folder = try TestFolder()
        let (results, journal, path) = try Self.whole(folder)
        let lines = journal.split(separator: 10).map { Array($0) + [10] }
        var damaged: [[UInt8]] = []
        for place in journal.indices {
            for byte in [journal[place] ^ 1, journal[place] ^ 4, 10, 32, 0, 0xFF] where byte != journal[place] {
                var other = journal
                other[place] = byte
                damaged.append(other)
            }
            damaged.append(Array(journal[..<place] + journal[(place + 1)...]))
            damaged.append(Array(journal[...place] + journal[place...]))
        }
        for line in lines.indices.dropFirst() {
            damaged.append(Array((lines[..<line] + lines[(line + 1)...]).joined()))
            damaged.append(Array((lines[...line] + lines[line...]).joined()))
            var other = lines
            other.swapAt(line, line % (lines.count - 1) + 1)
            damaged.append(Array(other.joined()))
        }
        for (number, bytes) in damaged.enumerated() {
            try folder.write("results", bytes: results)
            try folder.write("results.journal", bytes: bytes)
            guard let file = try? ResultsFile(path: path, heading: "one", resumes: true) else {
                // Refused: then both are as they were.
                #expect(try folder.bytes("results") == results && folder.bytes("results.journal") == bytes, "\(number)")
                continue
            }
            // What was cut off at its end is done again.
            Self.add(file, Self.names)
            try file.finish()
            #expect(try folder.bytes("results") == results, "\(number): \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    @Test(arguments: [true, false])
    func `what lies there under the journal's name is neither followed nor replaced`(resumes: Bool) throws {
        let folder = try TestFolder()
        let path = folder.file("results")
        let foreign = try folder.write("foreign", bytes: Array("mine\n".utf8))
        let journal = path + ".journal"
        func expect(_ says: String, _ line: Int = #line) {
            let error = #expect(throws: ResultsFileError.self, "line \(line)") {
                _ = try ResultsFile(path: path, heading: "one", resumes: resumes)
            }
            #expect(error?.description.contains(says) == true, "line \(line): \(error?.description ?? "")")
            unlink(journal)
        }
        mkfifo(journal, 0o600)
        expect("is not a journal of results")
        symlink(foreign, journal)
        expect("is not a journal of results")
        symlink(folder.file("new"), journal)
        expect("is not a journal of results")
        try folder.write("real", bytes: Array("beckon-journal 2 one\n".utf8))
        link(folder.file("real"), journal)
        expect("is not a journal of results")
        for text in ["mine", "mine\n", "beckon-journa1 2 one\n", "\n"] {
            try folder.write("results.journal", bytes: Array(text.utf8))
            expect("is not replaced")
        }
        mkdir(journal, 0o700)
        let error = #expect(throws: ResultsFileError.self) {
            _ = try ResultsFile(path: path, heading: "one", resumes: resumes)
        }
        #expect(error?.description.contains("results.journal") == true)
        #expect(try folder.bytes("foreign") == Array("mine\n".utf8) && access(folder.file("new"), F_OK) != 0)
        #expect(try Self.text(folder.file("real")) == "beckon-journal 2 one\n")
    }

    @Test func `a kill at any byte of the journal or the results loses nothing and doubles nothing`() throws {
        let folder = try TestFolder()
        let (results, journal, path) = try Self.whole(folder)
        for journalBytes in 0...journal.count {
            let kept = journal[..<journalBytes].split(separator: 10, omittingEmptySubsequences: false).dropLast()
            let ends = kept.dropFirst().compactMap { Int(String(decoding: $0.split(separator: 32)[1], as: UTF8.self)) }
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

    @Test func `what cannot be resumed is left as it is`() throws {
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
        #expect(try Self.text(path) == "a, first line\n" && Self.text(path + ".journal") == "beckon-journal 2 one\n")
        file.end("a", hasFailed: false)
        file.write("b, first line\n")
        file.save()
        let journal = try Self.text(path + ".journal")
        #expect(journal.hasPrefix("beckon-journal 2 one\n") && journal.hasSuffix(" 14 done a\n"))
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
