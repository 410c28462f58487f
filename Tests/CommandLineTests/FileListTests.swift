import Testing

@testable import CommandLineTool

struct FileListTests {
    @Test func `lists of names`() {
        #expect(FileList.names(in: Array("a b\r\n\nc".utf8), nulSeparated: false) == ["a b", "c"])
        #expect(FileList.names(in: Array("a\nb\0c\0".utf8), nulSeparated: true) == ["a\nb", "c"])
    }
}
