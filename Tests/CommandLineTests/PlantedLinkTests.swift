import Foundation
import TestSupport
import Testing

/// What somebody put into a folder under a name that a command makes there is never written through, and never waited for.
struct PlantedLinkTests {
    /// What lies in place of the file.
    enum Plant: CaseIterable { case link, linkToNothing, hardLink, pipe, folder }

    /// A command, and the name in the folder that it writes under.
    struct Writer: CustomTestStringConvertible, Sendable {
        let arguments: [String]
        let name: String
        var testDescription: String { "\(arguments.first ?? "") \(name)" }
    }

    private static let voice = Voices.path("Rear_Left")
    private static let record = [
        "record", "--label", "left", "--speaker", "ann", "--file", Voices.path("Front_Left"), "data",
    ]

    static let writers: [Writer] = [
        Writer(arguments: ["classify", "-f", "audacity", "-o", "out", voice], name: "out/Rear_Left.txt"),
        Writer(arguments: ["classify", "-f", "audacity", "-o", "out", voice], name: "out/.Rear_Left.txt.new"),
        Writer(arguments: ["classify", "--csv", "-o", "out/words.csv", voice], name: "out/words.csv.journal"),
        Writer(arguments: ["inspect", voice], name: "Rear_Left.html"),
        Writer(arguments: ["inspect", voice], name: ".Rear_Left.html.new"),
        Writer(arguments: ["inspect", "-o", "out", voice, Voices.path("Noise")], name: "out/Rear_Left.html"),
        Writer(arguments: ["inspect", "-o", "out", voice, Voices.path("Noise")], name: "out/index.html"),
        Writer(arguments: ["inspect", "-o", "out/page.html", voice], name: "out/.page.html.new"),
        Writer(
            arguments: ["evaluate", "--stream", "--mode", "spot", "--html", "out/report.html", "talk.wav"],
            name: "out/report-errors/001-spot-talk.html"
        ),
        Writer(
            arguments: ["evaluate", "--stream", "--html", "out/report.html", "talk.wav"],
            name: "out/.report.html.new"
        ),
        Writer(arguments: record, name: "data/left/ann_nohash_0.wav"),
        Writer(
            arguments: ["enroll", "center", "--words", "out/words", "--from", voice, voice, voice],
            name: "out/words.lock"
        ),
        Writer(
            arguments: ["enroll", "center", "--words", "out/words", "--from", voice, voice, voice],
            name: "out/.words.new"
        ),
        Writer(arguments: ["config", "init", "--yes", "out/config.json5"], name: "out/config.json5"),
        Writer(arguments: ["web", "token", "--new"], name: "beckon/web.token"),
        Writer(arguments: ["web", "token", "--new"], name: "beckon/.web.token.new"),
    ]

    /// A folder with a recording and its label track, which has an error.
    private static func folder() throws -> TestFolder {
        let folder = try TestFolder()
        for name in ["out/report-errors", "data/left", "beckon"] { try folder.folder(name) }
        try FileManager.default.copyItem(atPath: voice, toPath: folder.file("talk.wav"))
        try folder.write("talk.txt", bytes: Array("0.1\t0.9\tright\n".utf8))
        return folder
    }

    private static func run(_ arguments: [String], in folder: TestFolder) throws -> Program {
        let environment = ["XDG_STATE_HOME": folder.path, "STATE_DIRECTORY": folder.file("beckon")]
        return try Program.beckon(arguments, environment: environment, folder: folder.path)
    }

    @Test(arguments: writers)
    func `every name of the table is one that the command writes`(_ writer: Writer) throws {
        guard !writer.name.contains("/.") && !writer.name.hasPrefix(".") else { return }
        let folder = try Self.folder()
        let program = try Self.run(writer.arguments, in: folder)
        let folderOfIt = (folder.file(writer.name) as NSString).deletingLastPathComponent
        let names = try FileManager.default.contentsOfDirectory(atPath: folderOfIt)
        #expect(FileManager.default.fileExists(atPath: folder.file(writer.name)), "\(names) \(program.error)")
    }

    @Test(arguments: writers, Plant.allCases)
    func `what lies in place of a file is not written through`(_ writer: Writer, _ plant: Plant) throws {
        let folder = try Self.folder()
        let precious = try folder.write("precious", bytes: Array("mine\n".utf8))
        let place = folder.file(writer.name)
        switch plant {
        case .link: #expect(symlink(precious, place) == 0)
        case .linkToNothing: #expect(symlink(folder.file("nothing"), place) == 0)
        case .hardLink: #expect(link(precious, place) == 0)
        case .pipe: #expect(mkfifo(place, 0o600) == 0)
        case .folder: #expect(mkdir(place, 0o700) == 0)
        }
        let program = try Self.run(writer.arguments, in: folder)
        #expect((0...1).contains(program.status), "\(program.status) \(program.error)")
        #expect(program.status == 0 || program.error.hasPrefix("beckon: "), "\(program.error)")
        #expect(try folder.bytes("precious") == Array("mine\n".utf8))
        #expect(!FileManager.default.fileExists(atPath: folder.file("nothing")))
    }

    @Test func `a link in place of a folder of a program's name is not followed`() throws {
        for (arguments, name) in [
            (["inspect", Self.voice, Voices.path("Noise")], "inspect"),
            (["evaluate", "--stream", "--html", "out/report.html", "talk.wav"], "out/report-errors"),
        ] {
            let folder = try Self.folder()
            rmdir(folder.file(name))
            try folder.folder("other")
            #expect(symlink(folder.file("other"), folder.file(name)) == 0)
            let program = try Self.run(arguments, in: folder)
            #expect(program.status == 1 && program.error.contains("it is a symbolic link; remove the link"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("other")) == [])
        }
    }

    static let named: [Writer] = [
        Writer(arguments: ["classify", "--csv", "-o", "named", voice], name: "named"),
        Writer(arguments: ["inspect", "-o", "named", voice], name: "named"),
        Writer(arguments: ["evaluate", "--stream", "--html", "named", "talk.wav"], name: "named"),
        Writer(arguments: ["listen", "--file", voice, "--record", "named", "--json"], name: "named"),
    ]

    @Test(arguments: named)
    func `a file that the user names may be a link of the user's, and its other names keep their content`(
        _ writer: Writer
    ) throws {
        let folder = try Self.folder()
        try folder.write("real", bytes: Array("old\n".utf8))
        #expect(symlink("real", folder.file("named")) == 0)
        var program = try Self.run(writer.arguments, in: folder)
        #expect(program.status == 0, "\(program.error)")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("named")) == "real")
        #expect(try folder.bytes("real").count > 30)

        unlink(folder.file("named"))
        let other = try folder.write("other", bytes: Array("old\n".utf8))
        #expect(link(other, folder.file("named")) == 0)
        program = try Self.run(writer.arguments, in: folder)
        #expect(program.status == 0, "\(program.error)")
        #expect(try folder.bytes("other") == Array("old\n".utf8) && folder.bytes("named").count > 30)
    }

    @Test func `a page may go to a device, and then has no pages beside it`() throws {
        let folder = try Self.folder()
        for arguments in [["inspect", "-o"], ["evaluate", "--stream", "--html"]] {
            for device in ["/dev/null", "/dev/stdout"] {
                let program = try Self.run(arguments + [device, "talk.wav"], in: folder)
                #expect(program.status == 0, "\(program.error)")
                #expect(program.output.contains("<html") == (device == "/dev/stdout"), "\(arguments) \(device)")
                #expect(!FileManager.default.fileExists(atPath: device + "-errors"))
            }
        }
    }
}
