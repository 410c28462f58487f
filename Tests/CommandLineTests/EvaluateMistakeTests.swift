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
            #expect(program.error.contains("none of \(isFolder ? 12 : 2) recordings has a label track"))
            #expect(program.error.contains("did you mean beckon evaluate \(folder.path)?") == isFolder)
        }
        // Those that have one are measured.
        try folder.write("left/3.txt", bytes: Array("0.6\t1.4\tleft\n".utf8))
        let some = try Program.beckon(["evaluate", "--stream", "--json", folder.path])
        #expect(some.status == 1)
        #expect(some.output.contains("\"said\" : 1"))
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
}
