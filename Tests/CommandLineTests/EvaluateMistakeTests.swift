import Foundation
import TestSupport
import Testing

/// `beckon evaluate` with `--stream` where clips were given, and without it where recordings were: one line and a question.
struct EvaluateMistakeTests {
    @Test func `clips with --stream are one line and a question, not a line each`() throws {
        let folder = try TestFolder()
        try folder.folder("left")
        for number in 0..<12 {
            try FileManager.default.copyItem(
                atPath: Voices.path("Front_Left"),
                toPath: folder.file("left/\(number).wav")
            )
        }
        for arguments in [[folder.path], [folder.file("left/1.wav"), folder.file("left/2.wav")]] {
            let program = try Program.beckon(["evaluate", "--stream"] + arguments)
            #expect(program.status == 1 && program.output == "")
            #expect(program.error.split(separator: "\n").count == 1, "\(program.error)")
            let isFolder = arguments.count == 1
            let says = isFolder ? "12 recordings without label tracks" : "none of 2 recordings has a label track"
            #expect(program.error.contains(says), "\(program.error)")
            #expect(program.error.contains("did you mean beckon evaluate \(folder.path)?") == isFolder)
        }
        // Those that have one are measured.
        try folder.write("left/3.txt", bytes: Array("0.6\t1.4\tleft\n".utf8))
        let some = try Program.beckon(["evaluate", "--stream", "--json", folder.path])
        #expect(some.status == 1)
        #expect(some.output.contains("\"said\": 1"))
        #expect(some.error.split(separator: "\n").count == 1, "\(some.error)")
        #expect(some.error.contains("11 of 12 recordings have no label track"))
    }

    @Test func `recordings with label tracks without --stream are a question too`() throws {
        let folder = try TestFolder()
        try FileManager.default.copyItem(atPath: Voices.path("Front_Left"), toPath: folder.file("talk.wav"))
        try folder.write("talk.txt", bytes: Array("0.6\t1.4\tleft\n".utf8))
        let program = try Program.beckon(["evaluate", folder.path])
        #expect(program.status == 1 && program.error.split(separator: "\n").count == 1, "\(program.error)")
        #expect(program.error.contains("did you mean beckon evaluate --stream \(folder.path)?"))
    }

    /// A folder of recordings in the layout that a name stands for.
    private static func folder(_ layout: String) throws -> TestFolder {
        let folder = try TestFolder()
        let names: [String] =
            switch layout {
            case "loose": ["a.wav", "b.wav"]
            case "one": ["a.wav"]
            case "speakers": ["ann/a.wav", "bob/b.wav"]
            case "word": ["left/a.wav", "left/b.wav"]
            case "tracks": ["day/a.wav", "day/a.txt", "day/b.wav", "day/b.txt"]
            default: []
            }
        for name in names {
            try folder.folder((name as NSString).deletingLastPathComponent)
            if name.hasSuffix(".txt") {
                try folder.write(name, bytes: Array("0.6\t1.4\tleft\n".utf8))
            } else {
                try FileManager.default.copyItem(atPath: Voices.path("Front_Left"), toPath: folder.file(name))
            }
        }
        return folder
    }

    @Test(arguments: ["loose", "one", "speakers", "word", "tracks"])
    func `no command that a message asks for leads back to that message`(layout: String) throws {
        let folder = try Self.folder(layout)
        for arguments in [["evaluate"], ["evaluate", "--stream"]] {
            var (words, seen) = (arguments + [folder.path], Set<[String]>())
            while true {
                #expect(seen.insert(words).inserted, "a circle: \(words)")
                let program = try Program.beckon(words)
                guard program.status == 1, let match = program.error.firstMatch(of: /did you mean beckon (.*)\?/) else {
                    let isMeasured = program.status == 0
                    let isSaid = program.error.contains("neither in a folder for each word")
                    let isOne = layout == "one" && program.error.contains("no label track for it; create")
                    #expect(isMeasured || isSaid || isOne, "\(layout) \(words): \(program.error)")
                    #expect(isMeasured || program.error.split(separator: "\n").count == 1)
                    break
                }
                words = match.1.split(separator: " ").map(String.init)
            }
        }
    }

    @Test func `the way out of an unsorted folder leads to a report`() throws {
        let folder = try Self.folder("loose")
        let program = try Program.beckon(["evaluate", folder.path])
        let match = try #require(
            program.error.firstMatch(of: /: beckon (classify .*) writes tracks to correct, and then/)
        )
        let tracks = try Program.beckon(match.1.split(separator: " ").map(String.init))
        #expect(tracks.status == 0, "\(tracks.error)")
        let again = try Program.beckon(["evaluate", folder.path])
        #expect(again.error.contains("did you mean beckon evaluate --stream \(folder.path)?"))
        #expect(try Program.beckon(["evaluate", "--stream", folder.path]).status == 0)
    }

    @Test func `the folder of one word asks for the folder above it`() throws {
        let folder = try Self.folder("word")
        for path in [folder.file("left"), folder.file("left/")] {
            let program = try Program.beckon(["evaluate", path])
            #expect(program.status == 1 && program.error.contains("did you mean beckon evaluate \(folder.path)?"))
        }
        let inside = try Program.beckon(["evaluate", "left"], folder: folder.path)
        #expect(inside.error.contains("did you mean beckon evaluate .?"), "\(inside.error)")
    }
}
