import Foundation
import TestSupport
import Testing

/// `beckon inspect` on several recordings: a page each, and an index.
struct InspectPagesTests {
    private static let two = [Voices.path("Side_Left"), Voices.path("Rear_Right")]

    @Test func `each recording gets a page, and the index leads to them`() throws {
        let folder = try TestFolder()
        let program = try Program.beckon(["inspect"] + Self.two, folder: folder.path)
        #expect(program.status == 0 && program.output == "inspect/index.html\n" && program.error == "")
        let index = try Tree(String(decoding: try folder.bytes("inspect/index.html"), as: UTF8.self))
        #expect(index.texts("h1") == ["What the model sees: 2 recordings"])
        #expect(index.all("a").map { $0.attributes["href"] } == ["Side_Left.html", "Rear_Right.html"])
        #expect(index.all("a").map(\.text) == Self.two)
        #expect(index.texts("td").contains { $0.hasPrefix("left ") && $0.contains("% at 0:00") })
        let page = try Tree(String(decoding: try folder.bytes("inspect/Rear_Right.html"), as: UTF8.self))
        #expect(page.all("a").first?.attributes["href"] == "index.html")
        // Again: the same files.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("inspect")).sorted()
        #expect(try Program.beckon(["inspect"] + Self.two, folder: folder.path).status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("inspect")).sorted() == names)
    }

    @Test func `files of one name, and an index of somebody else, keep their places`() throws {
        let folder = try TestFolder()
        for part in ["one", "two"] {
            try folder.folder(part)
            try FileManager.default.copyItem(atPath: Self.two[0], toPath: folder.file("\(part)/index.wav"))
        }
        try folder.folder("pages")
        try folder.write("pages/index.html", bytes: Array("mine".utf8))
        let program = try Program.beckon(["inspect", "-o", "pages", "one", "two/index.wav"], folder: folder.path)
        #expect(program.status == 0 && program.output == "pages/index-2.html\n", "\(program.error)")
        #expect(try folder.bytes("pages/index.html") == Array("mine".utf8))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("pages")).sorted()
        #expect(names == ["index-2.html", "index.html", "one_index.wav.html", "two_index.wav.html"])
        let page = try Tree(String(decoding: try folder.bytes("pages/one_index.wav.html"), as: UTF8.self))
        #expect(page.all("a").first?.attributes["href"] == "index-2.html")
    }

    @Test func `a file that cannot be read is reported, and is in the index`() throws {
        let folder = try TestFolder()
        try folder.write("broken.wav", bytes: Array("RIFF".utf8))
        let program = try Program.beckon(
            ["inspect", "-j", "2", "broken.wav", Self.two[0], "/nonexistent.wav"],
            folder: folder.path
        )
        #expect(program.status == 1 && program.lines == ["inspect/index.html"])
        let lines = program.error.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains("broken.wav") && lines[1].contains("/nonexistent.wav"))
        let index = try Tree(String(decoding: try folder.bytes("inspect/index.html"), as: UTF8.self))
        #expect(index.all("a").count == 1)
        #expect(index.texts("td").contains { $0.contains("broken.wav") })
        #expect(index.texts("td").contains { $0.contains("does not exist") })
        // Without any page there is no index.
        let none = try Program.beckon(["inspect", "-o", "none", "/a.wav", "/b.wav"], folder: folder.path)
        #expect(none.status == 1 && none.output == "")
        #expect(!FileManager.default.fileExists(atPath: folder.file("none/index.html")))
    }

    @Test func `with JSON there is one line per recording, in their order`() throws {
        let folder = try TestFolder()
        let program = try Program.beckon(["inspect", "--json"] + Self.two, folder: folder.path)
        #expect(program.status == 0 && program.lines.count == 2)
        for (line, file) in zip(program.lines, Self.two) {
            let one = try Program.beckon(["inspect", "--json", file])
            #expect(one.output == line + "\n")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func `a full disk is one line for each page, and no half page stays`() throws {
        let folder = try TestFolder()
        let program = try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", #"ulimit -f 8; trap '' XFSZ; cd "$1"; shift; exec "$0" inspect "$@""#, Program.beckonFile.path]
                + [folder.path] + Self.two
        )
        #expect(program.status == 1 && program.output == "", "\(program.error)")
        #expect(program.error.components(separatedBy: "cannot write the report; check free space").count == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("inspect")) == [])
    }
}
