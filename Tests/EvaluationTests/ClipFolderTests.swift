import Testing

@testable import Evaluation

/// Clips by the folder they lie in, and lists of them.
struct ClipFolderTests {
    private static let files = ["data/yes/a.wav", "data/yes/b.flac", "data/no/deep/c.wav", "data/loose.wav"]

    @Test func `the first folder name is the word`() {
        let folder = ClipFolder(path: "data", files: Self.files)
        #expect(folder.clips.map(\.folder) == ["yes", "yes", "no"])
        #expect(folder.clips.map(\.name) == ["yes/a.wav", "yes/b.flac", "no/deep/c.wav"])
        #expect(folder.problems.count == 1 && folder.problems[0].contains("loose.wav"))
    }

    @Test func `a list chooses clips in its order, whatever their extension`() {
        let list = ["./yes/b.wav", "yes/a", "yes/b.ogg", "no/none.wav"]
        let folder = ClipFolder(path: "data/", files: Self.files, list: ClipList(list), listName: "list.txt")
        #expect(folder.clips.map(\.name) == ["yes/b.flac", "yes/a.wav"])
        #expect(folder.problems == ["list.txt: 1 clip is not found in data/ and left out (no/none)"])
    }
}
