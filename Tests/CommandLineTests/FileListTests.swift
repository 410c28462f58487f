import Foundation
import Glibc
import TestSupport
import Testing

@testable import CommandLineTool

struct FileListTests {
    @Test func `a name longer than a path can be is a problem, not a file`() throws {
        let long = String(repeating: "x", count: 4096)
        let list = FileList(paths: [long, String(long.dropFirst())])
        #expect(list.files == [String(long.dropFirst())])
        #expect(
            list.problems.count == 1 && list.problems[0].hasPrefix(String(long.prefix(40)) + "…: 4096 bytes, longer")
        )
        let folder = try TestFolder()
        let file = try folder.write("list", bytes: Array("a/b.wav\n\(long)\n".utf8))
        let failure = #expect(throws: Failure.self) { try FileList.names(inFile: file) }
        #expect(failure?.description.contains("4096 bytes, longer than the name of a file can be") == true)
        #expect(throws: Failure.self) { try FileList.names(inFile: folder.path) }
        try folder.write("list", bytes: Array("a/b.wav\nc\n".utf8))
        #expect(try FileList.names(inFile: file) == ["a/b.wav", "c"])
    }

    /// A folder with a voice under a name in Latin-1, `fr\xF6hlich.wav`, and the shell's text for that path.
    private static func latin(_ folder: TestFolder) throws -> String {
        let path = "\(folder.path)/fr\\366hlich.wav"
        let script = #"cp "$1" "$(printf "$2")""#
        let copy = try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", script, "sh", Voices.path("Front_Left"), path]
        )
        #expect(copy.status == 0, "\(copy.error)")
        return path
    }

    private static func shell(_ script: String, _ path: String) throws -> Program {
        try Program.run(URL(fileURLWithPath: "/bin/sh"), ["-c", script, Program.beckonFile.path, path])
    }

    @Test(arguments: [
        #"exec "$0" classify --json "$(printf "$1")""#, #"printf "$1\0" | "$0" classify --json -0 --files-from -"#,
        #"printf "$1\n" | "$0" classify --json --files-from -"#,
        #"exec "$0" classify --json "$(dirname "$(printf "$1")")""#,
    ])
    func `a name that is not UTF-8 is read, and shown with U+FFFD`(_ script: String) throws {
        let folder = try TestFolder()
        let program = try Self.shell(script, try Self.latin(folder))
        #expect(program.status == 0 && program.error == "", "\(program.error)")
        let found = try Result.all(in: program)
        #expect(found.map(\.word) == ["left"])
        #expect(found.first?.file == "\(folder.path)/fr\u{FFFD}hlich.wav")
    }

    @Test func `messages and tables show such a name too, whatever its byte is`() throws {
        let folder = try TestFolder()
        let script =
            #"cd "$1" && for byte in 200 366 376 377; do name="$(printf "a\\${byte}b")"; echo x > "$name.wav"; "#
            + #""$0" classify "$name.wav"; "$0" "$name"; "$0" listen --file "$name"; "$0" words import "$name"; done 2>&1"#
        let all = try Self.shell(script, folder.path)
        #expect(all.lines.count == 16 && all.lines.allSatisfy { $0.contains("a\u{FFFD}b") }, "\(all.output)")
    }

    @Test func `messages and tables show a name in Latin-1 too`() throws {
        let folder = try TestFolder()
        let path = try Self.latin(folder)
        let table = try Self.shell(#"exec "$0" classify "$(printf "$1")""#, path)
        #expect(table.status == 0 && table.output.contains("/fr\u{FFFD}hlich.wav  "))
        let missing = try Self.shell(#"exec "$0" classify "$(printf "$1")x""#, path)
        #expect(missing.status == 1 && missing.error.contains("fr\u{FFFD}hlich.wavx' does not exist"))
        let track = try Self.shell(
            #"exec "$0" classify -f audacity -o "$(dirname "$1")/tracks" "$(printf "$1")""#,
            path
        )
        #expect(track.status == 0, "\(track.error)")
        let inspect = try Self.shell(#"cd "$(dirname "$1")" && exec "$0" inspect "$(printf "$1")""#, path)
        #expect(inspect.status == 0 && inspect.output == "fr\u{FFFD}hlich.html\n", "\(inspect.error)")
        let option = try Self.shell(#"exec "$0" inspect --output "$(printf "$1").html" "$(printf "$1")""#, path)
        #expect(option.status == 2 && option.error.contains("--output takes text in UTF-8"))
    }

    @Test func `sound files of a folder that cannot be read are counted`() throws {
        let folder = try TestFolder()
        for name in ["a.m4a", "b.M4A", "c.wma", "notes.txt", ".hidden.m4a"] { try folder.write(name, bytes: [1]) }
        let none = try Program.beckon(["classify", folder.path])
        let advice = "these cannot be read (.m4a: 2, .wma: 1); convert them, as with ffmpeg -i FILE FILE.wav"
        #expect(none.status == 1)
        #expect(none.error.hasSuffix("mp3, aiff, …); there are 3 others, and \(advice)\n"), "\(none.error)")
        try FileManager.default.copyItem(atPath: Voices.path("Front_Left"), toPath: folder.file("d.wav"))
        let some = try Program.beckon(["classify", "--json", folder.path])
        #expect(some.status == 0 && some.lines.count == 1)
        #expect(some.error == "beckon: \(folder.path): left out 3 files, because \(advice)\n")
    }
}
