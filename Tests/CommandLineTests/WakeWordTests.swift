import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// `--wake-word`: words with models of their own.
struct WakeWordTests {
    private static let voice = Voices.path("Side_Left")

    @Test func `classify finds a wake word beside the model's words`() throws {
        // The voice says "side left", so the threshold is low.
        let options = ["classify", "--json", "--wake-word", "Okay-Nabu", "--word", "okay nabu=0.005"]
        let program = try Program.beckon(options + [Self.voice])
        #expect(program.status == 0 && program.error == "")
        let found = try Result.all(in: program)
        #expect(Set(found.compactMap(\.word)) == ["left", "okay nabu"])
        let without = try Program.beckon(["classify", "--json", Self.voice])
        #expect(try Result.all(in: without).map(\.word) == ["left"])
    }

    @Test func `a wake word may be a file, and alone among the words that fire`() throws {
        let file = Checkout.path + "/Models/wake-words/okay_nabu.tflite"
        let program = try Program.beckon(
            [
                "classify", "--wake-word", file, "--words", "okay nabu", "--word", "okay nabu=0.005", "--json",
                Self.voice,
            ]
        )
        #expect(try Result.all(in: program).map(\.word) == ["okay nabu"])
    }

    @Test func `nothing said is no wake word`() throws {
        let names = ["alexa", "hey_jarvis", "hey_mycroft", "okay_nabu"].flatMap { ["--wake-word", $0] }
        let program = try Program.beckon(["classify", "--json"] + names + [Voices.folder])
        #expect(program.status == 0)
        #expect(Set(try Result.all(in: program).compactMap(\.word)) == ["left", "right"])
    }

    @Test(arguments: [
        (["--wake-word", "nobody"], 1, "no wake word “nobody” came with the program"),
        (
            ["--wake-word", "/dev/null.tflite"], 1,
            "/dev/null.json: No such file or directory; the manifest must lie beside"
        ),
        (["--wake-word", "alexa", "--wake-word", "alexa"], 1, "there is another word “alexa”; remove one of them"),
        (["--wake-word", "alexa", "--clips"], 2, "--wake-word finds words in recordings; leave --clips out"),
        (["--wake-word", "alexa", "--word", "alexa=strict"], 1, "has one threshold, that of its manifest"),
    ])
    func `what cannot be used is one line`(options: [String], status: Int32, message: String) throws {
        let program = try Program.beckon(["classify"] + options + [Self.voice])
        #expect(program.status == status)
        #expect(program.error.contains(message), "\(program.error)")
        #expect(program.error.split(separator: "\n").count == 1)
    }

    @Test func `a damaged model is refused in one line`() throws {
        let folder = try TestFolder()
        let models = Checkout.path + "/Models/wake-words"
        let json = try Data(contentsOf: URL(fileURLWithPath: models + "/alexa.json"))
        try json.write(to: URL(fileURLWithPath: folder.file("alexa.json")))
        for (content, message) in [
            ("not a model", "not a TFLite file"), ("\u{8}\0\0\0TFL3", "a reference leads out of the file"),
        ] {
            try Data(content.utf8).write(to: URL(fileURLWithPath: folder.file("alexa.tflite")))
            let program = try Program.beckon(["classify", "--wake-word", folder.file("alexa.json"), Self.voice])
            #expect(program.status == 1 && program.error.contains("alexa.tflite: "), "\(program.error)")
            #expect(program.error.contains(message), "\(program.error)")
        }
    }
}
