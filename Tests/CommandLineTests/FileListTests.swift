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

    @Test func `lists of names`() {
        #expect(FileList.names(in: Array("a b\r\n\nc".utf8), nulSeparated: false) == ["a b", "c"])
        #expect(FileList.names(in: Array("a\nb\0c\0".utf8), nulSeparated: true) == ["a\nb", "c"])
    }
}
