import Core
import Foundation
import TestSupport
import Testing

@testable import Corpus

struct FileWalkTests {
    private static func items(_ walk: consuming FileWalk) -> [FileWalk.Item] {
        var items: [FileWalk.Item] = []
        while let item = walk.next() { items.append(item) }
        return items
    }

    private static func folder(_ names: [String]) throws -> TestFolder {
        let folder = try TestFolder()
        for name in names {
            let parent = (name as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: folder.file(parent), withIntermediateDirectories: true)
            try folder.write(name, bytes: [1])
        }
        return folder
    }

    @Test func `folders are walked in the order of the bytes of names, each before the next`() throws {
        let folder = try Self.folder([
            "b.wav", "a/2.FLAC", "a/10.wav", "a/deep/x.mp3", "B.wav", "é.ogg", "c.txt", ".hidden/y.wav", ".z.wav",
            "c/z.opus",
        ])
        let names = ["B.wav", "a/10.wav", "a/2.FLAC", "a/deep/x.mp3", "b.wav", "c/z.opus", "é.ogg"]
        #expect(Self.items(FileWalk(paths: [folder.path])) == names.map { .file("\(folder.path)/\($0)") })
        #expect(Self.items(FileWalk(paths: [folder.path + "/a/"])).count == 3)
    }

    @Test func `a link to a folder is not followed, one to a file is`() throws {
        let folder = try Self.folder(["a/x.wav", "b/y.wav"])
        for (link, target) in [("b/loop.wav", folder.path), ("b/x.wav", folder.file("a/x.wav"))] {
            try FileManager.default.createSymbolicLink(atPath: folder.file(link), withDestinationPath: target)
        }
        let names = ["b/loop.wav", "b/x.wav", "b/y.wav"]
        // The link is opened as a file later, which says that it is a directory.
        #expect(Self.items(FileWalk(paths: [folder.file("b")])) == names.map { .file(folder.file($0)) })
    }

    @Test func `folders without audio and other sound files are reported after their files`() throws {
        let folder = try Self.folder(["a/x.wav", "a/y.m4a", "a/deep/z.M4A", "b/x.wma", "c/x.txt"])
        let items = Self.items(FileWalk(paths: ["a", "b", "c", "missing.wav"].map(folder.file)))
        #expect(items.count == 5 && items[0] == .file(folder.file("a/x.wav")))
        guard case .note(let note) = items[1], case .problem(let other) = items[2], case .problem(let none) = items[3]
        else {
            Issue.record("\(items)")
            return
        }
        #expect(note.contains("/a: left out 2 files, because these cannot be read (.m4a: 2)"))
        #expect(other.contains("/b: no audio files in this folder") && other.contains("there is 1 other, and"))
        #expect(none.hasSuffix("/c: no audio files in this folder (wav, flac, ogg, opus, mp3, aiff, …)"))
        #expect(items[4] == .file(folder.file("missing.wav")))
    }

    @Test func `the names of a list come after those of the command line, also folders`() throws {
        let folder = try Self.folder(["a/x.wav", "a/y.wav"])
        let list = try folder.write("list", bytes: Array("one.wav\r\n\n\(folder.file("a"))\ntwo.wav".utf8))
        let walk = FileWalk(paths: ["zero.wav"], list: try NameList(path: list, nulSeparated: false))
        let names = ["zero.wav", "one.wav", folder.file("a/x.wav"), folder.file("a/y.wav"), "two.wav"]
        #expect(Self.items(walk) == names.map(FileWalk.Item.file))
    }

    @Test func `a list is read in parts, and a name that is too long is left out`() throws {
        let folder = try TestFolder()
        let names = (0..<30_000).map { "clips/\($0).wav" }
        let long = [String(repeating: "x", count: 4096), String(repeating: "y", count: 300_000)]
        let all = Array(names[..<10_000]) + [long[0]] + Array(names[10_000..<20_000]) + [long[1]] + names[20_000...]
        for separator in ["\n", "\0"] {
            let path = try folder.write("list", bytes: Array(all.joined(separator: separator).utf8))
            var list = try NameList(path: path, nulSeparated: separator == "\0")
            var found: [String] = []
            var problems: [String] = []
            while let item = list.next() {
                switch item {
                case .name(let name): found.append(name)
                case .problem(let line): problems.append(line)
                }
            }
            #expect(found == names)
            #expect(problems.count == 2 && problems.allSatisfy { $0.contains("longer than the name of a file can be") })
        }
        #expect(throws: (any Error).self) { _ = try NameList(path: folder.path, nulSeparated: false) }
        #expect(throws: (any Error).self) { _ = try NameList(path: folder.file("none"), nulSeparated: false) }
    }

    @Test func `names that are not UTF-8 are kept`() throws {
        let folder = try TestFolder()
        let bytes: [UInt8] = [0x66, 0xF6, 0x2E, 0x77, 0x61, 0x76]
        let list = try folder.write("list", bytes: bytes + [0])
        let items = Self.items(FileWalk(paths: [], list: try NameList(path: list, nulSeparated: true)))
        guard case .file(let name)? = items.first else {
            Issue.record("no file")
            return
        }
        #expect(items.count == 1 && FileName.bytes(name) == bytes)
    }
}
