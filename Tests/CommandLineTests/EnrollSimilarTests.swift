import Foundation
import TestSupport
import Testing

/// What `beckon enroll` says of words that sound like the taught one, with synthesizers that the test makes.
struct EnrollSimilarTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Teaches a phrase with only this folder in `PATH`.
    private func enroll(_ more: String...) throws -> Program {
        try Program.beckon(
            ["enroll", "rear center", "--from", Voices.path("Rear_Center")] + more,
            environment: ["BECKON_WORDS": folder.file("words"), "PATH": folder.path]
        )
    }

    /// Writes a program that "says" every text by copying a recording; `output` is the number of its argument for the file.
    private func synthesizer(_ name: String, output: Int, _ line: String) throws {
        let script = "#!/bin/sh\n\(line.replacing("FILE", with: "\"$\(output)\""))\n"
        try Data(script.utf8).write(to: URL(fileURLWithPath: folder.file(name)))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.file(name))
    }

    @Test func `without a synthesizer what may be confused is named`() throws {
        let taught = try enroll()
        #expect(taught.status == 0 && taught.error == "")
        let text = taught.output.replacing("\n", with: " ")
        #expect(text.contains("It may be confused with 'rear', 'center', "), "\(text)")
        #expect(text.contains("Where espeak-ng or flite is installed, enroll tries which of them are."))
    }

    @Test(arguments: [
        ("espeak-ng", 4, "espeak-ng -w center.wav center"), ("flite", 6, "flite -t center -o center.wav"),
    ])
    func `with one, what is taken for the word is named, with a command`(name: String, output: Int, command: String)
        throws
    {
        // Its "center" is the whole phrase, all else something different.
        try synthesizer(
            name,
            output: output,
            "case \"$*\" in *\" center\"*) case \"$*\" in *\"rear \"*) f=Noise;; *) f=Rear_Center;; esac;; *) f=Noise;; esac; "
                + "/bin/cat /usr/share/sounds/alsa/$f.wav > FILE"
        )
        let taught = try enroll()
        #expect(taught.status == 0 && taught.error == "")
        let text = taught.output.replacing("\n", with: " ")
        #expect(
            text.contains("Caution: said by synthetic voices, these are taken for it: 'center' (3 of 3)"),
            "\(text)"
        )
        #expect(
            text.contains("To tell it what it is not: \(command) && beckon enroll 'rear center' --not center.wav"),
            "\(text)"
        )
    }

    @Test func `in JSON each has its voices, and a synthesizer that fails has none`() throws {
        try synthesizer("espeak-ng", output: 4, "exit 1")
        struct Similar: Decodable { var text: String, voices: Int, taken: Int }
        struct Report: Decodable { var similar: [Similar] }
        let report = try JSONDecoder().decode(Report.self, from: Data(try enroll("--json").output.utf8))
        #expect(report.similar.prefix(2).map(\.text) == ["rear", "center"])
        #expect(report.similar.allSatisfy { $0.voices == 0 && $0.taken == 0 })
    }
}
